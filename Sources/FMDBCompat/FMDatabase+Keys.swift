internal import CipherDB
internal import CipherKeys
public import Foundation

extension FMDatabase {
    /// Gives the key of a database that was opened and not used yet, and verifies it: false for a wrong one.
    ///
    /// After a failure the database is closed, and does not open without a key any more, so that nothing is written in
    /// plaintext by mistake; to try another key, open it again first. As in FMDB the key that is in force may be given once
    /// more, which costs a derivation where it is a passphrase.
    @discardableResult public func setKey(_ key: String) -> Bool {
        keyed { try DatabaseKey.engineBytes(SecretBytes(utf8: key)) }
    }

    /// As ``setKey(_:)``, from bytes.
    @discardableResult public func setKeyWith(_ keyData: Data) -> Bool {
        keyed { try DatabaseKey.engineBytes(keyData.withUnsafeBytes { try SecretBytes(copying: $0) }) }
    }

    /// Changes the key, and proves that the new one opens the file.
    @discardableResult public func rekey(_ key: String) -> Bool { rekeyed { try database.rekey(key) } }

    /// As ``rekey(_:)``, from bytes.
    @discardableResult public func rekey(with keyData: Data) -> Bool {
        rekeyed { try database.rekeyWithData(keyData) }
    }

    private func keyed(_ key: () throws -> DatabaseKey) -> Bool {
        // A database in memory never reaches a disk.
        if databasePath != nil, databasePath != ":memory:" { requiresKey = true }
        return rekeyed {
            do {
                let key = try key()
                if let present = database.verifiedKey, try present.isOpened(by: key) { return }
                try database.setKey(key)
            } catch {
                closeUnlessKeyed()
                throw error
            }
        }
    }

    private func rekeyed(_ body: () throws -> Void) -> Bool {
        let done = attempt(body)
        access = database.verifiedKey ?? access
        rememberInterrupter()
        return done
    }

    /// Whoever goes on without looking at what `setKey` answered would write plaintext.
    func closeUnlessKeyed() {
        if requiresKey, database.verifiedKey == nil { database.close() }
    }

    /// The version of SQLCipher, such as `4.6.1 community`; nil where the engine is another.
    public var cipherVersion: String? { Engine.current.sqlcipherVersion }

    /// Whether SQLCipher runs in its FIPS mode: `1` or `0`.
    public var cipherFipsStatus: String? { pragma("cipher_fips_status") }

    /// The library that encrypts for SQLCipher, such as `openssl`.
    public var cipherProvider: String? { pragma("cipher_provider") }

    /// The version of the library that encrypts for SQLCipher.
    public var cipherProviderVersion: String? { pragma("cipher_provider_version") }

    private func pragma(_ name: String) -> String? {
        answer { try database.string(forQuery: "PRAGMA \(raw: name)") } ?? nil
    }
}
