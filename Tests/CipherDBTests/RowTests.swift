import CipherDB
import Foundation
import TestSupport
import Testing

/// Rows as values of the program's own types.
@Suite struct RowTests {
    struct Event: Codable, RowDecodable, Equatable { var at: Date }
    struct Twins: Codable, RowDecodable, Equatable { var x: Int, id: Int }
    enum Kind: String, Codable { case letter, parcel }
    struct Size: Codable, Equatable { var width: Int, height: Int }

    struct Item: Codable, RowDecodable, PersistableRecord, Equatable {
        static let databaseTableName = "items"
        var id: Int64
        var name: String
        var kind: Kind
        var weight: Double?
        var sent: Date
        var token: UUID
        var content: Data
        var flags: [UInt8]?
        var isOpen: Bool
        var size: JSONColumn<Size>
        var tags: JSONColumn<[String]>?
        var parent: Int32??

        enum CodingKeys: String, CodingKey {
            case id, kind, weight, sent, token, content, flags, size, tags, parent
            case name = "full_name"
            case isOpen = "is_open"
        }
    }

    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements(
            """
            CREATE TABLE items (id INTEGER PRIMARY KEY, full_name TEXT, kind TEXT, weight REAL, sent REAL, token TEXT, content BLOB,
            flags BLOB, is_open INTEGER, size TEXT, tags TEXT, parent INTEGER)
            """
        )
    }

    static func item(_ id: Int64) -> Item {
        Item(
            id: id,
            name: "Ümläut '\(id)'",
            kind: id % 2 == 0 ? .letter : .parcel,
            weight: id % 3 == 0 ? nil : Double(id) / 7,
            sent: Date(timeIntervalSince1970: 1_000_000.5 * Double(id)),
            token: UUID(),
            content: Data([0, UInt8(truncatingIfNeeded: id)]),
            flags: id % 2 == 0 ? [] : nil,
            isOpen: id % 2 == 1,
            size: JSONColumn(Size(width: Int(id), height: 2)),
            tags: id % 4 == 0 ? nil : JSONColumn(["a/b", "\(id)"]),
            parent: id % 5 == 0 ? nil : .some(7)
        )
    }

    /// To Swift both are one name.
    @Test func columnsDifferByBytesOfNames() throws {
        let database = Database(path: nil)
        try database.open()
        let rows = try database.executeQuery(
            "SELECT 1 AS \(identifier: "cafe\u{301}"), 2 AS \(identifier: "caf\u{e9}")"
        )
        #expect(try rows.next())
        for _ in 0..<2 {
            #expect(try rows.int(forColumn: "caf\u{e9}") == 2 && rows.int(forColumn: "cafe\u{301}") == 1)
        }
    }

    @Test func dictionaryOfFailedQueryIsError() throws {
        let rows = try database.executeQuery("SELECT abs(-9223372036854775808)")
        #expect(throws: DatabaseError.self) { try rows.resultDictionary }
    }

    @Test func encodedValueDecodesEqual() throws {
        let items = (1...40).map { Self.item($0) }
        for item in items { try item.insert(database) }
        #expect(try database.fetchAll(Item.self, "SELECT * FROM items ORDER BY id") == items)
        // The order of the columns does not matter, nor those that no key names.
        let turned: SQL =
            "SELECT 1 AS other, tags, size, parent, is_open, flags, content, token, sent, weight, kind, full_name, id FROM items"
        #expect(try database.fetchAll(Item.self, turned + " ORDER BY id") == items)
        #expect(try database.fetchOne(Item.self, "SELECT * FROM items WHERE id = ?", 3) == items[2])
        #expect(try database.fetchOne(Item.self, "SELECT * FROM items WHERE id = ?", 300) == nil)
        let stored = try database.executeQuery("SELECT typeof(sent), tags, size FROM items WHERE id = 3")
        _ = try stored.next()
        #expect(try stored[0] == "text")
        #expect(try stored[1] == #"["a/b","3"]"#)
        #expect(try stored[2] == #"{"height":2,"width":3}"#)
    }

    @Test func rowsAreReadOneAtTime() throws {
        for id in 1...5 { try Self.item(Int64(id)).insert(database) }
        try database.executeUpdate("UPDATE items SET kind = 'pigeon' WHERE id = 3")
        let rows = try database.executeQuery("SELECT * FROM items ORDER BY id")
        #expect(try rows.next(as: Item.self)?.id == 1)
        #expect(try rows.next(as: Item.self)?.id == 2)
        #expect { try rows.next(as: Item.self) } throws: {
            "\($0)".contains("row 3, as Item: column 2 (kind) holds text that is not a case of Kind")
        }
        enum Bird: String, ColumnEncodable, ColumnDecodable { case parrot }
        #expect { try database.fetchAll(Bird.self, "SELECT kind AS bird FROM items WHERE id = 3") } throws: {
            "\($0)".contains("column 0 (bird) holds text that is not a case of Bird") && !"\($0)".contains("pigeon")
        }
        // The next row can be read all the same.
        #expect(try rows.next(as: Item.self)?.id == 4)
        #expect(try rows.fetchAll(Item.self).map(\.id) == [5])
        #expect(throws: DatabaseError.self) { try rows.next(as: Item.self) }
    }

    @Test func nextOfOptionalResultSetIsNotValue() throws {
        let rows: ResultSet? = try database.executeQuery("SELECT 0")
        #expect(try rows?.next() == true)
        #expect(try rows?.next() == false)
    }

    @Test func oneColumnIsReadAsItsType() throws {
        #expect(try database.fetchAll(Int.self, "SELECT 3 UNION SELECT 1 ORDER BY 1") == [1, 3])
        #expect(try database.fetchAll(Int?.self, "SELECT NULL UNION ALL SELECT 1") == [nil, 1])
        #expect(try database.fetchOne(String.self, "SELECT 'x'") == "x")
        #expect(try database.fetchOne(ByteArray.self, "SELECT x'0102'")?.bytes == [1, 2])
        #expect(try database.fetchOne(Float.self, "SELECT 1.5") == 1.5)
        #expect(try database.executeQuery("SELECT 'parcel'").fetchAll(Parcel.self) == [Parcel(kind: .parcel)])
        #expect(try database.fetchOne(Int.self, "SELECT NULL") == nil)
        #expect { try database.fetchAll(Int.self, "SELECT NULL AS n") } throws: {
            "\($0)".contains("row 1, as Int: column 0 (n) holds null, not Int")
        }
    }

    /// A type that is one value to its coder.
    struct Parcel: Codable, RowDecodable, Equatable {
        var kind: Kind
        init(kind: Kind) { self.kind = kind }
        init(from decoder: any Decoder) throws { kind = try decoder.singleValueContainer().decode(Kind.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(kind)
        }
    }

    struct ByHand: RowDecodable {
        let id: Int
        let name: String
        init(row: ResultSet) throws {
            id = try row[0]
            name = try row["full_name"]
        }
    }

    @Test func initialiserByHandIsUsed() throws {
        try Self.item(8).insert(database)
        let read = try database.fetchAll(ByHand.self, "SELECT id, full_name FROM items")
        #expect(read.map(\.id) == [8] && read.map(\.name) == ["Ümläut '8'"])
        #expect { try database.fetchOne(ByHand.self, "SELECT id FROM items") } throws: {
            "\($0)".contains("row 1, as ByHand: the result has no column with the name full_name")
        }
    }

    class Base: Codable {
        var id: Int
        init(id: Int) { self.id = id }
    }

    final class Derived: Base, RowDecodable {
        var name = ""
        enum CodingKeys: String, CodingKey { case name }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            name = try container.decode(String.self, forKey: .name)
            try super.init(from: container.superDecoder())
        }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func inheritedClassSharesRow() throws {
        let read = try #require(try database.fetchOne(Derived.self, "SELECT 4 AS id, 'x' AS name"))
        #expect(read.id == 4 && read.name == "x")
        #expect(try database.executeQuery("SELECT :id + 1, :name", values: .encoding(read)).fetchAll(Int.self) == [5])
    }

    struct Pair: Codable, RowDecodable { var a: Int, b: String? }
    struct Nested: Codable, RowDecodable { var a: Pair }
    struct Listed: Codable, RowDecodable { var a: [Int] }

    @Test(arguments: [
        ("SELECT 'secretvalue' AS a, NULL AS b", "row 1, as Pair: column 0 (a) holds text, not Int"),
        ("SELECT 1 AS a, x'00' AS b", "row 1, as Pair: column 1 (b) holds blob, not String"),
        ("SELECT 1 AS x", "row 1, as Pair: the result has no column with the name a"),
        ("SELECT 9.5 AS a", "row 1, as Pair: column 0 (a) holds real with a fraction, not Int"),
    ])
    func decodingErrorNamesColumnNotValue(sql: String, message: String) {
        #expect { try database.fetchAll(Pair.self, SQL(unsafe: sql)) } throws: {
            "\($0)".hasPrefix(message) && !($0 as? DatabaseError)!.message.contains("secretvalue")
        }
    }

    enum Plain: Codable { case red, green }
    struct Lists: Codable { var a: [Int] }
    struct Dictionaries: Codable { var a: [String: Int] }
    struct Plains: Codable { var a: Plain }
    struct Options: Codable { var a: Option }
    struct Option: Codable { var x: Int? }
    struct Wide: Codable { var a: Int128? }
    struct Unsigned: Codable { var a: UInt64 }

    /// Of such a value nothing is put anywhere, and NULL would be stored.
    @Test func emptyContainerIsNotNull() throws {
        let rows: [(row: any Encodable, json: String)] = [
            (Lists(a: []), "[]"), (Dictionaries(a: [:]), "{}"), (Plains(a: .red), #"{"red":{}}"#),
            (Options(a: Option(x: nil)), "{}"),
        ]
        for (row, json) in rows { #expect(try database.value(forQuery: "SELECT :a", values: .encoding(row)) == json) }
        #expect(throws: DatabaseError.self) { try StatementValues.encoding([Int]()) }
        #expect(throws: DatabaseError.self) { try StatementValues.encoding(5) }
        #expect(try database.int(forQuery: "SELECT count(*) FROM items") == 0)
    }

    @Test func oversizedIntegerIsRefusedUnnamed() throws {
        for row: any Encodable in [Wide(a: 123_456_789), Unsigned(a: .max)] {
            #expect {
                try database.executeUpdate("INSERT INTO items (id) VALUES (:a)", values: .encoding(row))
            } throws: {
                ($0 as? DatabaseError)?.code == .mismatch && !"\($0)".contains("123456789")
                    && !"\($0)".contains("\(UInt64.max)")
            }
        }
    }

    @Test func jsonKeysAreInNoError() {
        let sql: SQL = "SELECT '{\"secretkey\":\"x\"}' AS j"
        #expect { try database.fetchOne(JSONColumn<[String: Int]>.self, sql) } throws: {
            let message = ($0 as? DatabaseError)?.message ?? ""
            return message.contains("holds JSON that is not") && !message.contains("secretkey")
        }
    }

    @Test func nestedValueIsJSON() throws {
        for (row, json) in [(Nested(a: Pair(a: 1, b: nil)), #"{"a":1}"#), (Listed(a: [1]), "[1]")]
            as [(any Encodable, String)]
        {
            #expect(try database.value(forQuery: "SELECT :a", values: .encoding(row)) == json)
        }
        #expect(try database.fetchOne(Nested.self, #"SELECT '{"a":1,"b":"x"}' AS a"#)?.a.b == "x")
        #expect(try database.fetchOne(Listed.self, "SELECT '[1,2]' AS a")?.a == [1, 2])
        #expect { try database.fetchOne(Nested.self, "SELECT 1 AS a") } throws: {
            "\($0)".contains("holds integer, not Pair")
        }
        #expect { try database.fetchOne(Listed.self, "SELECT '[1' AS a") } throws: {
            "\($0)".contains("holds JSON that is not Array<Int>")
        }
        #expect { try database.executeUpdate("INSERT INTO items (id) VALUES (:a)", values: .encoding([1])) } throws: {
            "\($0)".contains("a row must be a type with coding keys")
        }
        #expect { try database.fetchOne(JSONColumn<Pair>.self, "SELECT '{\"a\":\"secretvalue\"}' AS j") } throws: {
            "\($0)".contains("column 0 (j) holds JSON that is not Pair")
        }
        #expect { try database.fetchOne(JSONColumn<Pair>.self, "SELECT '{\"b\":\"x\"}' AS j") } throws: {
            "\($0)".contains("column 0 (j) holds JSON that is not Pair: the key a is missing")
        }
        #expect(try database.fetchOne(JSONColumn<Pair>.self, "SELECT '{\"a\":4}'")?.value.a == 4)
    }

    @Test func nestedValuesComeBackEqual() throws {
        try database.createTable(
            "deep",
            columns: [ColumnDefinition("id", .integer, .primaryKey)]
                + ["tags", "counts", "address", "link", "price", "choice", "more", "nothing"].map {
                    ColumnDefinition($0, .text)
                }
        )
        let row = Deep(
            id: 1,
            tags: ["a", "b"],
            counts: ["x": 1],
            address: Deep.Address(street: "Main St", moved: Date.now, lines: [[1], []]),
            link: try #require(URL(string: "https://example.com/")),
            price: try #require(Decimal(string: "9.99")),
            choice: .other(7),
            more: [],
            nothing: nil
        )
        try row.insert(database)
        #expect(try database.select(from: "deep", where: Column("id") == 1).fetchOne(Deep.self) == row)
        let types = "typeof(tags) || typeof(address) || typeof(choice) || typeof(more) || typeof(\"nothing\")"
        #expect(try database.string(forQuery: SQL(unsafe: "SELECT \(types) FROM deep")) == "texttexttexttextnull")
        #expect(try database.string(forQuery: "SELECT link || price || more FROM deep") == "https://example.com/9.99[]")
    }

    struct Deep: Codable, RowDecodable, Equatable, PersistableRecord {
        static let databaseTableName = "deep"
        struct Address: Codable, Equatable { var street: String, moved: Date, lines: [[Int]] }
        enum Choice: Codable, Equatable { case none, other(Int) }
        var id: Int
        var tags: [String]
        var counts: [String: Int]
        var address: Address
        var link: URL
        var price: Decimal
        var choice: Choice
        var more: Set<Int>
        var nothing: [String]?
    }

    @Test func joinedRecordIsReadByPrefix() throws {
        try database.executeStatements(
            """
            CREATE TABLE country (code TEXT PRIMARY KEY, name TEXT); CREATE TABLE team (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
            CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, team_id INTEGER);
            INSERT INTO country VALUES ('NO', 'Norway'); INSERT INTO team VALUES (1, 'Reds', 'NO'), (2, 'Blues', NULL);
            INSERT INTO player VALUES (1, 'Ada', 1), (2, 'Bo', NULL), (3, 'Cy', 2)
            """
        )
        let sql: SQL = """
            SELECT player.*, \(record: "team"), team.*, \(record: "team.country"), c.*, \(record: ""), 7 AS last
            FROM player LEFT JOIN team ON team.id = player.team_id LEFT JOIN country AS c ON c.code = team.country ORDER BY player.id
            """
        let found = try database.fetchAll(Player.self, sql)
        let norway = Player.Country(code: "NO", name: "Norway")
        #expect(
            found == [
                Player(name: "Ada", id: 1, team: Player.Team(id: 1, name: "Reds", country: norway)),
                Player(name: "Bo", id: 2, team: nil),
                Player(name: "Cy", id: 3, team: Player.Team(id: 2, name: "Blues", country: nil)),
            ]
        )
        #expect(
            try database.fetchOne(Player.self, "SELECT 4 AS id, 'Di' AS name") == Player(name: "Di", id: 4, team: nil)
        )
        #expect { try database.fetchOne(Player.self, "SELECT 4 AS id, 'Di' AS name, 5 AS \"team.id\"") } throws: {
            "\($0)".contains("team.name")
        }
    }

    struct Player: Codable, RowDecodable, Equatable {
        struct Country: Codable, Equatable { var code: String, name: String }
        struct Team: Codable, Equatable { var id: Int, name: String, country: Country? }
        var name: String, id: Int, team: Team?
    }

    @Test func forEachThrowsErrors() throws {
        let sql: SQL = "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT abs(-9223372036854775807 - 1)"
        var found: [Int] = []
        let rows = try database.executeQuery(sql)
        #expect(throws: DatabaseError.self) { try rows.forEach { found.append(try $0["a"]) } }
        #expect(found == [1, 2])
        #expect(throws: DatabaseError.self) { try database.executeQuery(sql).forEach(Int.self) { found.append($0) } }
        #expect(found == [1, 2, 1, 2])
        try database.executeQuery("SELECT 5").forEach(Int.self) { found.append($0) }
        #expect(found.last == 5)
        #expect(throws: CancellationError.self) {
            try database.executeQuery("SELECT 5").forEach { _ in throw CancellationError() }
        }
    }

    @Test func missingParameterKeyIsError() throws {
        try database.executeUpdate(
            "INSERT INTO items (id, full_name) VALUES (:a, $b)",
            values: .encoding(Pair(a: 1, b: nil))
        )
        #expect(try database.fetchAll(String?.self, "SELECT full_name FROM items") == [nil])
        let statement = try database.prepare("UPDATE items SET full_name = @b")
        try statement.executeUpdate(values: .encoding(Pair(a: 1, b: "x")))
        #expect(try database.fetchAll(String?.self, "SELECT full_name FROM items") == ["x"])
        let found = try database.prepare("SELECT id FROM items WHERE id = :a").executeQuery(
            values: .encoding(Pair(a: 1, b: nil))
        )
        #expect(try found.fetchAll(Int.self) == [1])
        #expect {
            try database.executeUpdate("UPDATE items SET full_name = :c", values: .encoding(Pair(a: 1, b: nil)))
        } throws: {
            "\($0)".contains("no value was given for the parameter :c")
        }
        try database.executeUpdate("UPDATE items SET full_name = :b WHERE id = @a", values: [":b": nil, "@a": 1])
        #expect(try database.fetchAll(String?.self, "SELECT full_name FROM items") == [nil])
        #expect(throws: DatabaseError.self) {
            try database.executeUpdate("UPDATE items SET full_name = :b", values: ["b": "x", ":b": "y"])
        }
    }

    @Test func firstOfDuplicateColumnsIsDecoded() throws {
        #expect(try database.fetchOne(Twins.self, "SELECT 1 AS id, 2 AS x, 3 AS id") == Twins(x: 2, id: 1))
        #expect(try database.fetchOne(Twins.self, "SELECT 1 AS ID, 2 AS X") == Twins(x: 2, id: 1))
        #expect(try database.fetchOne(Twins.self, "SELECT 1 AS id, 2 AS x, 3 AS X, 4 AS ID") == Twins(x: 2, id: 1))
    }

    @Test func datesFollowFormatOfDatabase() throws {
        database.dateFormat = DateFormat(
            string: { _ in "2026-05-01" },
            date: { $0 == "2026-05-01" ? Date(timeIntervalSince1970: 5) : nil }
        )
        let event = Event(at: Date(timeIntervalSince1970: 5))
        let written = try database.executeQuery("SELECT :at AS at", values: .encoding(event))
        #expect(try written.next())
        #expect(try written["at"] == "2026-05-01")
        #expect(try written.decode(Event.self) == event)
    }

    /// Reads rows by the keys that it is asked for, which the data can choose.
    struct Chosen: Decodable, RowDecodable {
        struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }
        var values: [String?] = []

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            let order = try container.decode(String.self, forKey: Key(stringValue: "order")!)
            for name in order.split(separator: " ") {
                values.append(try container.decodeIfPresent(String.self, forKey: Key(stringValue: String(name))!))
            }
        }
    }

    @Test func keysInAnyOrderFindTheirColumns() throws {
        let rows = try database.fetchAll(
            Chosen.self,
            """
            SELECT 'a b c' AS "order", 1 AS a, 2 AS b, NULL AS c UNION ALL SELECT 'c b a', 3, 4, 5 UNION ALL SELECT 'b d a b B', 6, 7, 8
            """
        )
        #expect(rows.map(\.values) == [["1", "2", nil], ["5", "4", "3"], ["7", nil, "6", "7", "7"]])
        // As many keys as rows, none of them a column.
        let many = try database.fetchAll(
            Chosen.self,
            "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT 'k' || i || ' i' AS \"order\", i FROM n"
        )
        #expect(many.enumerated().allSatisfy { $1.values == [nil, "\($0 + 1)"] })
    }

    /// Keeps what it is made by.
    struct Keeping: Decodable, RowDecodable {
        let decoder: any Decoder
        let container: KeyedDecodingContainer<Chosen.Key>

        init(from decoder: any Decoder) throws {
            self.decoder = decoder
            container = try decoder.container(keyedBy: Chosen.Key.self)
        }
    }

    enum OtherKey: CodingKey { case a }

    @Test func decoderOutlivesItsRows() throws {
        let kept = try #require(try database.fetchOne(Keeping.self, "SELECT 1 AS a"))
        #expect { try kept.decoder.container(keyedBy: OtherKey.self) } throws: {
            ($0 as? DatabaseError)?.code == .misuse
        }
        let container = kept.container
        #expect(
            performing: { try container.decode(String.self, forKey: Chosen.Key(stringValue: "a")!) },
            throws: { ($0 as? DatabaseError)?.code == .misuse }
        )
        // Nil would be a value.
        #expect(throws: DatabaseError.self) {
            try container.decodeIfPresent(Int.self, forKey: Chosen.Key(stringValue: "a")!)
        }
        #expect(throws: DatabaseError.self) {
            try container.decodeIfPresent(Date.self, forKey: Chosen.Key(stringValue: "a")!)
        }
    }

    @Test func columnsThatChangeAreDecoded() throws {
        try database.executeStatements("CREATE TABLE changing (a, b); INSERT INTO changing VALUES (1, 2)")
        #expect(try database.fetchAll(Pair.self, "SELECT * FROM changing").count == 1)
        try database.executeStatements(
            "DROP TABLE changing; CREATE TABLE changing (b, a); INSERT INTO changing VALUES ('two', 1)"
        )
        let rows = try database.executeQuery("SELECT * FROM changing")
        #expect(try rows.columnIndex(forName: "a") == 1)
        #expect(try rows.next() && rows.int(forColumn: "a") == 1 && rows.decode(Pair.self).b == "two")
    }
}
