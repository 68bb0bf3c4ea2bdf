import CipherDB
import Foundation

/// The code of the article about queries and rows.
private struct QueriesCode {
    struct Note: Codable, RowDecodable, Sendable {
        var id: Int64?
        var text: String
    }

    func values(_ database: Database, _ note: Note, _ text: String, _ id: Int64) throws {
        // begin
        try database.executeUpdate("UPDATE notes SET text = \(text) WHERE id = \(id)")
        try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", text, id)
        try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", values: [text, id])
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: ["text": text, "id": id])
        try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
        // end
    }

    func names(_ database: Database, column: String, table: TableName, ids: [Int], pattern: String) throws {
        // begin
        let count = try database.int(
            forQuery: "SELECT count(\(identifier: column)) FROM \(identifier: table) WHERE id IN (\(list: ids))"
        )
        let latest: Int64? = try database.value(forQuery: "SELECT max(id) FROM notes WHERE text LIKE \(pattern)")
        // end
        print(count ?? 0, latest ?? 0)
    }

    func rowsAsTypes(_ database: Database) throws {
        // begin
        struct Note: Codable, RowDecodable, Sendable {
            var id: Int64?
            var text: String
            var due: Date?
            var tags: [String]
        }
        var note = Note(text: "buy stamps", tags: ["post"])
        try database.executeUpdate("INSERT INTO notes (text, tags) VALUES (:text, :tags)", values: .encoding(note))
        note.id = database.lastInsertRowID
        let notes = try database.fetchAll(Note.self, "SELECT * FROM notes WHERE due < ?", Date())
        let one = try database.fetchOne(Note.self, "SELECT * FROM notes WHERE id = ?", note.id)
        // end
        print(notes.count, one?.text ?? "")
    }

    func enumerations(_ database: Database) throws {
        // begin
        enum State: String, Codable, ColumnEncodable, ColumnDecodable { case open, done }
        let state: State? = try database.value(forQuery: "SELECT state FROM notes WHERE state <> \(State.done)")
        // end
        print(state ?? .open)
    }

    func byHand(_ database: Database) throws {
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

    func storage() -> Configuration {
        // begin
        let configuration = Configuration {
            $0.storage.uuids = .blob
            $0.storage.datesInJSON = .millisecondsSince1970
        }
        // end
        return configuration
    }

    func joins(_ database: Database) throws {
        // begin
        struct Membership: Decodable, RowDecodable {
            struct Team: Decodable { var id: Int64, name: String }
            var name: String
            var team: Team?
        }
        let members = try database.fetchAll(
            Membership.self,
            "SELECT player.name, \(record: "team"), team.* FROM player LEFT JOIN team ON team.id = player.team_id"
        )
        // end
        print(members)
    }

    func toMany(_ database: Database) throws {
        struct Team: Decodable, RowDecodable { var id: Int64, name: String }
        struct Player: Decodable, RowDecodable { var name: String, team: Int64 }
        // begin
        let teams = try database.fetchAll(Team.self, "SELECT * FROM team")
        let players = try database.fetchAll(
            Player.self,
            "SELECT * FROM player WHERE team IN (\(list: teams.map(\.id)))"
        )
        let playersOfTeam = Dictionary(grouping: players, by: \.team)
        // end
        print(playersOfTeam)
    }

    func search(_ database: Database, typed: String) throws {
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

    func blob(_ database: Database) throws {
        // begin
        let blob = try database.openBlob(inTable: "files", column: "data", row: 1, writable: true)
        try blob.write(Data([1, 2, 3]), at: 0)
        try blob.close()
        // end
    }
}
