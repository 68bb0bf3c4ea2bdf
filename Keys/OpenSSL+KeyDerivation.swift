#if OpenSSL
    internal import CCipherOpenSSL

    extension OpenSSL {
        /// PBKDF2 with HMAC (RFC 8018 section 5.2) into `output`.
        static func pbkdf2(
            _ algorithm: HashAlgorithm,
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            iterations: Int32,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            let done = PKCS5_PBKDF2_HMAC(
                password.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(password.count),
                salt,
                Int32(salt.count),
                iterations,
                digest(algorithm),
                Int32(output.count),
                output.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
            guard done == 1 else { throw OpenSSLError(operation: "PKCS5_PBKDF2_HMAC") }
        }

        private static func digest(_ algorithm: HashAlgorithm) -> OpaquePointer? {
            switch algorithm {
            case .sha1: EVP_sha1()
            case .sha256: EVP_sha256()
            case .sha512: EVP_sha512()
            }
        }

        /// Whether this libcrypto has a derivation of this name, such as `ARGON2ID` (3.2 and later).
        static func hasDerivation(_ name: String) -> Bool {
            guard let function = EVP_KDF_fetch(nil, name, nil) else {
                ERR_clear_error()
                return false
            }
            EVP_KDF_free(function)
            return true
        }

        /// HKDF (RFC 5869) into `output`.
        static func hkdf(
            _ algorithm: HashAlgorithm,
            key: UnsafeRawBufferPointer,
            salt: [UInt8],
            info: [UInt8],
            output: UnsafeMutableRawBufferPointer
        ) throws {
            let derivation = try Derivation("HKDF")
            derivation.set("digest", algorithm.rawValue)
            derivation.set("key", key)
            try salt.withUnsafeBytes { salt in
                try info.withUnsafeBytes { info in
                    derivation.set("salt", salt)
                    derivation.set("info", info)
                    try derivation.run(into: output)
                }
            }
        }

        /// scrypt (RFC 7914) into `output`.
        ///
        /// - Parameter memory: The most bytes that it may take.
        static func scrypt(
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            cost: Int,
            blockSize: Int,
            parallelism: Int,
            memory: Int,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            let derivation = try Derivation("SCRYPT")
            derivation.set("pass", password)
            derivation.set("n", cost)
            derivation.set("r", blockSize)
            derivation.set("p", parallelism)
            derivation.set("maxmem_bytes", memory)
            try derivation.run(salt: salt, into: output)
        }

        /// Argon2id, version 1.3 (RFC 9106), into `output`; on one thread, whatever the number of lanes.
        static func argon2id(
            password: UnsafeRawBufferPointer,
            salt: [UInt8],
            kibibytes: Int,
            passes: Int,
            lanes: Int,
            output: UnsafeMutableRawBufferPointer
        ) throws {
            let derivation = try Derivation("ARGON2ID")
            derivation.set("pass", password)
            derivation.set("iter", passes)
            derivation.set("memcost", kibibytes)
            derivation.set("lanes", lanes)
            derivation.set("threads", 1)
            try derivation.run(salt: salt, into: output)
        }

        /// One use of an `EVP_KDF`, and the memory of its parameters.
        private final class Derivation {
            private let name: String
            private let context: OpaquePointer
            private var parameters: [OSSL_PARAM] = []
            private var memory: [UnsafeMutableRawPointer] = []

            init(_ name: String) throws {
                let function = EVP_KDF_fetch(nil, name, nil)
                // The context keeps the function.
                defer { EVP_KDF_free(function) }
                guard let context = EVP_KDF_CTX_new(function) else { throw OpenSSLError(operation: name) }
                self.name = name
                self.context = context
            }

            deinit {
                EVP_KDF_CTX_free(context)
                for block in memory { block.deallocate() }
            }

            func set(_ name: String, _ number: Int) {
                let place = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
                place.initialize(to: UInt64(number))
                memory.append(UnsafeMutableRawPointer(place))
                parameters.append(OSSL_PARAM_construct_uint64(text(name), place))
            }

            func set(_ name: String, _ value: String) {
                parameters.append(OSSL_PARAM_construct_utf8_string(text(name), text(value), 0))
            }

            /// The bytes must stay where they are until it has run.
            func set(_ name: String, _ bytes: UnsafeRawBufferPointer) {
                let place = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                parameters.append(OSSL_PARAM_construct_octet_string(text(name), place, bytes.count))
            }

            func run(salt: [UInt8], into output: UnsafeMutableRawBufferPointer) throws {
                try salt.withUnsafeBytes {
                    set("salt", $0)
                    try run(into: output)
                }
            }

            func run(into output: UnsafeMutableRawBufferPointer) throws {
                parameters.append(OSSL_PARAM_construct_end())
                let place = output.baseAddress?.assumingMemoryBound(to: UInt8.self)
                guard EVP_KDF_derive(context, place, output.count, parameters) == 1 else {
                    throw OpenSSLError(operation: name)
                }
            }

            private func text(_ value: String) -> UnsafeMutablePointer<CChar> {
                let characters = Array(value.utf8CString)
                let place = UnsafeMutablePointer<CChar>.allocate(capacity: characters.count)
                place.initialize(from: characters, count: characters.count)
                memory.append(UnsafeMutableRawPointer(place))
                return place
            }
        }
    }
#endif
