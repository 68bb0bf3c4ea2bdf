internal import CipherDB
internal import CipherKeys
internal import Foundation

extension FMDatabase {
    func keyed(text: String) -> Bool { keyed { try DatabaseKey.engineBytes(SecretBytes(utf8: text)) } }

    func keyed(bytes: Data) -> Bool {
        keyed { try DatabaseKey.engineBytes(bytes.withUnsafeBytes { try SecretBytes(copying: $0) }) }
    }

    private func keyed(_ key: () throws -> DatabaseKey) -> Bool {
        guard let isOuter = turn.enterIfFree() else { return attempt {} }
        defer { turn.leave(isOuter) }
        // A database in memory never reaches a disk.
        if isOfFile { requiresKey = true }
        return rekeyed {
            do {
                let key = try key()
                if let present = database.verifiedKey, try present.isOpened(by: key) { return }
                try set(key)
            } catch {
                closeUnlessKeyed()
                throw error
            }
        }
    }

    /// Sets the key, in the format in which it is right: FMDB's programs say that by pragmas behind the key.
    private func set(_ key: DatabaseKey) throws {
        do {
            try database.setKey(key)
        } catch let error as KeyError {
            guard error.code == .otherFormat, let format = error.format, Engine.current.writes(format) else {
                throw error
            }
            try reopen(as: format)
            try database.setKey(key)
        }
    }

    func rekeyed(_ body: () throws -> Void) -> Bool {
        guard let isOuter = turn.enterIfFree() else { return attempt {} }
        defer { turn.leave(isOuter) }
        let done = attempt(body)
        access = database.verifiedKey ?? access
        rememberInterrupter()
        return done
    }

    /// A program that ignores the result of `setKey` would write plaintext.
    func closeUnlessKeyed() {
        if requiresKey, database.verifiedKey == nil { database.close() }
    }

    func pragma(_ name: String) -> String? {
        answer { try database.string(forQuery: "PRAGMA \(raw: name)") } ?? nil
    }

    /// The version of SQLCipher, such as `4.6.1 community`; nil where the engine is another.
    public var cipherVersion: String? { Engine.current.sqlcipherVersion }

    /// Whether SQLCipher runs in its FIPS mode: `1` or `0`.
    public var cipherFipsStatus: String? { pragma("cipher_fips_status") }

    /// The library that encrypts for SQLCipher, such as `openssl`.
    public var cipherProvider: String? { pragma("cipher_provider") }

    /// The version of the library that encrypts for SQLCipher.
    public var cipherProviderVersion: String? { pragma("cipher_provider_version") }
}
