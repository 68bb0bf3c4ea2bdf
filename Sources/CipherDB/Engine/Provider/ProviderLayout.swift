internal import CSQLCipher

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
