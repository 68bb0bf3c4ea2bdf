import CipherDB
import Foundation

/// The entries of a vault, in an encrypted database whose key a keyring holds.
struct VaultStore {
    struct Entry: Codable, RowDecodable, PersistableRecord {
        static let databaseTableName = "entries"
        var name: String
        var user: String
        var secret: Data
        var note: String?
    }

    let queue: DatabaseQueue

    init(path: String, keyring: UnlockedKeyring) throws {
        queue = try DatabaseQueue(path: path, key: keyring)
        try queue.migrate(Self.steps)
    }

    private static let steps = [
        Migration("entries") { database in
            try database.createTable(
                "entries",
                columns: [
                    ColumnDefinition("name", .text, .primaryKey, .notNull, .collate("NOCASE")),
                    ColumnDefinition("user", .text, .notNull),
                    ColumnDefinition("secret", .blob, .notNull),
                ],
                withoutRowID: true
            )
        },
        Migration("entries have notes") { try $0.executeStatements("ALTER TABLE entries ADD COLUMN note TEXT") },
    ]

    func add(_ entry: Entry) throws {
        try queue.inDatabase { try entry.insert($0) }
    }

    func entry(named name: String) throws -> Entry? {
        try queue.inDatabase { try $0.fetchOne(Entry.self, "SELECT * FROM entries WHERE name = ?", name) }
    }

    /// Those whose name, user or note has the word in it; all of them without a word.
    func entries(with word: String?) throws -> [Entry] {
        try queue.inDatabase { database in
            let pattern = "%\(word ?? "")%"
            let found = Column("name").like(pattern) || Column("user").like(pattern) || Column("note").like(pattern)
            return try database.select(
                from: "entries",
                where: word == nil ? nil : found,
                orderedBy: [.ascending("name")]
            )
            .fetchAll(Entry.self)
        }
    }

    func remove(_ name: String) throws -> Bool {
        try queue.inDatabase { try $0.delete(from: "entries", where: Column("name") == name) == 1 }
    }
}
