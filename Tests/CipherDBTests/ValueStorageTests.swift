import CipherDB
import Foundation
import TestSupport
import Testing

/// What is stored, what SQL gets and what a condition compares with is the same in every way that a value has to the engine.
@Suite struct ValueStorageTests {
    struct ID: RawRepresentable, Hashable, Codable, ColumnEncodable, ColumnDecodable { var rawValue: UUID }
    struct Moment: RawRepresentable, Hashable, Codable, ColumnEncodable, ColumnDecodable { var rawValue: Date }
    struct Record<Value: Codable & Sendable>: Codable, RowDecodable, PersistableRecord {
        static var databaseTableName: String { "t" }
        var id: Int64, value: Value, more: Value?
    }

    struct Setting: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout ValueStorage) -> Void
        let uuid: DatabaseValue
        let date: DatabaseValue
    }

    static let uuid = UUID(uuidString: "6D2F1C1E-0B0A-4F6B-9A77-1F0E5C0DABCD")!
    static let date = Date(timeIntervalSince1970: 1_234_567_890.5)
    private static let bytes = withUnsafeBytes(of: uuid.uuid) { Data($0) }
    private static let text = DatabaseValue.text(uuid.uuidString)
    static let settings = [
        Setting(testDescription: "default", set: { _ in }, uuid: text, date: .text("2009-02-13 23:31:30.500")),
        Setting(
            testDescription: "blob, ISO 8601",
            set: {
                $0.uuids = .blob
                $0.dates = .iso8601
            },
            uuid: .blob(bytes),
            date: .text("2009-02-13T23:31:30.500Z")
        ),
        Setting(
            testDescription: "small letters, seconds since 1970",
            set: {
                $0.uuids = .lowercaseText
                $0.dates = .secondsSince1970
            },
            uuid: .text(uuid.uuidString.lowercased()),
            date: .real(1_234_567_890.5)
        ),
        Setting(
            testDescription: "milliseconds",
            set: { $0.dates = .millisecondsSince1970 },
            uuid: text,
            date: .integer(1_234_567_890_500)
        ),
        Setting(
            testDescription: "seconds since 2001",
            set: { $0.dates = .secondsSince2001 },
            uuid: text,
            date: .real(256_260_690.5)
        ),
    ]

    private func opened(_ setting: Setting) throws -> Database {
        let database = Database(path: nil, configuration: Configuration { setting.set(&$0.storage) })
        try database.open()
        try database.executeUpdate("CREATE TABLE t (id INTEGER PRIMARY KEY, value UNIQUE, more)")
        return database
    }

    @Test(arguments: settings)
    func dateIsReadFromColumnOfTexts(setting: Setting) throws {
        let database = try opened(setting)
        try database.executeUpdate("CREATE TABLE texts (at TEXT)")
        try database.insert(into: "texts", ["at": Self.date])
        #expect(try database.fetchOne(Date.self, "SELECT at FROM texts") == Self.date)
        #expect(try database.count(in: "texts", where: Column("at") == Self.date) == 1)
    }

    /// Stores the value in each way, and returns what SQLite has then.
    private func stored<Value: ColumnEncodable & Codable>(
        _ value: Value,
        _ wrapped: any ColumnEncodable,
        in database: Database
    ) throws -> [String: DatabaseValue] {
        var found: [String: DatabaseValue] = [:]
        func note(_ way: String, _ store: () throws -> Void) throws {
            try database.executeUpdate("DELETE FROM t")
            try store()
            found[way] = try database.value(forQuery: "SELECT value FROM t")
        }
        let statement = try database.prepare("INSERT INTO t (value) VALUES (?)")
        let record = Record(id: 1, value: value, more: value)
        try note("interpolated") { try database.executeUpdate("INSERT INTO t (value) VALUES (\(value))") }
        try note("typed") { try database.executeUpdate("INSERT INTO t (value) VALUES (?)", value) }
        try note("optional") { try database.executeUpdate("INSERT INTO t (value) VALUES (?)", Value?.some(value)) }
        try note("wrapped") { try database.executeUpdate("INSERT INTO t (value) VALUES (\(wrapped))") }
        try note("values") { try database.executeUpdate("INSERT INTO t (value) VALUES (?)", values: [value]) }
        try note("named") { try database.executeUpdate("INSERT INTO t (value) VALUES (:v)", values: ["v": value]) }
        try note("encoded") {
            try database.executeUpdate("INSERT INTO t (value) VALUES (:more)", values: .encoding(record))
        }
        try note("statement") { try statement.executeUpdate(value) }
        try note("script") { try database.executeStatements("INSERT INTO t (value) VALUES (\(value))") }
        try note("many") { try database.executeUpdate("INSERT INTO t (value) VALUES (?)", forEach: [value]) { $0 } }
        try note("many sets") {
            try database.executeUpdate("INSERT INTO t (value) VALUES (?)", forEach: [value]) { [$0] }
        }
        try note("insert") { try database.insert(into: "t", ["value": value]) }
        try note("insert record") { try record.insert(database) }
        try note("ignore") { _ = try database.insertOrIgnore(into: "t", ["value": value]) }
        try note("update") {
            try database.insert(into: "t", ["id": 1])
            try database.update("t", set: ["value": value], where: Column("id") == 1)
        }
        if Engine.current.has(.upsert) {
            try note("upsert") {
                for more in 1...2 {
                    try database.upsert(into: "t", ["value": value, "more": more], onConflict: "value")
                }
                #expect(try database.int(forQuery: "SELECT sum(more) FROM t") == 2)
            }
        }
        try database.makeFunction(named: "made", arguments: 0) { _ in value }
        try note("function") { try database.executeUpdate("INSERT INTO t (value) VALUES (made())") }
        try database.makeAggregate(
            named: "gathered",
            arguments: 1,
            initial: { 0 },
            step: { _, _ in },
            result: { _ in value }
        )
        try note("aggregate") { try database.executeUpdate("INSERT INTO t (value) SELECT gathered(1)") }
        for (way, constraint) in [
            ("default", try ColumnConstraint.default(value)), ("default of SQL", try .sql("DEFAULT (\(value))")),
        ] {
            try database.createTable(
                "d",
                columns: [
                    ColumnDefinition("id", .integer),
                    ColumnDefinition("value", .blob, constraint, try .sql("CHECK (value = \(value))")),
                ],
                constraints: [try .sql("CHECK (value IS \(value))")],
                ifNotExists: true
            )
            try database.insert(into: "d", ["id": 1])
            try note(way) { try database.executeUpdate("INSERT INTO t (value) SELECT value FROM d") }
            try database.dropTable("d")
        }
        return found
    }

    /// How many rows each condition finds of the two with the value.
    private func counts(_ value: any ColumnEncodable, in database: Database) throws -> [Int] {
        let conditions: [Condition] = [
            Column("value") == value, !(Column("value") != value), Column("value").isIn([value]),
            Column("value").between(value, value), Column("value") <= value && Column("value") >= value,
            "value = \(value)",
            "value IN (\(list: [value]))",
        ]
        return try conditions.map { try database.count(in: "t", where: $0) }
    }

    @Test(arguments: settings) func valueIsStoredOneWay(setting: Setting) throws {
        let database = try opened(setting)
        for (way, value) in try stored(Self.uuid, ID(rawValue: Self.uuid), in: database) {
            #expect(value == setting.uuid, "\(way)")
        }
        for (way, value) in try stored(Self.date, Moment(rawValue: Self.date), in: database) {
            #expect(value == setting.date, "\(way)")
        }
    }

    @Test(arguments: settings) func conditionFindsWhatRowShows(setting: Setting) throws {
        let database = try opened(setting)
        try database.executeUpdate("INSERT INTO t (value) VALUES (?), (?)", setting.uuid, setting.date)
        let uuid = try #require(try database.fetchOne(UUID.self, "SELECT value FROM t ORDER BY id"))
        let date = try #require(try database.fetchOne(Date.self, "SELECT value FROM t ORDER BY id DESC"))
        #expect(uuid == Self.uuid && date == Self.date)
        #expect(try counts(uuid, in: database) == Array(repeating: 1, count: 7))
        #expect(try counts(date, in: database) == Array(repeating: 1, count: 7))
        #expect(try counts(ID(rawValue: uuid), in: database) == Array(repeating: 1, count: 7))
        try database.createIndex("i", on: "t", columns: ["more"], where: Column("value") == date)
        let condition = try database.string(forQuery: "SELECT sql FROM sqlite_master WHERE name = 'i'") ?? ""
        #expect(
            try database.int(
                forQuery:
                    "SELECT count(*) FROM t WHERE \(sql: SQL(unsafe: String(condition.split(separator: "WHERE ")[1])))"
            ) == 1
        )
    }

    @Test(arguments: settings) func recordComesBackEqual(setting: Setting) throws {
        let database = try opened(setting)
        try Record(id: 1, value: Self.uuid, more: nil).insert(database)
        try Record(id: 2, value: Self.date, more: Self.date).insert(database)
        let first = try #require(try database.fetchOne(Record<UUID>.self, "SELECT * FROM t WHERE id = 1"))
        let second = try #require(try database.fetchOne(Record<Date>.self, "SELECT * FROM t WHERE id = 2"))
        #expect(first.value == Self.uuid && first.more == nil && second.value == Self.date && second.more == Self.date)
    }

    struct OwnID: RawRepresentable, ColumnEncodable {
        var rawValue: UUID
        var databaseValue: DatabaseValue { .text("id:" + rawValue.uuidString.prefix(3)) }
    }

    @Test func typeKeepsValueOfItsOwn() throws {
        for setting in Self.settings {
            let database = try opened(setting)
            #expect(try database.string(forQuery: "SELECT ?", OwnID(rawValue: Self.uuid)) == "id:6D2")
            #expect(try database.string(forQuery: "SELECT \(OwnID(rawValue: Self.uuid))") == "id:6D2")
        }
    }

    @Test func wholeMillisecondsComeBackEqual() throws {
        let database = try opened(Self.settings[3])
        var random = SplitMix(48)
        let select = try database.prepare("SELECT ?")
        for _ in 0..<2000 {
            let number = Int64.random(in: -62_135_596_800_000...253_402_300_799_999, using: &random)
            let date = try #require(try select.executeQuery(number).fetchOne(Date.self))
            let found: Int64? = try select.value(date)
            #expect(found == number)
        }
        for wrong in [Double.nan, .infinity, 1e18] {
            #expect(throws: DatabaseError.self) { try select.executeUpdate(Date(timeIntervalSince1970: wrong)) }
        }
    }

    @Test func dateThatIsNoNumberIsNotNull() throws {
        for index in [2, 4] {
            let database = try opened(Self.settings[index])
            try database.insert(into: "t", ["id": 1])
            let date = Date(timeIntervalSinceReferenceDate: .nan)
            #expect(throws: DatabaseError.self) { try database.count(in: "t", where: Column("value") == date) }
        }
    }
}
