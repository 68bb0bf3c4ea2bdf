import CipherKeys
import CipherPages
import CipherSystem

extension Use {
    /// Of contexts of OpenSSL, which are in ordinary memory: a child has their keys.
    static let ofPages = [
        page("isAuthentic") { cipher, page in _ = try cipher.isAuthentic(page, number: 2) },
        page("decrypt") { cipher, page in _ = try cipher.decrypt(page, number: 2) },
        page("encrypt") { cipher, page in
            var written = page
            try page.withUnsafeBytes { page in
                try written.withUnsafeMutableBytes {
                    try cipher.encrypt(page, number: 2, iv: UnsafeRawBufferPointer(rebasing: page[..<16]), into: $0)
                }
            }
        },
        Use("DerivedKey.withPageKey", .secret) { _ in
            let key = try Scene.key().derive(salt: salt, format: .v4)
            return { try key.withPageKey { _ in } }
        },
        Use("DerivedKey.literal", .secret) { _ in
            let key = try Scene.key().derive(salt: salt, format: .v4)
            return { _ = try key.literal() }
        },
        Use("DerivedKey.==", .secret) { _ in
            let key = try Scene.key().derive(salt: salt, format: .v4)
            return { _ = try Scene.key().derive(salt: salt, format: .v4) == key }
        },
        Use("KeptContexts.hmac", .secret) { _ in
            let contexts = KeptContexts()
            return { guard hmac(contexts) else { throw UsedAfterFork.secret } }
        },
        Use("KeptContexts.cipher", .secret) { _ in
            let contexts = KeptContexts()
            return { guard encrypts(contexts) else { throw UsedAfterFork.secret } }
        },
    ]

    private static let salt = [UInt8](0..<16)
    private static let block = [UInt8](repeating: 7, count: 32)

    private static func page(_ name: String, _ call: @escaping @Sendable (PageCipher, [UInt8]) throws -> Void) -> Use {
        Use("PageCipher.\(name)", .secret) { _ in
            let cipher = try PageCipher(key: Scene.key().derive(salt: salt, format: .v4), format: .v4)
            let page = [UInt8](repeating: 7, count: cipher.format.pageSize)
            // It works here.
            try call(cipher, page)
            return { try call(cipher, page) }
        }
    }

    private static func hmac(_ contexts: KeptContexts) -> Bool {
        var code = [UInt8](repeating: 0, count: 64)
        return block.withUnsafeBytes { contexts.hmac(.sha512, key: $0, $0, $0, into: &code) }
    }

    private static func encrypts(_ contexts: KeptContexts) -> Bool {
        var output = block
        return block.withUnsafeBytes {
            contexts.cipher(isEncrypting: true, key: $0, iv: salt, $0, into: &output)
        }
    }
}
