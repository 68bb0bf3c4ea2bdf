package import CipherKeys
internal import CipherSystem

#if OpenSSL
    internal import CCipherOpenSSL
#endif

/// The MAC and cipher contexts of one connection, kept from page to page while the key stays the same. For one thread at a time.
///
/// SQLCipher makes a context and runs the key schedule for every page; that takes a quarter of the time of a page's cryptography.
package final class KeptContexts {
    /// Two keys are in use during a change of key: one reads, one writes. The one used last is the first.
    private var macs: [KeptMAC] = []
    private var encryption: KeptCipher?
    private var decryption: KeptCipher?
    private(set) var ahead: MACsAhead?
    /// The page that proved the key, until the engine has read its first page.
    private var proven: ProvenPage?
    private var refusesZeros: ((_ coded: UInt32) -> Bool)?
    /// A forked child has a copy of the contexts, and does nothing with it.
    private let owner = OwnerProcess()

    /// Reads bytes of the file at an offset; what is behind its end is zero. False where it fails.
    package typealias Reader = (_ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Bool

    package init() {}

    /// From here on the MACs of the next pages are computed side by side where pages of the file are read in sequence and this
    /// machine can do that.
    package func readAhead(_ format: CipherFormat, by read: @escaping Reader) {
        ahead = MACsAhead(format, reading: read)
    }

    /// From here on a page of zeros is refused where `isOld` says that the database has a page of that number.
    package func refuseZeros(_ format: CipherFormat, where isOld: @escaping (_ number: UInt32) -> Bool) {
        refusesZeros = { isOld(format.pageNumberOrder.coded($0)) }
    }

    /// Whether a page is damaged that the engine would take for one that is not written yet, since all of it is zero.
    ///
    /// - Parameter page: With its MAC.
    package func areRefusedZeros(_ page: UnsafeRawBufferPointer, _ number: UnsafeRawBufferPointer) -> Bool {
        guard let refusesZeros, number.count == 4, page.allSatisfy({ $0 == 0 }) else { return false }
        return refusesZeros(number.loadUnaligned(as: UInt32.self))
    }

    /// Takes over the context that proved the key of this connection. The first page that the engine reads is not computed again if it
    /// is the same.
    package func adopt(_ proof: FirstPageProof) {
        guard let page = proof.page else { return }
        macs = [page.mac]
        proven = page
    }

    /// Writes the HMAC of a page that was read, of its bytes and of its number. It is the same as ``hmac(_:key:_:_:into:)`` gives.
    ///
    /// - Parameter page: What the MAC covers. The page's own MAC stands behind it.
    package func pageHMAC(
        _ algorithm: HashAlgorithm,
        key: UnsafeRawBufferPointer,
        _ page: UnsafeRawBufferPointer,
        _ number: UnsafeRawBufferPointer,
        into result: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        if let proven {
            self.proven = nil
            // Not under another key.
            if mac(algorithm, key) === proven.mac, proven.writeMAC(of: page, number, into: result) { return true }
        }
        guard let ahead, algorithm == .sha512, number.count == 4, let owner = mac(algorithm, key),
            let mac = ahead.mac(
                page,
                coded: number.loadUnaligned(as: UInt32.self),
                owner: owner,
                key: key
            )
        else { return hmac(algorithm, key: key, page, number, into: result) }
        // libipsec-mb only ever accepts a page: OpenSSL decides about the others.
        let stored = UnsafeRawBufferPointer(start: page.baseAddress! + page.count, count: mac.count)
        guard Cryptography.constantTimeEqual(mac, stored) else {
            return hmac(algorithm, key: key, page, number, into: result)
        }
        UnsafeMutableRawPointer(result).copyMemory(from: mac.baseAddress!, byteCount: mac.count)
        return true
    }

    /// Writes the HMAC of two pieces of bytes, one after the other.
    ///
    /// - Returns: False where the library fails; then nothing is kept. Also in a forked child.
    package func hmac(
        _ algorithm: HashAlgorithm,
        key: UnsafeRawBufferPointer,
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer,
        into result: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let mac = mac(algorithm, key) else { return false }
        if mac.compute(first, second, into: result) { return true }
        macs = []
        return false
    }

    private func mac(_ algorithm: HashAlgorithm, _ key: UnsafeRawBufferPointer) -> KeptMAC? {
        guard owner.isCurrent else { return nil }
        if let last = macs.first, last.fits(algorithm, key) { return last }
        if macs.count == 2, macs[1].fits(algorithm, key) {
            macs.swapAt(0, 1)
            return macs[0]
        }
        guard let mac = KeptMAC(algorithm, key) else { return nil }
        macs = [mac] + macs.prefix(1)
        return mac
    }

    /// Encrypts or decrypts whole blocks by AES-256-CBC without padding.
    ///
    /// - Parameter iv: 16 bytes.
    /// - Returns: False where the library fails; then nothing is kept. Also in a forked child.
    package func cipher(
        isEncrypting: Bool,
        key: UnsafeRawBufferPointer,
        iv: UnsafePointer<UInt8>,
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard owner.isCurrent else { return false }
        let kept = isEncrypting ? encryption : decryption
        if let kept, kept.key.fits(key) {
            if kept.run(iv: iv, input, into: output) { return true }
        } else if let made = KeptCipher(key, isEncrypting: isEncrypting) {
            if isEncrypting { encryption = made } else { decryption = made }
            if made.run(iv: iv, input, into: output) { return true }
        }
        if isEncrypting { encryption = nil } else { decryption = nil }
        return false
    }

    /// The address that OpenSSL knows AES-256-CBC by.
    package static var aes256CBC: UnsafeRawPointer? {
        #if OpenSSL
            EVP_aes_256_cbc().map { UnsafeRawPointer($0) }
        #else
            nil
        #endif
    }
}

/// A copy of the key that a context has, to compare with. The context has the same key in memory of its library.
struct KeptKey: ~Copyable {
    private let bytes: UnsafeMutableRawBufferPointer

    init(_ key: UnsafeRawBufferPointer) {
        bytes = .allocate(byteCount: key.count, alignment: 16)
        bytes.copyMemory(from: key)
    }

    deinit {
        Cryptography.cleanse(bytes)
        bytes.deallocate()
    }

    /// Whether it is `key`, compared in constant time.
    func fits(_ key: UnsafeRawBufferPointer) -> Bool {
        Cryptography.constantTimeEqual(UnsafeRawBufferPointer(bytes), key)
    }
}

/// A context of one key's HMAC.
final class KeptMAC {
    private let algorithm: HashAlgorithm
    private let key: KeptKey
    private let context: MACContext

    init?(_ algorithm: HashAlgorithm, _ key: UnsafeRawBufferPointer) {
        do {
            context = try MACContext(key, algorithm)
        } catch {
            return nil
        }
        self.algorithm = algorithm
        self.key = KeptKey(key)
    }

    func fits(_ algorithm: HashAlgorithm, _ key: UnsafeRawBufferPointer) -> Bool {
        algorithm == self.algorithm && self.key.fits(key)
    }

    func compute(
        _ first: UnsafeRawBufferPointer,
        _ second: UnsafeRawBufferPointer,
        into result: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        context.compute(first, second, into: result)
    }
}

/// A context of AES-256-CBC with one key, in one direction.
private final class KeptCipher {
    let key: KeptKey
    private let context: CipherContext

    init?(_ key: UnsafeRawBufferPointer, isEncrypting: Bool) {
        do {
            context = try CipherContext(key, .cbc, isEncrypting: isEncrypting)
        } catch {
            return nil
        }
        self.key = KeptKey(key)
    }

    func run(
        iv: UnsafePointer<UInt8>,
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        context.run(iv: iv, input.bytes(at: 0), input.count, into: output)
    }
}
