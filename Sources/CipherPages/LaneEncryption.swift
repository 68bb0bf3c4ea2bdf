internal import COpenSSL
internal import CipherKeys

/// Encrypts several pages side by side, by AES-256-CBC.
///
/// In CBC each block waits for the one before it, which leaves most of the processor's AES units idle. Blocks of different
/// pages wait for nothing: block j of all pages is encrypted in one call, `C[j] = E(P[j] xor C[j-1])`, where `C[-1]` is the
/// page's vector (NIST SP 800-38A, section 6.2). OpenSSL does the E, as AES-256-ECB.
final class LaneEncryption {
    /// How many pages at once.
    static let lanes = 32

    /// The first text byte of each lane is this far from that of the one before: a cache line more than the text, so that
    /// the same place of all lanes is not in one set of the cache.
    private let stride: Int
    private let textSize: Int
    private let texts: UnsafeMutableRawBufferPointer
    private let chain: UnsafeMutableRawBufferPointer
    private let context: OpaquePointer

    init(key: DerivedKey, format: CipherFormat) throws {
        textSize = format.pageSize - format.reserve
        stride = format.pageSize + 64
        guard let context = EVP_CIPHER_CTX_new() else { throw OpenSSLError(operation: "EVP_CIPHER_CTX_new") }
        self.context = context
        texts = .allocate(byteCount: stride * LaneEncryption.lanes, alignment: 64)
        chain = .allocate(byteCount: 16 * LaneEncryption.lanes, alignment: 64)
        let done = key.withPageKey { key in
            EVP_EncryptInit_ex(
                context,
                EVP_aes_256_ecb(),
                nil,
                key.baseAddress!.assumingMemoryBound(to: UInt8.self),
                nil
            ) == 1 && EVP_CIPHER_CTX_set_padding(context, 0) == 1
        }
        guard done else { throw OpenSSLError(operation: "EVP_EncryptInit_ex") }
    }

    deinit {
        EVP_CIPHER_CTX_free(context)
        OpenSSL.cleanse(texts)
        texts.deallocate()
        chain.deallocate()
    }

    /// The memory of one lane, for a whole page: its text is encrypted in place.
    func lane(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: texts[(index * stride)...].prefix(stride - 64))
    }

    /// Encrypts the first `count` lanes under one vector of 16 bytes each.
    func run(_ count: Int, vectors: UnsafeRawBufferPointer) throws {
        let chain = UnsafeMutableRawBufferPointer(rebasing: chain[..<(16 * count)])
        chain.copyMemory(from: UnsafeRawBufferPointer(rebasing: vectors[..<chain.count]))
        let links = chain.assumingMemoryBound(to: SIMD2<UInt64>.self)
        let bytes = chain.assumingMemoryBound(to: UInt8.self).baseAddress!
        let start = texts.baseAddress!
        var written: Int32 = 0
        for offset in Swift.stride(from: 0, to: textSize, by: 16) {
            for lane in 0..<count {
                links[lane] ^= start.load(fromByteOffset: lane * stride + offset, as: SIMD2<UInt64>.self)
            }
            guard EVP_EncryptUpdate(context, bytes, &written, bytes, Int32(chain.count)) == 1,
                Int(written) == chain.count
            else { throw OpenSSLError(operation: "EVP_EncryptUpdate") }
            for lane in 0..<count {
                start.storeBytes(of: links[lane], toByteOffset: lane * stride + offset, as: SIMD2<UInt64>.self)
            }
        }
    }
}
