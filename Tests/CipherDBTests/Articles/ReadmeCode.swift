import CipherDB
import Foundation

/// The example of README.md.
private struct ReadmeCode {
    func smallest() throws {
        // begin
        let queue = try DatabaseQueue(path: "notes.db", key: .passphrase("correct horse battery staple"))
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE IF NOT EXISTS notes (text TEXT)") }
        try queue.write { try $0.insert(into: "notes", ["text": "buy stamps"]) }
        let notes = try queue.read { try $0.fetchAll(String.self, "SELECT text FROM notes") }
        print(notes)
        // end
    }

    func example() async throws {
        // begin
        struct Note: Codable, RowDecodable, PersistableRecord, Sendable {
            static let databaseTableName = "notes"
            var id: Int64?
            var text: String
            var due: Date?
        }

        let passphrase = try KeyringSecret.passphrase("correct horse battery staple")
        let keyring = Keyring(path: "vault.db.keyring")
        let pool = try await DatabasePool(path: "vault.db", key: .keyring(keyring, unlockedBy: passphrase))

        try await pool.migrate([
            Migration("notes") {
                try $0.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, due TEXT)")
            }
        ])
        try await pool.write { database in
            try Note(text: "buy stamps", due: Date()).insert(database)
        }
        let word = "%stamps%"
        let notes = try await pool.read { database in
            try database.fetchAll(Note.self, "SELECT * FROM notes WHERE text LIKE \(word)")
        }

        let unlocked = try await keyring.unlock(passphrase)
        try await unlocked.add(.passphrase("Bob's own passphrase"), label: "Bob")
        try await pool.rotateKey(of: unlocked)
        // end
        print(notes.count)
    }
}
