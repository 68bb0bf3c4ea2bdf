import CipherDB
import Foundation

/// The code of the tutorial.
private struct TutorialCode {
    func open() throws -> DatabasePool {
        // begin
        let secret = try KeySource.prompt("Passphrase", confirmed: false).readPassphrase()
        let pool = try DatabasePool(path: "notes.db", key: secret)
        // end
        return pool
    }

    func table(_ pool: DatabasePool) throws {
        // begin
        try pool.migrate([
            Migration("notes") { database in
                try database.executeStatements(
                    "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, due TEXT)"
                )
            }
        ])
        // end
    }

    func rows(_ pool: DatabasePool, typed: String) throws {
        // begin
        struct Note: Codable, RowDecodable, PersistableRecord {
            static let databaseTableName = "notes"
            var id: Int64?
            var text: String
            var due: Date?
        }
        try pool.write { database in
            try Note(text: "buy stamps", due: Date()).insert(database)
        }
        let notes = try pool.read { database in
            try database.fetchAll(Note.self, "SELECT * FROM notes ORDER BY due")
        }
        for note in notes { print(note.text) }
        // end
        // begin
        let found = try pool.read { database in
            try database.fetchAll(Note.self, "SELECT * FROM notes WHERE text LIKE \("%" + typed + "%")")
        }
        // end
        print(found.count)
    }

    func keyring() throws -> DatabasePool {
        // begin
        let keyring = Keyring(besideDatabase: "notes.db")
        let passphrase = try KeySource.prompt("Passphrase", confirmed: false).readKeyringSecret(.passphrase)
        let unlocked = try keyring.unlock(passphrase)
        let pool = try DatabasePool(path: "notes.db", key: unlocked)
        try unlocked.add(.passphrase("Bob's own passphrase"), label: "Bob")
        // end
        return pool
    }
}
