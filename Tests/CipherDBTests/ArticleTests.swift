import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// The code in the articles and in the comments is the code that stands here, and so compiles.
@Suite struct ArticleTests {
    private struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var text: String
    }

    // MARK: Articles

    private func gettingStarted() throws {
        // begin
        let queue = try DatabaseQueue(path: "vault.db", key: .passphrase("correct horse battery staple"))
        try queue.inTransaction { database in
            try database.executeStatements("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT)")
            try database.executeUpdate("INSERT INTO notes (text) VALUES (?)", "remember the milk")
        }
        let texts = try queue.inDatabase { try $0.fetchAll(String.self, "SELECT text FROM notes") }
        // end
        print(texts)
    }

    private func rowsAsTypes(_ database: Database) throws {
        // begin
        struct Note: Codable, RowDecodable, Sendable {
            var id: Int64?
            var text: String
            var due: Date?
            var tags: [String]
        }
        var note = Note(text: "buy stamps", tags: ["post"])
        note.id = try database.insert(into: "notes", encoding: note)
        let notes = try database.fetchAll(Note.self, "SELECT * FROM notes WHERE due < ?", Date())
        let one = try database.fetchOne(Note.self, "SELECT * FROM notes WHERE id = ?", note.id)
        note.tags.append("today")
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
        // end
        print(notes.count, one?.text ?? "")
    }

    private func byHand(_ database: Database) throws {
        // begin
        struct Title: RowDecodable {
            let id: Int64
            let text: String

            init(row: ResultSet) throws {
                id = try row[0]
                text = try row[1]
            }
        }
        let rows = try database.executeQuery("SELECT id, text FROM notes")
        while let title = try rows.next(as: Title.self) { print(title.id, title.text) }
        // end
    }

    private func tables(_ database: Database) throws {
        // begin
        try database.createTable(
            "folders",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey),
                ColumnDefinition("name", .text, .notNull, .unique, .collate("NOCASE")),
            ]
        )
        try database.insert(into: "folders", ["name": "work"])
        let open = try database.select(
            from: "notes",
            where: Column("folder") == 3 && Column("due") != nil,
            orderedBy: [.ascending("due")],
            limit: 20
        ).fetchAll(Note.self)
        try database.update("notes", set: ["folder": nil], where: Column("id").isIn([1, 2, 3]))
        try database.delete(from: "notes", where: Column("due") < Date() || .sql("length(text) = 0"))
        try database.deleteAll(from: "notes")
        // end
        print(open.count)
        // begin
        let word = "%stamps%"
        let rows = try database.executeQuery("SELECT * FROM notes WHERE text LIKE \(word)")
        let found = try rows.fetchAll(Note.self)
        // end
        print(found.count)
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

    private func found(_ database: Database) throws -> Note? {
        // begin
        let note = try database.find(Note.self, in: "notes", id: 7)
        // end
        return note
    }

    private func migrations(_ pool: DatabasePool) throws {
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

    private func show(_ notes: [Note]) {}

    private func observation(_ pool: DatabasePool) async throws {
        // begin
        for try await notes in pool.observe({ try $0.fetchAll(Note.self, "SELECT * FROM notes") }) {
            show(notes)
        }
        // end
    }

    private func changes(_ pool: DatabasePool) async {
        // begin
        for await change in pool.tableChanges(of: ["notes", "folders"]) {
            if change.changesSchema || change.tables.contains("notes") { print("read the notes again") }
        }
        for await commit in pool.commits() { print(commit.tables, commit.changesSchema) }
        // end
    }

    private func keys() throws {
        // begin
        let typed = try DatabaseKey.passphrase("correct horse battery staple")
        let random = try DatabaseKey.random()
        let spelled = try DatabaseKey.raw(hex: "2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99")
        // end
        print(typed, random, spelled)
    }

    private func sources() throws {
        // begin
        let secret = try KeySource.prompt("Passphrase: ", confirmed: false).readPassphrase()
        let queue = try DatabaseQueue(path: "vault.db", key: secret)
        // end
        try queue.close()
    }

    private func concurrency(_ pool: DatabasePool) async throws {
        // begin
        try await pool.write { try $0.executeUpdate("INSERT INTO notes (text) VALUES (?)", "buy stamps") }
        let count = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
        // end
        print(count ?? 0)
    }

    private func errors(path: String, passphrase: String) throws -> DatabaseQueue? {
        // begin
        do {
            return try DatabaseQueue(path: path, key: .passphrase(passphrase))
        } catch KeyError.wrongKey {
            return nil
        }
        // end
    }

    private func engines(_ database: Database) throws {
        // begin
        if Engine.current.has(.upsert) {
            try database.upsert(into: "settings", ["name": "theme", "value": "dark"], onConflict: "name")
        }
        print(Engine.current.sqlcipherVersion ?? "no SQLCipher", Engine.current.formats)
        // end
    }

    private func formats(passphrase: String) throws {
        // begin
        let format = try CipherFormat.v4.with(iterations: 1_000_000)
        let configuration = Configuration { $0.format = format }
        let queue = try DatabaseQueue(path: "vault.db", key: .passphrase(passphrase), configuration: configuration)
        // end
        try queue.close()
    }

    // MARK: Comments

    private func conditions(_ database: Database, id: Int) throws {
        // begin
        try database.delete(from: "notes", where: Column("folder") == id && Column("deleted") != nil)
        // end
        // begin
        try database.createTable(
            "notes",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey),
                ColumnDefinition("text", .text, .notNull),
                ColumnDefinition("folder", .integer, .references("folders", onDelete: .cascade)),
            ]
        )
        // end
    }

    private func json(_ database: Database, tags: [String], id: Int64) throws {
        // begin
        try database.executeUpdate("UPDATE notes SET tags = \(JSONColumn(tags)) WHERE id = \(id)")
        // end
    }

    private func joins(_ database: Database) throws {
        // begin
        struct Membership: Decodable, RowDecodable {
            struct Team: Decodable { var id: Int64, name: String }
            var name: String
            var team: Team?
        }
        let columns = try database.columns(of: "team", prefix: "team")
        let members = try database.fetchAll(
            Membership.self,
            "SELECT player.name, \(sql: columns) FROM player LEFT JOIN team ON team.id = player.team_id"
        )
        // end
        print(members)
    }

    private func search(_ database: Database, typed: String) throws {
        struct Note: Decodable, RowDecodable { var id: Int64 }
        // begin
        try database.createFullTextIndex("notes_found", on: "notes", columns: ["text"], tokenizer: "porter unicode61")
        if let pattern = FTS5Pattern(matchingAllPrefixesIn: typed) {
            let found = try database.fetchAll(
                Note.self,
                """
                SELECT notes.* FROM notes JOIN notes_found ON notes_found.rowid = notes.id
                WHERE notes_found MATCH \(pattern) ORDER BY rank LIMIT 20
                """
            )
            print(found.count)
        }
        // end
    }

    private func index(_ database: Database) throws {
        // begin
        try database.createFullTextIndex("found", on: "notes", columns: ["title", "text"])
        let pattern = FTS5Pattern(matchingAllTokensIn: "buy stamps")
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

    private func membership(_ database: Database) throws {
        struct Team: Decodable { var id: Int64 }
        // begin
        struct Membership: Decodable, RowDecodable {
            var name: String
            var team: Team?
        }
        let columns = try database.columns(of: "team", prefix: "team")
        let sql: SQL = "SELECT player.name, \(sql: columns) FROM player LEFT JOIN team USING (team_id)"
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
        try keyring.create(with: secret, label: "Ada")
        let queue = try DatabaseQueue(path: "vault.db", keyring: keyring, unlockedBy: secret)
        // end
        try queue.close()
    }

    // MARK: The comparison

    private static func files(_ folder: String, _ suffix: String) throws -> [String] {
        let root = Program.packageFolder + "/" + folder
        return try FileManager.default.subpathsOfDirectory(atPath: root).filter { $0.hasSuffix(suffix) }.map {
            root + "/" + $0
        }
    }

    /// The lines of the blocks of code in a text, without what they are indented by.
    private static func blocks(in lines: [Substring], from begin: String, to end: String) -> [String] {
        var found: [String] = []
        var block: [Substring]?
        for line in lines {
            let trimmed = line.drop { $0 == " " }
            if trimmed == begin {
                block = []
            } else if trimmed == end, let lines = block {
                let indent = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                found.append(lines.map { $0.dropFirst(indent) }.joined(separator: "\n"))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return found
    }

    private static func lines(_ path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
    }

    private func conditions(_ database: Database, _ id: Int64) throws {
        // begin
        try database.delete(from: "notes", where: Column("folder") == id && Column("deleted") != nil)
        // end
    }

    @Test func pathOfBytes() {
        // begin
        let path = String(pathBytes: [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
        let database = Database(path: path)
        // end
        #expect(database.path?.pathBytes == [0x6F, 0x75, 0x74, 0xFF, 0x2E, 0x64, 0x62])
    }

    @Test func articleCodeCompiles() throws {
        let here = Set(Self.blocks(in: try Self.lines(#filePath), from: "// begin", to: "// end"))
        var shown: [String] = []
        for path in try Self.files("Sources/CipherDB/CipherDB.docc", ".md") {
            shown += Self.blocks(in: try Self.lines(path), from: "```swift", to: "```")
        }
        let inArticles = shown.count
        for path in try Self.files("Sources", ".swift") + Self.files("Keys", ".swift") {
            let comments = try Self.lines(path).map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("///") }
            shown += Self.blocks(
                in: comments.map { $0.dropFirst($0.hasPrefix("/// ") ? 4 : 3) },
                from: "```swift",
                to: "```"
            )
        }
        #expect(inArticles >= 12 && shown.count - inArticles >= 10)
        for block in shown {
            let stands = here.contains(block)
            #expect(stands, "\(block)")
        }
    }
}
