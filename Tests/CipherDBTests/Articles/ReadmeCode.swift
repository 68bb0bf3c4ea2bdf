import CipherDB
import Foundation

/// The example of README.md.
private struct ReadmeCode {
    func example() async throws {
        // begin
        struct Note: Codable, RowDecodable, Sendable {
            var id: Int64?
            var text: String
            var due: Date?
        }

        let passphrase = try KeyringSecret.passphrase("correct horse battery staple")
        let keyring = Keyring(path: "vault.db.keyring")
        let pool = try await DatabasePool(path: "vault.db", keyring: keyring, unlockedBy: passphrase)

        try await pool.migrate([
            Migration("notes") {
                try $0.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL, due TEXT)")
            }
        ])
        try await pool.write { database in
            try database.insert(into: "notes", encoding: Note(text: "buy stamps", due: Date()))
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
        // begin
        try await pool.write { try $0.update("notes", set: ["text": "buy paper"], where: Column("id") == 7) }
        enum State: String, Codable, ColumnEncodable, ColumnDecodable { case open, done }  // a property's type
        let due = try await pool.read { database in
            try database.fetchAll(Note.self, from: "notes", where: Column("due") != nil, orderedBy: [.ascending("due")])
        }
        let some = try await pool.read { try $0.count(in: "notes", where: "id IN (\(list: [1, 7]))") }
        for slot in try await keyring.slots() { print(slot.number, slot.label) }
        try await unlocked.change(slot: 1, to: .passphrase("a better passphrase"))
        try await unlocked.remove(label: "Bob")  // or remove(slot: 2)
        try await pool.backup(to: "copy.db", key: .passphrase("the copy's own passphrase"))
        let problems = try await pool.integrityCheck()  // MACs and structure; [] if sound
        let reader = try await DatabasePool(path: "vault.db", keyring: unlocked, flags: .readOnly)
        for try await count in pool.observe({ try $0.count(in: "notes") }) { print(count) }  // after each change
        // end
        print(due.count, some, State.open, problems, reader.path ?? "")
    }
}
