import CipherDB
import Foundation
import TestSupport
import Testing

/// The code in README.md is the code that stands here, and so compiles.
@Suite struct ReadmeTests {
    private func hello() throws {
        // begin
        let queue = try DatabaseQueue(path: "vault.db", key: .passphrase("correct horse battery staple"))
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
            try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
        }
        try queue.inDatabase { database in
            let rows = try database.executeQuery("SELECT id, text FROM notes")
            while try rows.next() { print(try rows.int(forColumn: "id")!, try rows.string(forColumn: "text")!) }
        }
        // end
    }

    private func ownConnection() throws {
        // begin
        let database = Database(path: "vault.db")
        try database.open()
        try database.setKey("correct horse battery staple")
        try database.executeUpdate(
            "INSERT INTO notes (text) VALUES (:text)",
            values: ["text": "call home"]
        )
        try database.rekey("a better passphrase")
        database.close()
        // end
    }

    private func inParallel() async throws {
        // begin
        let pool = try await DatabasePool(path: "vault.db", key: .passphrase("correct horse battery staple"))
        try await pool.write { try $0.executeUpdate("INSERT INTO notes (text) VALUES (?)", "buy stamps") }
        let count = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        try await pool.rekey(.passphrase("a better passphrase"))
        // end
        print(count ?? 0)
    }

    private func keyrings() throws {
        // begin
        let keyring = Keyring(path: "vault.db.keyring")
        try keyring.create(with: .passphrase("correct horse battery staple"), label: "Ada")
        let queue = try DatabaseQueue(
            path: "vault.db",
            keyring: keyring,
            unlockedBy: .passphrase("correct horse battery staple")
        )
        let unlocked = try keyring.unlock(.passphrase("correct horse battery staple"))
        try unlocked.add(.passphrase("Bob's own passphrase"), label: "Bob")
        try keyring.change(.passphrase("correct horse battery staple"), to: .passphrase("a better passphrase"))
        for slot in try keyring.slots() { print(slot.number, slot.label) }
        try queue.rotateKey(of: unlocked)
        // end
    }

    private func blobAndBackup(_ pool: DatabasePool) throws {
        // begin
        try pool.write { database in
            let blob = try database.openBlob(inTable: "files", column: "data", row: 1, writable: true)
            try blob.write(Data([1, 2, 3]), at: 0)
            try blob.close()
        }
        try pool.backup(to: "copy.db", key: .passphrase("another passphrase")) { progress in
            print(progress.remaining, "of", progress.total, "pages to go")
        }
        // end
    }

    private func everydayUse(_ pool: DatabasePool) async throws {
        // begin
        struct Note: Codable, RowDecodable, Sendable {
            var id: Int64?
            var text: String
            var due: Date?
        }
        let steps = [
            Migration("notes") { database in
                try database.createTable(
                    "notes",
                    columns: [
                        ColumnDefinition("id", .integer, .primaryKey),
                        ColumnDefinition("text", .text, .notNull),
                        ColumnDefinition("due", .text),
                    ]
                )
            }
        ]
        try await pool.migrate(steps)
        try await pool.write { try $0.insert(into: "notes", encoding: Note(text: "buy stamps", due: Date())) }
        let late = try await pool.read { database in
            try database.select(from: "notes", where: Column("due") < Date(), orderedBy: [.ascending("due")])
                .fetchAll(Note.self)
        }
        let coming = pool.observe { try $0.fetchAll(Note.self, "SELECT * FROM notes WHERE due > ?", Date()) }
        for try await notes in coming { print(notes.count, "to come") }
        // end
        print(late.count)
    }

    private struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var text: String
        var due: Date?
    }

    private func typedCalls(_ pool: DatabasePool) throws {
        // begin
        try pool.write { database in
            try database.createIndex("tags_by_name", on: "tags", columns: ["name"], unique: true)
            try database.upsert(into: "tags", ["name": "home", "color": "green"], onConflict: "name")
            let isNew = try database.insertOrIgnore(into: "tags", ["name": "work"]) != nil
            try database.update("notes", set: ["due": nil], where: Column("due") < Date() && Column("text") != "")
            let open = try database.count(in: "notes", where: Column("id").between(1, 99) && Column("due") != nil)
            let note = try database.find(Note.self, in: "notes", id: 7)
            let latest: Int64? = try database.value(forQuery: "SELECT max(id) FROM notes WHERE text LIKE ?", "%milk%")
            print(isNew, open, note?.text ?? "", latest ?? 0)
        }
        // end
    }

    @Test func readmeCodeCompiles() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        let readme = try String(contentsOfFile: Program.packageFolder + "/README.md", encoding: .utf8)
        let blocks = source.components(separatedBy: "// begin\n").dropFirst()
            .compactMap { $0.components(separatedBy: "        // end").first }
            .map { $0.split(separator: "\n").map { $0.dropFirst(8) }.joined(separator: "\n") }
        #expect(blocks.count == 7)
        for block in blocks { #expect(readme.contains(block), "\(block)") }
    }
}
