#if !OpenSSL
    internal import CipherKeys
    internal import CommonCrypto

    /// An HMAC with one key, wiped when it is freed. For one thread at a time.
    struct MACContext: ~Copyable {
        // The state behind the key, of which each code begins with a copy.
        private let begun: UnsafeMutablePointer<CCHmacContext>
        private let running: UnsafeMutablePointer<CCHmacContext>

        init(_ key: UnsafeRawBufferPointer, _ algorithm: HashAlgorithm) throws {
            let name =
                switch algorithm {
                case .sha1: kCCHmacAlgSHA1
                case .sha256: kCCHmacAlgSHA256
                case .sha512: kCCHmacAlgSHA512
                }
            begun = .allocate(capacity: 2)
            running = begun + 1
            begun.initialize(repeating: CCHmacContext(), count: 2)
            CCHmacInit(begun, CCHmacAlgorithm(name), key.baseAddress, key.count)
        }

        deinit {
            let both = UnsafeMutableBufferPointer(start: begun, count: 2)
            Cryptography.cleanse(UnsafeMutableRawBufferPointer(both))
            begun.deallocate()
        }

        /// Writes the code of two pieces of bytes, one after the other.
        func compute(
            _ first: UnsafeRawBufferPointer,
            _ second: UnsafeRawBufferPointer,
            into result: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            running.update(from: begun, count: 1)
            CCHmacUpdate(running, first.baseAddress, first.count)
            CCHmacUpdate(running, second.baseAddress, second.count)
            CCHmacFinal(running, result)
            return true
        }
    }

    /// AES-256 of whole blocks with one key, in one direction. For one thread at a time.
    struct CipherContext: ~Copyable {
        enum Mode { case cbc, ecb }

        private let context: CCCryptorRef

        /// - Parameter key: 32 bytes.
        init(_ key: UnsafeRawBufferPointer, _ mode: Mode, isEncrypting: Bool) throws {
            var made: CCCryptorRef?
            let status = CCCryptorCreateWithMode(
                CCOperation(isEncrypting ? kCCEncrypt : kCCDecrypt),
                CCMode(mode == .cbc ? kCCModeCBC : kCCModeECB),
                CCAlgorithm(kCCAlgorithmAES),
                CCPadding(ccNoPadding),
                nil,
                key.baseAddress,
                key.count,
                nil,
                0,
                0,
                0,
                &made
            )
            guard key.count == 32, status == CCCryptorStatus(kCCSuccess), let made else {
                if let made { CCCryptorRelease(made) }
                throw OpenSSLError(operation: "CCCryptorCreateWithMode")
            }
            context = made
        }

        deinit {
            CCCryptorRelease(context)
        }

        /// Writes as many bytes as it reads; false where CommonCrypto fails.
        ///
        /// - Parameter iv: 16 bytes in CBC; nil in ECB.
        func run(
            iv: UnsafePointer<UInt8>?,
            _ input: UnsafePointer<UInt8>,
            _ count: Int,
            into output: UnsafeMutablePointer<UInt8>
        ) -> Bool {
            var written = 0
            return (iv == nil || CCCryptorReset(context, iv) == CCCryptorStatus(kCCSuccess))
                && CCCryptorUpdate(context, input, count, output, count, &written) == CCCryptorStatus(kCCSuccess)
                && written == count
        }
    }
#endif
