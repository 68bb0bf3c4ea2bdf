import CipherDB
import Foundation

/// The notes of the service, in an encrypted pool: many requests read at once, and one writes.
struct NoteStore: Sendable {
    struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var author: String
        var text: String
        var made: Date?
    }

    let pool: DatabasePool

    init(path: String, key: DatabaseKey) async throws {
        pool = try await DatabasePool(path: path, key: key)
        try await pool.migrate(Self.steps)
    }

    private static let steps = [
        Migration("notes") { database in
            try database.createTable(
                "notes",
                columns: [
                    ColumnDefinition("id", .integer, .primaryKey),
                    ColumnDefinition("author", .text, .notNull),
                    ColumnDefinition("text", .text, .notNull, .check("length(text) BETWEEN 1 AND 10000")),
                    ColumnDefinition("made", .real, .notNull),
                ]
            )
            try database.executeStatements("CREATE INDEX notes_by_author ON notes (author, made)")
        }
    ]

    func add(_ note: Note) async throws -> Note {
        var made = note
        made.id = nil
        made.made = Date()
        let row = made
        let id = try await pool.write { try $0.insert(into: "notes", encoding: row) }
        made.id = id
        return made
    }

    func note(_ id: Int64) async throws -> Note? {
        try await pool.read { try $0.fetchOne(Note.self, "SELECT * FROM notes WHERE id = ?", id) }
    }

    func notes(by author: String, limit: Int) async throws -> [Note] {
        try await pool.read { database in
            try database.select(
                from: "notes",
                where: .equal("author", author),
                orderedBy: [.descending("made")],
                limit: limit
            ).fetchAll(Note.self)
        }
    }

    func count() async throws -> Int {
        try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") ?? 0 }
    }

    func delete(_ id: Int64) async throws -> Bool {
        try await pool.write { try $0.delete(from: "notes", where: .equal("id", id)) == 1 }
    }
}
