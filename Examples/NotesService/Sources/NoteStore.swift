import CipherDB
import Foundation
import Logging

/// The notes of the service, in an encrypted pool: many requests read at once, and one writes.
struct NoteStore: Sendable {
    struct Note: Codable, RowDecodable, MutablePersistableRecord, Sendable {
        static let databaseTableName = "notes"
        var id: Int64?
        var author: String
        var text: String
        var made: Date?

        mutating func didInsert(_ rowID: Int64) { id = rowID }
    }

    let pool: DatabasePool
    private let health = WriteHealth()

    init(path: String, key: DatabaseKey, logger: Logger) async throws {
        try await self.init(
            DatabasePool(path: path, key: key, configuration: Configuration { $0.logger = logger })
        )
    }

    init(path: String, keyring: Keyring, unlockedBy secret: KeyringSecret, logger: Logger) async throws {
        try await self.init(
            DatabasePool(
                path: path,
                key: .keyring(keyring, unlockedBy: secret),
                configuration: Configuration { $0.logger = logger }
            )
        )
    }

    private init(_ pool: DatabasePool) async throws {
        self.pool = pool
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
                    ColumnDefinition("made", .text, .notNull),
                ]
            )
            try database.createIndex("notes_by_author", on: "notes", columns: ["author", "made"])
        },
        Migration("probe") { database in
            try database.executeStatements("CREATE TABLE probe (id INTEGER PRIMARY KEY, written BLOB NOT NULL)")
        },
    ]

    func add(_ note: Note) async throws -> Note {
        var made = note
        made.id = nil
        made.made = Date()
        let new = made
        return try await health.noting {
            try await pool.write { database in
                var row = new
                try row.insert(database)
                return row
            }
        }
    }

    func note(_ id: Int64) async throws -> Note? {
        try await pool.read { try $0.fetchOne(Note.self, "SELECT * FROM notes WHERE id = ?", id) }
    }

    func notes(by author: String, limit: Int) async throws -> [Note] {
        try await pool.read { database in
            try database.select(
                from: "notes",
                where: Column("author") == author,
                orderedBy: [.descending("made"), .descending("id")],
                limit: limit
            ).fetchAll(Note.self)
        }
    }

    func count() async throws -> Int {
        try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") ?? 0 }
    }

    /// The code of what keeps notes from being read or written; nil for nothing. The probe takes the room of a long note.
    func problem() async -> ResultCode? {
        do {
            _ = try await pool.read { try $0.int(forQuery: "SELECT 1 FROM notes LIMIT 1") }
        } catch {
            return (error as? DatabaseError)?.code ?? .error
        }
        return await health.problem {
            try await pool.write { try $0.executeUpdate("REPLACE INTO probe VALUES (1, randomblob(10000))") }
        }
    }

    func delete(_ id: Int64) async throws -> Bool {
        try await health.noting {
            try await pool.write { try $0.delete(from: "notes", where: Column("id") == id) == 1 }
        }
    }
}
