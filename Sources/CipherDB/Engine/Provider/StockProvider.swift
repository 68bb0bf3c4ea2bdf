internal import CSQLCipher
internal import CipherKeys
internal import CipherPages

/// The engine's own provider, which calls OpenSSL.
struct StockProvider: Sendable {
    let layout: ProviderLayout
    // Addresses of functions, and of nothing that changes.
    nonisolated(unsafe) let members: [UnsafeMutableRawPointer?]
    /// Returns the provider that is in use. Looking a symbol up takes longer than setting a key.
    let current: csqlcipher_get_provider

    func hmac(
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
        // The member of the layout is of one of these types.
        let member = members[layout.hmac]
        guard layout.namesAlgorithm else {
            let hmac = unsafeBitCast(member, to: csqlcipher_hmac_sha1.self)
            return hmac(context, key, keySize, first, firstSize, second, secondSize, result)
        }
        let hmac = unsafeBitCast(member, to: csqlcipher_hmac.self)
        return hmac(context, algorithm, key, keySize, first, firstSize, second, secondSize, result)
    }

    /// The member of the layout is of this type.
    var cipher: csqlcipher_cipher { unsafeBitCast(members[layout.cipher], to: csqlcipher_cipher.self) }
    /// The member of the layout is of this type.
    var contextInit: csqlcipher_context_function {
        unsafeBitCast(members[layout.contextInit], to: csqlcipher_context_function.self)
    }
    /// The member of the layout is of this type.
    var contextFree: csqlcipher_context_function {
        unsafeBitCast(members[layout.contextFree], to: csqlcipher_context_function.self)
    }
}

extension StockProvider {
    /// Reads the provider for OpenSSL, and throws where it is not as its layout says, or another one is in use.
    init(_ layout: ProviderLayout) throws {
        guard
            let setup = csqlcipher_symbol("sqlcipher_openssl_setup"),
            let current = csqlcipher_symbol("sqlcipher_get_provider")
        else { throw Provider.Unusable(reason: "its interface is not exported") }
        // More than any version fills in, and nothing that is an address of a function.
        let mark = UnsafeMutableRawPointer(bitPattern: -1)
        var found = [UnsafeMutableRawPointer?](repeating: mark, count: 64)
        // These are the types of the engine's functions of these names, in all versions that have a layout.
        let code = found.withUnsafeMutableBytes {
            unsafeBitCast(setup, to: csqlcipher_setup.self)($0.baseAddress)
        }
        let areFunctions = found.prefix(layout.count).enumerated().allSatisfy { index, member in
            layout.unset.contains(index) ? member == nil : csqlcipher_is_of_engine(member) != 0
        }
        guard code == SQLITE_OK, areFunctions, found.dropFirst(layout.count).allSatisfy({ $0 == mark }) else {
            throw Provider.Unusable(reason: "its interface is not as expected")
        }
        members = Array(found.prefix(layout.count))
        self.layout = layout
        self.current = unsafeBitCast(current, to: csqlcipher_get_provider.self)
        guard let used = self.current()?.assumingMemoryBound(to: UnsafeMutableRawPointer?.self),
            members.indices.allSatisfy({ used[$0] == members[$0] })
        else { throw Provider.Unusable(reason: "another provider than OpenSSL's is in use") }
    }

    /// Throws unless the engine's functions and CipherDB's give the same bytes, with new contexts and with kept ones, for two keys.
    func compare() throws {
        let size = 4096
        var context = csqlcipher_provider_context(cipher: KeptContexts.aes256CBC, stock: nil, contexts: nil)
        var input = [UInt8](repeating: 0, count: size + 16 + 4)
        try input.withUnsafeMutableBytes { try Cryptography.randomize($0) }
        let contexts = KeptContexts()
        for _ in 0..<2 {
            for key in 0..<2 {
                try withUnsafeMutablePointer(to: &context) { context in
                    try input.withUnsafeBytes { try compare(context, $0, size, key: key, contexts) }
                }
            }
        }
    }

    /// - Parameter input: A page, an IV and a page number, all random. The keys are two pieces of it.
    private func compare(
        _ context: UnsafeMutablePointer<csqlcipher_provider_context>,
        _ input: UnsafeRawBufferPointer,
        _ size: Int,
        key: Int,
        _ contexts: KeptContexts
    ) throws {
        let key = UnsafeRawBufferPointer(rebasing: input[(key * 32)..<(key * 32 + 32)])
        let (page, number) = (input.prefix(size + 16), input.suffix(4))
        let (first, second) = (UnsafeRawBufferPointer(rebasing: page), UnsafeRawBufferPointer(rebasing: number))
        let algorithms: [HashAlgorithm] = layout.namesAlgorithm ? [.sha1, .sha256, .sha512] : [.sha1]
        for (index, algorithm) in algorithms.enumerated() {
            var (ours, theirs) = ([UInt8](repeating: 1, count: 64), [UInt8](repeating: 1, count: 64))
            let code = hmac(
                context,
                Int32(index),
                key.bytes(at: 0),
                32,
                first.bytes(at: 0),
                Int32(first.count),
                second.bytes(at: 0),
                4,
                &theirs
            )
            guard code == SQLITE_OK, contexts.hmac(algorithm, key: key, first, second, into: &ours), ours == theirs
            else {
                throw Provider.Unusable(reason: "its HMAC differs")
            }
        }
        let plaintext = UnsafeRawBufferPointer(rebasing: input.prefix(size))
        let iv = input.bytes(at: size)
        var (ours, theirs) = ([UInt8](repeating: 0, count: size), [UInt8](repeating: 0, count: size))
        var back = ours
        guard
            cipher(context, 1, key.bytes(at: 0), 32, iv, plaintext.bytes(at: 0), Int32(size), &theirs) == SQLITE_OK,
            contexts.cipher(isEncrypting: true, key: key, iv: iv, plaintext, into: &ours), ours == theirs,
            ours.withUnsafeBytes({ contexts.cipher(isEncrypting: false, key: key, iv: iv, $0, into: &back) }),
            back.elementsEqual(plaintext)
        else { throw Provider.Unusable(reason: "its cipher differs") }
    }
}

/// Which member of the engine's provider is which function, in a version of SQLCipher.
struct ProviderLayout: Equatable {
    /// How many members `sqlcipher_openssl_setup` sets.
    let count: Int
    /// Members that are not set to a function by it.
    let unset: Set<Int>
    /// How long the structure is, in pointers.
    let size: Int
    let hmac: Int
    let cipher: Int
    let contextInit: Int
    let contextFree: Int
    /// Whether the HMAC function takes an algorithm: that of 3.4.1 is SHA-1 only.
    let namesAlgorithm: Bool
    /// Whether the engine's own functions use the context: 3.4.1 keeps the cipher there.
    let usesContext: Bool
    /// Whether the engine forgets a provider when the last connection with a key is closed.
    let isForgotten: Bool

    /// SQLCipher 3.4.1. `activate, deactivate, get_provider_name, add_random, random, hmac, kdf, cipher, set_cipher, get_cipher,
    /// get_key_sz, get_iv_sz, get_block_sz, get_hmac_sz, ctx_copy, ctx_cmp, ctx_init, ctx_free, fips_status, get_provider_version`
    static let v34 = ProviderLayout(
        count: 20,
        unset: [],
        size: 20,
        hmac: 5,
        cipher: 7,
        contextInit: 16,
        contextFree: 17,
        namesAlgorithm: false,
        usesContext: true,
        isForgotten: true
    )

    /// SQLCipher 4.4 to 4.6. `activate, deactivate, get_provider_name, add_random, random, hmac, kdf, cipher, get_cipher, get_key_sz,
    /// get_iv_sz, get_block_sz, get_hmac_sz, ctx_init, ctx_free, fips_status, get_provider_version`
    static let v44 = ProviderLayout(
        count: 17,
        unset: [],
        size: 17,
        hmac: 5,
        cipher: 7,
        contextInit: 13,
        contextFree: 14,
        namesAlgorithm: true,
        usesContext: false,
        isForgotten: true
    )

    /// SQLCipher 4.7 to 4.19: `init` and `shutdown`, which OpenSSL's provider does not have, in the place of `activate` and
    /// `deactivate`, and `next` at the end.
    static let v47 = ProviderLayout(
        count: 17,
        unset: [0, 1],
        size: 18,
        hmac: 5,
        cipher: 7,
        contextInit: 13,
        contextFree: 14,
        namesAlgorithm: true,
        usesContext: false,
        isForgotten: false
    )

    /// The layout of a version, such as `4.6.1 community`; nil where it is not known.
    static func of(_ version: String) -> ProviderLayout? {
        let numbers = version.prefix { $0.isNumber || $0 == "." }.split(separator: ".").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        return switch (numbers[0], numbers[1], numbers[2]) {
        case (3, 4, 1): .v34
        case (4, 4...6, _): .v44
        case (4, 7...19, _): .v47
        default: nil
        }
    }
}
