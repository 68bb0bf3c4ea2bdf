import CipherDB
import Foundation

/// The Swift code of the how-to guides.
private struct HowToCode {
    func encrypt() async throws -> DatabasePool {
        // begin
        let key = try KeySource.file(path: "notes.key").readRawKey()
        let pool = try await DatabasePool(path: "notes.db", key: key)
        // end
        return pool
    }

    func rotate(_ secret: KeyringSecret) async throws {
        // begin
        let unlocked = try await Keyring(besideDatabase: "vault.db").unlock(secret)
        let pool = try await DatabasePool(path: "vault.db", keyring: unlocked)
        try await pool.rotateKey(of: unlocked)
        // end
    }

    func backUp(_ pool: DatabasePool) async throws {
        // begin
        try await pool.backup(to: "backup.db") { progress in
            print(progress.remaining, "of", progress.total, "pages to go")
        }
        // end
    }

    func credential() async throws -> DatabasePool {
        // begin
        let secret = try KeySource.credential("vault.secret").readKeyringSecret(.external)
        let keyring = Keyring(besideDatabase: "vault.db")
        let pool = try await DatabasePool(path: "vault.db", keyring: keyring, unlockedBy: secret)
        // end
        return pool
    }
}
