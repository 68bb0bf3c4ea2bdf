import CipherDB
import Foundation

/// The code of the article about tables, migrations and observation.
private struct TablesCode {
    struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var text: String
    }

    func tables(_ database: Database) throws {
        // begin
        try database.createTable(
            "lists",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey),
                ColumnDefinition("name", .text, .notNull, .unique, .collate("NOCASE")),
            ]
        )
        try database.createIndex("notes_by_list", on: "notes", columns: ["list", "due"])
        try database.insert(into: "lists", ["name": "work"])
        try database.upsert(into: "lists", ["name": "work", "color": "green"], onConflict: "name")
        let isNew = try database.insertOrIgnore(into: "lists", ["name": "home"]) != nil
        let open = try database.select(
            from: "notes",
            where: Column("list") == 3 && Column("due") != nil,
            orderedBy: [.ascending("due")],
            limit: 20
        ).fetchAll(Note.self)
        let count = try database.count(in: "notes", where: Column("id").between(1, 99))
        let note = try database.select(from: "notes", where: Column("id") == 7).fetchOne(Note.self)
        try database.update("notes", set: ["list": nil], where: Column("id").isIn([1, 2, 3]))
        try database.delete(from: "notes", where: Column("due") < Date() || "length(text) = 0")
        try database.deleteAll(from: "notes")
        // end
        print(open.count, isNew, count, note?.text ?? "")
    }

    func migrations(_ pool: DatabasePool) throws {
        // begin
        let steps = [
            Migration("notes") { database in
                try database.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            },
            Migration("notes have a due date") { database in
                try database.executeStatements("ALTER TABLE notes ADD COLUMN due TEXT")
            },
        ]
        try pool.migrate(steps)
        // end
    }

    func show(_ notes: [Note]) {}

    func observation(_ pool: DatabasePool) async throws {
        // begin
        for try await notes in pool.observe({ try $0.fetchAll(Note.self, "SELECT * FROM notes") }) {
            show(notes)
        }
        // end
    }

    // begin
    @MainActor final class NotesModel {
        private(set) var notes: [Note] = []

        func follow(_ pool: DatabasePool) async throws {
            for try await notes in pool.observe({ try $0.fetchAll(Note.self, "SELECT * FROM notes") }) {
                self.notes = notes
            }
        }
    }
    // end

    func changes(_ pool: DatabasePool) async {
        // begin
        for await change in pool.tableChanges(of: ["notes", "lists"]) {
            if change.changesSchema || change.tables.contains("notes") { print("read the notes again") }
        }
        for await commit in pool.commits() { print(commit.tables, commit.changesSchema) }
        // end
    }
}
