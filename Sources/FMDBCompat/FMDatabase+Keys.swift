internal import CipherDB
public import Foundation

extension FMDatabase {
    /// Gives the key of a database that was opened and not used yet, and verifies it: false for a wrong one.
    ///
    /// After a failure the database is closed, so that nothing is written in plaintext by mistake.
    @discardableResult public func setKey(_ key: String) -> Bool { keyed { try database.setKey(key) } }

    /// As ``setKey(_:)``, from bytes.
    @discardableResult public func setKeyWith(_ keyData: Data) -> Bool {
        keyed { try database.setKeyWithData(keyData) }
    }

    /// Changes the key, and proves that the new one opens the file.
    @discardableResult public func rekey(_ key: String) -> Bool { keyed { try database.rekey(key) } }

    /// As ``rekey(_:)``, from bytes.
    @discardableResult public func rekey(with keyData: Data) -> Bool {
        keyed { try database.rekeyWithData(keyData) }
    }

    private func keyed(_ body: () throws -> Void) -> Bool {
        let done = attempt {
            do {
                try body()
            } catch let error as MalformedKey {
                // Nothing was keyed, and whoever goes on without looking would write plaintext.
                if database.unlocked == nil { database.close() }
                throw error
            }
        }
        access = database.unlocked ?? access
        return done
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
        answer { try database.string(forQuery: "PRAGMA \(name)") } ?? nil
    }
}
