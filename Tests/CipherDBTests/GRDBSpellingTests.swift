import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// What code of GRDB says in its own words, or in the nearest ones here.
@Suite struct GRDBSpellingTests {
    struct Player: Codable, RowDecodable, MutablePersistableRecord, Equatable {
        enum Columns {
            static let name = Column(CodingKeys.name)
            static let teamID = Column(CodingKeys.teamID)
        }
        var id: Int64?
        var name: String
        var teamID: Int64?
        mutating func didInsert(_ rowID: Int64) { id = rowID }
    }

    struct Team: RowDecodable, PersistableRecord, Equatable {
        enum Columns { static let id = Column("id"), name = Column("name") }
        var id: Int64
        var name: String?

        init(id: Int64, name: String?) {
            (self.id, self.name) = (id, name)
        }

        init(row: ResultSet) throws {
            id = try row[Columns.id]
            name = try row[Columns.name]
        }

        func encode(to container: inout PersistenceContainer) {
            container[Columns.id] = id
            container[Columns.name] = name
        }
    }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL, teamID INTEGER REFERENCES team)
            """
        )
        for team in [Team(id: 1, name: "red"), Team(id: 2, name: nil)] { try team.insert(database) }
        for (name, team) in [("Ada", 1), ("Bo", 2), ("red", nil)] as [(String, Int64?)] {
            var player = Player(name: name, teamID: team)
            try player.insert(database)
        }
    }

    @Test func columnIsNamedByCodingKey() throws {
        #expect(try Player.fetchAll(database, where: Player.Columns.name == "Bo").map(\.teamID) == [2])
        let rows = try database.fetchAll(Row.self, "SELECT * FROM player ORDER BY id")
        #expect(try rows.map { try $0[Player.Columns.teamID] as Int64? } == [1, 2, nil])
        #expect(throws: DatabaseError.self) { try rows[0][Column("titel")] as String }
        #expect(
            try Team.fetchAll(database, orderedBy: [.ascending("id")]) == [
                Team(id: 1, name: "red"), Team(id: 2, name: nil),
            ]
        )
    }

    @Test func tableHasNameOfType() throws {
        struct HTTPRequest: TableRecord {}
        struct TOEFL: TableRecord {}
        struct Box<Value>: TableRecord {}
        struct SearchTag: TableRecord {}
        struct place: TableRecord {}
        #expect(Player.databaseTableName == "player" && Team.databaseTableName == "team")
        #expect(HTTPRequest.databaseTableName == "httpRequest" && TOEFL.databaseTableName == "toefl")
        #expect(Box<Int>.databaseTableName == "box" && SearchTag.databaseTableName == "searchTag")
        #expect(place.databaseTableName == "place")
        #expect(RecordTests.Player.databaseTableName == "player", "a name that the type has is not changed")
    }

    @Test func columnOfJoinNamesItsTable() throws {
        func names(_ condition: Condition) throws -> [String] {
            try database.fetchAll(
                String.self,
                "SELECT p.name FROM player AS p LEFT JOIN team ON team.id = p.teamID WHERE \(condition) ORDER BY p.id"
            )
        }
        #expect(try names(Column("name", of: "team") == "red") == ["Ada"])
        #expect(try names(Column("name", of: "p") == "red") == ["red"])
        #expect(try names(Column("name", of: "team") == nil && Column("id", of: "p") < 3) == ["Bo"])
        #expect(try names(Column("id", of: "team") == Column("id", of: "p")) == ["Ada", "Bo"])
        #expect(throws: DatabaseError.self) { try names(Column("name") == "red") }
        #expect(throws: DatabaseError.self) { try names(Column("titel", of: "team") == "red") }
        #expect(try Player.fetchCount(database, where: Column("name", of: "player") == "red") == 1)
    }

    @Test func nothingIsLikeNil() throws {
        let (word, none): (String?, String?) = ("%d%", nil)
        #expect(try Player.fetchCount(database, where: Column("name").like(word)) == 2)
        #expect(try Player.fetchCount(database, where: Column("name").like(none)) == 0)
    }

    @Test func constraintIsSQL() throws {
        try database.createTable(
            "tag",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey, .sql("ON CONFLICT REPLACE")),
                ColumnDefinition("text", .text, .notNull, .unique, .sql("ON CONFLICT IGNORE")),
            ]
        )
        try database.createTable(
            "seat",
            columns: [
                ColumnDefinition("line", .integer), ColumnDefinition("number", .integer),
                ColumnDefinition("name", .text),
            ],
            constraints: [.sql("PRIMARY KEY (line, number) ON CONFLICT REPLACE"), .sql("CHECK (number < \(10))")]
        )
        for (id, text) in [(1, "a"), (1, "b"), (2, "b")] {
            try database.insert(into: "tag", ["id": id, "text": text])
        }
        #expect(try database.fetchAll(String.self, "SELECT id || text FROM tag") == ["1b"])
        for name in ["a", "b"] { try database.insert(into: "seat", ["line": 1, "number": 2, "name": name]) }
        #expect(try database.fetchAll(String.self, "SELECT name FROM seat") == ["b"])
        #expect { try database.insert(into: "seat", ["line": 1, "number": 10]) } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
    }

    @Test func codingKeysAreSmallLetters() throws {
        struct Feed: Codable, RowDecodable, MutablePersistableRecord, Equatable {
            var id: Int64?
            var baseURL: String
            var lastReadAt: Int?
            var oldName = "x"
            mutating func didInsert(_ rowID: Int64) { id = rowID }
        }
        struct Item: Decodable, RowDecodable {
            var itemTitle: String
            var ownFeed: Feed?
        }
        let configuration = Configuration { $0.storage.columnsAreSnakeCase = true }
        for key in [
            "name", "baseURL", "isMP3file", "userID2name", "v2API3x", "ID", "URLSession", "HTTPRequestURL",
            "snake_Case", "x__Y", "a", "ÄrgerÜber",
        ] {
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            let text = try String(decoding: encoder.encode(AnyKey(stringValue: key)), as: UTF8.self)
            #expect(text == "{\"\(key.snakeCase)\":1}")
        }
        let database = Database(path: nil, configuration: configuration)
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE feed (id INTEGER PRIMARY KEY, base_url TEXT UNIQUE, last_read_at INTEGER, old_name TEXT);
            CREATE TABLE item (item_title TEXT, feed_id INTEGER); INSERT INTO item VALUES ('a', 1), ('b', 2)
            """
        )
        var feed = Feed(baseURL: "here", lastReadAt: 1)
        try feed.insert(database)
        #expect(feed.id == 1)
        #expect(try feed.updateChanges(database) { $0.lastReadAt = nil } && feed.exists(database))
        #expect(try Feed.fetchAll(database, where: Column("last_read_at") == nil) == [feed])
        feed.baseURL = "there"
        try feed.save(database)
        #expect(try database.string(forQuery: "SELECT base_url || old_name FROM feed") == "therex")
        try database.executeUpdate(
            "UPDATE feed SET last_read_at = 5 WHERE base_url = :base_url",
            values: .encoding(feed)
        )
        #expect(try Feed.find(database, key: 1).lastReadAt == 5)
        let items = try database.fetchAll(
            Item.self,
            "SELECT item_title, \(record: "ownFeed"), feed.* FROM item LEFT JOIN feed ON feed.id = feed_id ORDER BY 1"
        )
        #expect(items.map(\.itemTitle) == ["a", "b"] && items.map(\.ownFeed?.baseURL) == ["there", nil])
        #expect(try database.fetchOne(Row.self, "SELECT * FROM feed")?.decode(Feed.self).lastReadAt == 5)
        #expect(throws: DatabaseError.self) { try database.executeUpdate("SELECT :no_key", values: .encoding(feed)) }
    }
}

/// Encodes 1 under one key.
private struct AnyKey: CodingKey, Encodable {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: self)
    }
}
