import CipherDB
import Foundation
import Rekeying

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
        let pool = try await DatabasePool(path: "vault.db", key: unlocked)
        try await pool.rotateKey(of: unlocked)
        // end
    }

    func recover(_ key: DatabaseKey) throws -> Recovery {
        // begin
        var file = DatabaseFile(path: "damaged.db")
        file.configuration.prepareDatabase = { database in
            try database.makeFunction(named: "folded", isDeterministic: true, isInnocuous: true) { values in
                values[0].stringValue?.lowercased()
            }
        }
        let found = try file.recover(key: key, to: "saved.db")
        // end
        return found
    }

    func backUp(_ pool: DatabasePool) async throws {
        // begin
        try await pool.backup(to: "backup.db") { progress in
            print(progress.remaining, "of", progress.total, "pages to go")
        }
        // end
    }

    func backUpContinuously(_ pool: DatabasePool, _ unlocked: UnlockedKeyring) async throws {
        // begin
        let backup = ContinuousBackup(
            of: pool,
            to: BackupRepository("notes.backups"),
            keyring: unlocked,
            keeping: RetentionPolicy(newest: 100, days: 30)
        ) { event in
            if case .failed(let error) = event { print("backup: \(error)") }
        }
        let running = Task { try await backup.run() }
        // end
        running.cancel()
        try await running.value
    }

    func credential() async throws -> DatabasePool {
        // begin
        let secret = try KeySource.credential("vault.secret").readKeyringSecret(.external)
        let keyring = Keyring(besideDatabase: "vault.db")
        let pool = try await DatabasePool(path: "vault.db", key: .keyring(keyring, unlockedBy: secret))
        // end
        return pool
    }
}
