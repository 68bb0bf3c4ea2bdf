import CipherDB
import Foundation
import TestSupport
import Testing

/// JSON in columns of whatever type, of other programs, and in SQLite's binary form.
@Suite struct JSONStorageTests {
    struct Pair: Codable, Equatable, Sendable { var a: Int, b: String? }
    struct Lists: Codable, RowDecodable {
        var list: [Int]?, pair: Pair?, column: JSONColumn<Int>?, names: [String: Int]?
    }
    struct Event: Codable, Equatable, Sendable { var at: Date, data: Data, earlier: [Date], name: String }
    struct Entry: Codable, RowDecodable, PersistableRecord {
        static let databaseTableName = "t"
        var event: Event
    }
    struct Row<Value: Codable & Sendable>: Codable, RowDecodable { var value: JSONColumn<Value> }

    static let affinities = [
        "", "TEXT", "BLOB", "NUMERIC", "INTEGER", "INT", "REAL", "DOUBLE", "JSON", "BOOLEAN", "DECIMAL(10, 5)",
        "DATETIME",
    ]
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
    }

    private func check<Value: Codable & Equatable & Sendable>(_ value: Value, _ type: String) throws {
        try database.executeStatements("DROP TABLE IF EXISTS t; CREATE TABLE t (value \(sql: SQL(unsafe: type)))")
        try database.insert(into: "t", ["value": JSONColumn(value)])
        let found: JSONColumn<Value>? = try database.value(forQuery: "SELECT value FROM t")
        #expect(found?.value == value, "\(value) in \(type)")
        #expect(
            try database.fetchOne(Row<Value>.self, "SELECT value FROM t")?.value.value == value,
            "\(value) in \(type)"
        )
    }

    @Test(arguments: affinities) func jsonComesBackFromAnyColumn(type: String) throws {
        for number in [5, 0, -1, 1 << 40] { try check(number, type) }
        for number in [1.5, 0.1, 5, -2.25, 1e300, 12345.678, 1e-7] { try check(number, type) }
        for text in ["5", "1e3", "null", "", "0x10", " 7 "] { try check(text, type) }
        for number in ["1.25", "-3.33", "12345"] { try check(try #require(Decimal(string: number)), type) }
        try check(true, type)
        try check([1, 2], type)
        try check(Pair(a: 1, b: nil), type)
        try check(Int?.none, type)
        if type != "REAL", type != "DOUBLE" {
            try check(Int64.max, type)
            try check(Int64.min + 1, type)
        }
    }

    @Test func numberOfAnotherKindIsMismatch() {
        for sql in ["SELECT 1.5", "SELECT 1e300", "SELECT 9e999"] {
            #expect { try database.fetchOne(JSONColumn<Int>.self, SQL(unsafe: sql)) } throws: {
                "\($0)".contains("holds real, not Int") && ($0 as? DatabaseError)?.code == .mismatch
            }
        }
        #expect(throws: DatabaseError.self) { try database.fetchOne(JSONColumn<String>.self, "SELECT 5") }
        #expect(throws: DatabaseError.self) { try database.fetchAll(JSONColumn<Int>.self, "SELECT NULL") }
    }

    @Test(arguments: ["NULL", "'null'", "' null\n'", "x'6e756c6c'"]) func nullIsNilForOptionals(sql: String) throws {
        let value = SQL(unsafe: sql)
        let row = try #require(
            try database.fetchOne(
                Lists.self,
                "SELECT \(sql: value) AS list, \(sql: value) AS pair, \(sql: value) AS \"column\", \(sql: value) AS names"
            )
        )
        #expect(row.list == nil && row.pair == nil && row.column == nil && row.names == nil)
        let single: JSONColumn<Pair>? = try database.value(forQuery: "SELECT \(sql: value)")
        #expect(single == nil)
        // Other JSON that is not of the type is an error in an optional, too.
        #expect(throws: DatabaseError.self) { try database.fetchOne(Lists.self, "SELECT '{}' AS list") }
        #expect(throws: DatabaseError.self) { _ = try database.value(forQuery: "SELECT '[1]'") as JSONColumn<Pair>? }
        struct Asked: Decodable, RowDecodable {
            let list: [Int]?
            enum CodingKeys: CodingKey { case list }
            init(from decoder: any Decoder) throws {
                list = try decoder.container(keyedBy: CodingKeys.self).decode([Int]?.self, forKey: .list)
            }
        }
        #expect(try database.fetchOne(Asked.self, "SELECT \(sql: value) AS list")?.list == nil)
        let rows = try database.executeQuery("SELECT \(sql: value) AS a")
        #expect(try rows.next())
        #expect(try rows["a"] as JSONColumn<[Int]>? == nil)
        #expect(throws: DatabaseError.self) { try rows["a"] as JSONColumn<[Int]> }
    }

    @Test func nullOfOptionalColumnStays() throws {
        let found: JSONColumn<Int?>? = try database.value(forQuery: "SELECT ?", values: [JSONColumn(Int?.none)])
        #expect(found == JSONColumn(nil))
        #expect(try database.fetchOne(JSONColumn<[Int?]>.self, "SELECT '[1,null]'")?.value == [1, nil])
        #expect(throws: DatabaseError.self) { try database.fetchOne(JSONColumn<[Int]>.self, "SELECT '[1,null]'") }
        struct Kinds: Codable, RowDecodable {
            enum Kind: String, Codable { case null }
            var kind: Kind?
        }
        #expect(try database.fetchOne(Kinds.self, "SELECT 'null' AS kind")?.kind == .null)
    }

    @Test(
        .enabled(if: Engine.current.has(.jsonb), "this engine has no JSONB"),
        arguments: [
            "5", "-1", "1.5", "null", "true", "\"x\"", "\"\\u00e9\\n\"", "[]", "{}", "[1,[2,{\"a\":\"b\"}]]", "123",
            "3123",
            "[0x1F, .5, 'single', +7]",
        ]
    )
    func binaryJSONIsRead(json: String) throws {
        struct Tree: Codable, Equatable, Sendable {
            let text: String
            init(from decoder: any Decoder) throws {
                if let list = try? decoder.singleValueContainer().decode([Tree].self) {
                    text = "[\(list.map(\.text).joined(separator: ","))]"
                } else if let map = try? decoder.singleValueContainer().decode([String: Tree].self) {
                    text =
                        "{\(map.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value.text)" }.joined(separator: ","))}"
                } else if let number = try? decoder.singleValueContainer().decode(Double.self) {
                    text = "\(number)"
                } else if let string = try? decoder.singleValueContainer().decode(String.self) {
                    text = "'\(string)'"
                } else {
                    text =
                        try decoder.singleValueContainer().decodeNil()
                        ? "null" : "\(decoder.singleValueContainer().decode(Bool.self))"
                }
            }
            func encode(to encoder: any Encoder) throws {}
        }
        let binary = try database.fetchOne(JSONColumn<Tree>.self, "SELECT jsonb(?)", json)
        let text = try database.fetchOne(JSONColumn<Tree>.self, "SELECT json(?)", json)
        #expect(binary != nil && binary == text)
    }

    @Test(.enabled(if: Engine.current.has(.jsonb), "this engine has no JSONB")) func binaryJSONIsReadInRecord() throws {
        let row = try database.fetchOne(
            Lists.self,
            "SELECT jsonb('[1,2]') AS list, jsonb('{\"a\":4}') AS pair, jsonb('7') AS \"column\", jsonb('null') AS names"
        )
        #expect(row?.list == [1, 2] && row?.pair == Pair(a: 4, b: nil) && row?.column?.value == 7)
        #expect(row != nil && row?.names == nil)
        #expect { try database.fetchOne(JSONColumn<[Int]>.self, "SELECT jsonb('{\"secret\":1}')") } throws: {
            ($0 as? DatabaseError)?.message.hasSuffix("holds JSON that is not Array<Int>") ?? false
        }
    }

    @Test(
        .enabled(if: !Engine.current.has(.jsonb), "this engine reads JSONB"),
        arguments: ["x'33313233'", "x'4b13311332'", "x'4c17611334'"]
    )
    func binaryJSONIsNamedWhereItIsNotRead(sql: String) {
        #expect { try database.fetchOne(JSONColumn<[Int]>.self, "SELECT \(sql: SQL(unsafe: sql))") } throws: {
            "\($0)".contains("holds binary JSON (JSONB), which needs SQLite 3.45")
        }
    }

    @Test func textInBlobIsRead() throws {
        for json in ["[1, 2, 300]", "{\"a\":1}", "{\"a\":12}", "{\"a\": 123456789}"] {
            let blob = Data(json.utf8)
            let list: JSONColumn<[Int]>? = json.hasPrefix("[") ? try database.value(forQuery: "SELECT ?", blob) : nil
            let pair: JSONColumn<Pair>? = json.hasPrefix("{") ? try database.value(forQuery: "SELECT ?", blob) : nil
            #expect((list == nil) != (pair == nil))
        }
    }

    private func opened(_ change: @Sendable (inout ValueStorage) -> Void) throws -> Database {
        let database = Database(path: nil, configuration: Configuration { change(&$0.storage) })
        try database.open()
        return database
    }

    private static let event = Event(
        at: Date(timeIntervalSince1970: 1_234_567_890.5),
        data: Data([0, 255, 62]),
        earlier: [Date(timeIntervalSince1970: 0), Date(timeIntervalSinceReferenceDate: 0)],
        name: "a/b \"c\" é"
    )

    struct Form: Sendable {
        let dates: DateFormat
        let data: JSONDataFormat
        let json: String
        var isText = false
    }

    static let forms = [
        Form(
            dates: .secondsSince2001,
            data: .base64,
            json: #""at":256260690.5,"data":"AP8+","earlier":[-978307200,0]"#
        ),
        Form(
            dates: .secondsSince1970,
            data: .base64,
            json: #""at":1234567890.5,"data":"AP8+","earlier":[0,978307200]"#
        ),
        Form(
            dates: .millisecondsSince1970,
            data: .integers,
            json: #""at":1234567890500,"data":[0,255,62],"earlier":[0,978307200000]"#
        ),
        Form(
            dates: .iso8601,
            data: .base64,
            json: #""at":"2009-02-13T23:31:30.500Z","data":"AP8+","#
                + #""earlier":["1970-01-01T00:00:00.000Z","2001-01-01T00:00:00.000Z"]"#,
            isText: true
        ),
    ]

    @Test(arguments: forms.indices) func datesAndDataHaveFormThatIsSet(index: Int) throws {
        let form = Self.forms[index]
        let text = "{\(form.json),\"name\":\"a/b \\\"c\\\" é\"}"
        let database = try opened {
            $0.datesInJSON = form.dates
            $0.dataInJSON = form.data
        }
        // However it becomes JSON.
        #expect(try database.string(forQuery: "SELECT ?", JSONColumn(Self.event)) == text)
        #expect(try database.string(forQuery: "SELECT \(JSONColumn(Self.event))") == text)
        let values = try StatementValues.encoding(Entry(event: Self.event))
        #expect(try database.value(forQuery: "SELECT :event", values: values) == text)
        try database.executeUpdate("CREATE TABLE t (event)")
        try Entry(event: Self.event).insert(database)
        #expect(try database.count(in: "t", where: Column("event") == text) == 1)
        #expect(try database.count(in: "t", where: Column("event") == JSONColumn(Self.event)) == 1)
        #expect(try database.fetchOne(Entry.self, "SELECT * FROM t")?.event == Self.event)
        // What was stored before the form was set is read where it tells itself apart.
        for (number, other) in Self.forms.enumerated() where other.isText || form.isText && number == 0 {
            let found: JSONColumn<Event>? = try database.value(forQuery: "SELECT ?", "{\(other.json),\"name\":\"\"}")
            #expect(found?.value.at == Self.event.at && found?.value.data == Self.event.data)
        }
    }

    @Test func jsonOfOtherEncodersIsRead() throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .millisecondsSince1970
        let json = String(decoding: try encoder.encode(Self.event), as: UTF8.self)
        let database = try opened { $0.datesInJSON = .millisecondsSince1970 }
        #expect(try database.fetchOne(JSONColumn<Event>.self, "SELECT ?", json)?.value == Self.event)
        // Without the setting as it always was.
        let standard = String(decoding: try JSONEncoder().encode(Self.event), as: UTF8.self)
        #expect(try self.database.fetchOne(JSONColumn<Event>.self, "SELECT ?", standard)?.value == Self.event)
        let date = Date(timeIntervalSinceReferenceDate: 1e9 / 7)
        #expect(try self.database.fetchOne(JSONColumn<Date>.self, "SELECT ?", JSONColumn(date))?.value == date)
        #expect(throws: DatabaseError.self) {
            try self.database.fetchOne(JSONColumn<Date>.self, "SELECT '\"yesterday\"'")
        }
        #expect(throws: DatabaseError.self) {
            try self.database.executeUpdate("SELECT ?", JSONColumn(Date(timeIntervalSince1970: .infinity)))
        }
    }
}
