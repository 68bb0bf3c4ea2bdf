import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// The code in doc comments.
@Suite struct CommentCode {
    private struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var text: String
    }

    private func keyProviders(_ path: String, _ secret: KeyringSecret) throws {
        // begin
        let queue = try DatabaseQueue(path: path, key: .passphrase("correct horse battery staple"))
        let other = try DatabaseQueue(path: path, key: .keyring(Keyring(besideDatabase: path), unlockedBy: secret))
        // end
        // begin
        let format = try CipherFormat(.v3) { $0.pageSize = 4096 }
        // end
        print(queue, other, format)
    }

    private func keptRows(_ pool: DatabasePool) throws {
        // begin
        let rows = try pool.read { try $0.fetchAll(Row.self, "SELECT id, text FROM notes") }
        for row in rows { print(try row[0] as Int, try row["text"] as String) }
        // end
    }

    private func conditions(_ database: Database, id: Int) throws {
        // begin
        try database.delete(from: "notes", where: Column("list") == id && Column("deleted") != nil)
        // end
        // begin
        try database.createTable(
            "notes",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey),
                ColumnDefinition("text", .text, .notNull),
                ColumnDefinition("list", .integer, .references("lists", onDelete: .cascade)),
            ]
        )
        // end
    }

    private func commands(_ keyring: Keyring, _ unlocked: UnlockedKeyring) throws -> UnlockedKeyring {
        // begin
        let command = try SecretCommand("/usr/bin/tpm2_unseal --object-context 0x81000001")
        try unlocked.add(.command(command), label: "machine")
        let again = try keyring.unlock(allowing: [command])
        // end
        return again
    }

    private func literals(_ database: Database, limit: Int) throws {
        // begin
        try database.delete(from: "notes", where: Column("due") < Date() && Column("text") != "keep")
        try database.delete(from: "notes", where: "length(text) > \(limit)")
        // end
    }

    private func manyRows(_ database: Database, _ notes: [Note]) throws {
        // begin
        let insert = try database.prepare("INSERT INTO notes (id, text) VALUES (?, ?)")
        try insert.executeUpdate(forEach: notes) { ($0.id, $0.text) }
        // end
        // begin
        try database.executeUpdate("INSERT INTO notes (id, text) VALUES (?, ?)", forEach: notes) { ($0.id, $0.text) }
        // end
    }

    private func json(_ database: Database, tags: [String], id: Int64) throws {
        // begin
        try database.executeUpdate("UPDATE notes SET tags = \(JSONColumn(tags)) WHERE id = \(id)")
        // end
    }

    private func index(_ database: Database) throws {
        // begin
        try database.createFullTextIndex("found", on: "notes", columns: ["title", "text"])
        guard let pattern = FTS5Pattern(matchingAllTokensIn: "buy stamps") else { return }
        let ids = try database.fetchAll(Int.self, "SELECT rowid FROM found WHERE found MATCH \(pattern) ORDER BY rank")
        // end
        print(ids)
    }

    private func pattern(_ database: Database, typed: String) throws -> [Int] {
        typealias Note = Int
        // begin
        guard let pattern = FTS5Pattern(matchingAllTokensIn: typed) else { return [] }
        let notes = try database.fetchAll(
            Note.self,
            "SELECT notes.* FROM notes JOIN found ON found.rowid = notes.id WHERE found MATCH \(pattern) ORDER BY rank"
        )
        // end
        return notes
    }

    private func eachRow(_ database: Database) throws {
        // begin
        try database.executeQuery("SELECT id, text FROM notes").forEach { row in
            print(try row["text"] as String)
        }
        // end
    }

    private func record(_ database: Database) throws {
        // begin
        struct Note: Codable, RowDecodable, MutablePersistableRecord {
            static let databaseTableName = "notes"
            var id: Int64?
            var text: String
            mutating func didInsert(_ rowID: Int64) { id = rowID }
        }
        var note = Note(text: "milk")
        try note.insert(database)
        let notes = try Note.fetchAll(database, where: Column("text") == "milk")
        // end
        print(notes)
    }

    private func afterCommit(_ queue: DatabaseQueue, _ note: Shown, _ upload: Upload) throws {
        // begin
        try queue.inTransaction { database in
            try note.insert(database)
            try database.afterCommit { upload.start() }
        }
        // end
    }

    private struct Shown: Codable, PersistableRecord {
        static let databaseTableName = "notes"
        var text: String
    }

    private struct Upload: Sendable {
        func start() {}
    }

    private func membership(_ database: Database) throws {
        struct Team: Decodable { var id: Int64 }
        // begin
        struct Membership: Decodable, RowDecodable {
            var name: String
            var team: Team?
        }
        let sql: SQL = "SELECT player.*, \(record: "team"), team.* FROM player LEFT JOIN team USING (team_id)"
        // end
        print(try database.fetchAll(Membership.self, sql))
    }

    private func decodable(_ database: Database) throws {
        // begin
        struct Note: Codable, RowDecodable {
            var id: Int64
            var text: String
            var due: Date?
        }
        let notes = try database.fetchAll(Note.self, "SELECT * FROM notes WHERE due < ?", Date())
        // end
        let note = try #require(notes.first)
        // begin
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
        // end
    }

    private func connections() throws {
        // begin
        let database = Database(path: "vault.db")
        try database.open()
        try database.setKey("correct horse battery staple")
        try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
        // end
    }

    private func pools() async throws {
        // begin
        let pool = try await DatabasePool(path: "vault.db", key: .passphrase("correct horse battery staple"))
        try await pool.write { database in
            try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
        }
        let count = try await pool.read { database in try database.int(forQuery: "SELECT count(*) FROM notes") }
        // end
        print(count ?? 0)
    }

    private func queues() async throws {
        // begin
        let queue = try await DatabaseQueue(path: "vault.db", key: .passphrase("correct horse battery staple"))
        try await queue.inTransaction { database in
            try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
        }
        let count = try await queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        // end
        print(count ?? 0)
    }

    private func keyrings() throws {
        // begin
        let keyring = Keyring(path: "vault.db.keyring")
        let secret = try KeyringSecret.passphrase("correct horse battery staple")
        let queue = try DatabaseQueue(path: "vault.db", key: .keyring(keyring, unlockedBy: secret))
        // end
        try queue.close()
    }

    private func values(_ database: Database, _ note: Note, _ text: String, _ id: Int64) throws {
        // begin
        try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", values: [text, id])
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: ["text": text, "id": id])
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
        // end
        // begin
        try database.executeUpdate("INSERT INTO notes (text) VALUES (\(text))")
        // end
        // begin
        try database.createIndex("notes_by_due", on: "notes", columns: ["due", "id"])
        // end
    }

    private func conditions(_ database: Database, _ id: Int64) throws {
        // begin
        try database.delete(from: "notes", where: Column("list") == id && Column("deleted") != nil)
        // end
    }

    @Test func pathOfBytes() {
        // begin
        let path = String(pathBytes: [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
        let database = Database(path: path)
        // end
        #expect(database.path?.pathBytes == [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
    }
}
