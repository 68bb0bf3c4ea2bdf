internal import CSQLCipher
internal import CipherKeys
internal import CipherPages
internal import CipherSystem

/// The functions that the engine calls in place of its own. They are called by the thread that uses the connection.
enum ProviderFunctions {
    private typealias Context = UnsafeMutablePointer<csqlcipher_provider_context>

    /// What `contextInit` made.
    private static func own(_ address: UnsafeMutableRawPointer?) -> Context? {
        address?.assumingMemoryBound(to: csqlcipher_provider_context.self)
    }

    /// The contexts of a connection. They live until `contextFree`.
    private static func kept(_ address: UnsafeMutableRawPointer?) -> KeptContexts? {
        guard let reference = own(address)?.pointee.contexts else { return nil }
        return Unmanaged<KeptContexts>.fromOpaque(reference).takeUnretainedValue()
    }

    /// A pointer to a function is an address, as the engine stores it.
    static func address(of function: csqlcipher_cipher) -> UnsafeMutableRawPointer {
        unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    /// As for the cipher.
    static func address(of function: csqlcipher_context_function) -> UnsafeMutableRawPointer {
        unsafeBitCast(function, to: UnsafeMutableRawPointer.self)
    }

    /// The address of the HMAC that the layout asks for; a pointer to a function is an address.
    static func hmac(_ layout: ProviderLayout) -> UnsafeMutableRawPointer {
        layout.namesAlgorithm
            ? unsafeBitCast(hmac, to: UnsafeMutableRawPointer.self)
            : unsafeBitCast(hmacSHA1, to: UnsafeMutableRawPointer.self)
    }

    /// Takes the contexts that the engine has made while a key is set: of the two that 3.4.1 makes, the first, which reads.
    // Safe because the thread that sets the key alone touches it.
    final class Receiver: @unchecked Sendable {
        var contexts: KeptContexts?
    }

    /// Only the thread that sets the key calls `contextInit` for it.
    @TaskLocal static var receiver: Receiver?

    // MARK: Called by the engine

    static let contextInit: csqlcipher_context_function = { result in
        guard let result, let stock = Provider.registration.stock else { return SQLITE_ERROR }
        var own: UnsafeMutableRawPointer?
        let code = stock.contextInit(&own)
        guard code == SQLITE_OK else { return code }
        let context = Context.allocate(capacity: 1)
        let cipher = stock.layout.usesContext ? own?.load(as: UnsafeRawPointer?.self) : nil
        let contexts = KeptContexts()
        if let receiver, receiver.contexts == nil { receiver.contexts = contexts }
        let reference = Unmanaged.passRetained(contexts).toOpaque()
        context.initialize(to: csqlcipher_provider_context(cipher: cipher, stock: own, contexts: reference))
        result.pointee = UnsafeMutableRawPointer(context)
        return SQLITE_OK
    }

    static let contextFree: csqlcipher_context_function = { address in
        guard let address, let context = own(address.pointee), let stock = Provider.registration.stock else {
            return SQLITE_ERROR
        }
        if let contexts = context.pointee.contexts { Unmanaged<KeptContexts>.fromOpaque(contexts).release() }
        let code = stock.contextFree(&context.pointee.stock)
        context.deallocate()
        address.pointee = nil
        return code
    }

    static let hmac: csqlcipher_hmac = { computeHMAC($0, $1, $2, $3, $4, $5, $6, $7, $8) }

    static let hmacSHA1: csqlcipher_hmac_sha1 = { computeHMAC($0, 0, $1, $2, $3, $4, $5, $6, $7) }

    /// By the engine's own numbers: SQLCIPHER_HMAC_SHA1, SHA256 and SHA512.
    private static let algorithms: [HashAlgorithm] = [.sha1, .sha256, .sha512]

    private static func computeHMAC(
        _ context: UnsafeMutableRawPointer?,
        _ algorithm: Int32,
        _ key: UnsafePointer<UInt8>?,
        _ keySize: Int32,
        _ first: UnsafePointer<UInt8>?,
        _ firstSize: Int32,
        _ second: UnsafePointer<UInt8>?,
        _ secondSize: Int32,
        _ result: UnsafeMutablePointer<UInt8>?
    ) -> Int32 {
        let hash = algorithms.indices.contains(Int(algorithm)) ? algorithms[Int(algorithm)] : nil
        // The MAC of a page stands behind what it covers. The engine has one computed there when it writes, and elsewhere to compare.
        let stored = first.map { $0 + Int(firstSize) }
        let isCompared = result.map { UnsafePointer($0) } != stored
        var code = SQLITE_ERROR
        if let hash, let key, let first, let result, keySize > 0, firstSize > 0, secondSize >= 0,
            let kept = kept(context)
        {
            let key = UnsafeRawBufferPointer(start: key, count: Int(keySize))
            let page = UnsafeRawBufferPointer(start: first, count: Int(firstSize))
            let number = UnsafeRawBufferPointer(start: second, count: second == nil ? 0 : Int(secondSize))
            let isDone =
                isCompared
                ? kept.pageHMAC(hash, key: key, page, number, into: result)
                : kept.hmac(hash, key: key, page, number, into: result)
            if isDone { code = SQLITE_OK }
        }
        if code != SQLITE_OK, let stock = Provider.registration.stock {
            code = stock.hmac(context, algorithm, key, keySize, first, firstSize, second, secondSize, result)
        }
        if isCompared, let stored, let result, let hash, csqlcipher_same(result, stored, UInt(hash.digestSize)) == 0 {
            Platform.countInThread()
            let page = UnsafeRawBufferPointer(start: first, count: Int(firstSize) + hash.digestSize)
            let number = UnsafeRawBufferPointer(start: second, count: second == nil ? 0 : Int(secondSize))
            // 3.4.1 ignores what this returns, but takes no page for a new one that is not all zeros. The buffer is the engine's own.
            if kept(context)?.areRefusedZeros(page, number) == true {
                UnsafeMutablePointer(mutating: first)?.pointee = 1
            }
        }
        return code
    }

    static let cipher: csqlcipher_cipher = { context, mode, key, keySize, iv, input, size, output in
        guard let stock = Provider.registration.stock else { return SQLITE_ERROR }
        // In 3.4.1 a pragma chooses the cipher.
        let isKept = !stock.layout.usesContext || own(context)?.pointee.cipher == KeptContexts.aes256CBC
        if isKept, let key, let iv, let input, let output, keySize == 32, size > 0, size % 16 == 0,
            let kept = kept(context),
            kept.cipher(
                isEncrypting: mode == 1,
                key: UnsafeRawBufferPointer(start: key, count: 32),
                iv: iv,
                UnsafeRawBufferPointer(start: input, count: Int(size)),
                into: output
            )
        {
            return SQLITE_OK
        }
        return stock.cipher(context, mode, key, keySize, iv, input, size, output)
    }
}
