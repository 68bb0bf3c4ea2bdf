import CipherDB
import Foundation
import TestSupport
import Testing

/// Rows as GRDB wrote them at its defaults: Benchmarks/Peers made Tests/Fixtures/grdb.sql.
@Suite struct GRDBFileTests {
    enum Kind: String, Codable, ColumnEncodable { case plain, secret }
    enum Level: Int, Codable, ColumnEncodable { case low = 1, high }
    struct Inner: Codable, Equatable { var at: Date, data: Data, uuid: UUID, names: [String] }

    struct Sample: Codable, RowDecodable, PersistableRecord, Equatable {
        static let databaseTableName = "sample"
        var id: Int64
        var flag: Bool?
        var count: Int?
        var ratio: Double?
        var small: Float?
        var name: String?
        var data: Data?
        var at: Date?
        var uuid: UUID?
        var url: URL?
        var decimal: Decimal?
        var kind: Kind?
        var level: Level?
        var inner: Inner?
        var list: [Int]?
    }

    static let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
    static let instants = [1_234_567_890.125, 1_234_567_890.1236, 1_234_567_889.9996, -1.5, 0, 253_402_300_799]
    /// What the program had, as it was before GRDB rounded the dates.
    static let samples: [Sample] =
        instants.enumerated().map { index, at in
            let (id, at) = (Int64(index + 1), Date(timeIntervalSince1970: at))
            return Sample(
                id: id,
                flag: id % 2 == 0,
                count: .max,
                ratio: -0.1,
                small: 1.5,
                name: "ü 'x'",
                data: Data([0, 255, 39]),
                at: at,
                uuid: uuid,
                url: URL(string: "https://example.com/a?b=c"),
                decimal: Decimal(string: "3.33"),
                kind: .secret,
                level: .high,
                inner: Inner(at: at, data: Data([1, 2, 255]), uuid: uuid, names: ["a/b", "\u{e9}"]),
                list: [3, 1]
            )
        } + [Sample(id: 7)]

    let database: Database

    init() throws {
        database = Database(path: nil, configuration: Configuration { $0.storage = .grdb })
        try database.open()
        try database.executeStatements(Self.script())
    }

    /// What GRDB wrote, without the full-text index and its triggers where the engine has none.
    static func script() throws -> SQL {
        var sql = try String(contentsOfFile: Program.packageDirectory + "/Tests/Fixtures/grdb.sql", encoding: .utf8)
        if !Engine.current.has(.fts5) {
            let start = try #require(sql.range(of: "CREATE VIRTUAL TABLE")).lowerBound
            sql.removeSubrange(start..<(try #require(sql.range(of: "INSERT INTO sample VALUES")).lowerBound))
        }
        return SQL(unsafe: sql)
    }

    private static func rounded(_ date: Date?) -> Date? {
        date.map { Date(timeIntervalSince1970: ($0.timeIntervalSince1970 * 1000).rounded() / 1000) }
    }

    /// Dates come back to the millisecond, columns and JSON.
    private static func isClose(_ first: Date?, _ second: Date?) -> Bool {
        guard let first, let second else { return first == nil && second == nil }
        return abs(first.timeIntervalSince(second)) < 0.00051
    }

    @Test func rowsOfGRDBAreRead() throws {
        let found = try Sample.fetchAll(database, orderedBy: [.ascending("id")])
        #expect(found.count == Self.samples.count)
        for (found, sample) in zip(found, Self.samples) {
            #expect(Self.isClose(found.at, sample.at) && Self.isClose(found.inner?.at, sample.inner?.at))
            var (found, sample) = (found, sample)
            (found.at, sample.at) = (nil, nil)
            if let at = found.inner?.at { sample.inner?.at = at }
            #expect(found == sample)
        }
    }

    @Test func conditionsFindRowsOfGRDB() throws {
        for sample in Self.samples.dropLast() {
            let conditions: [Condition] = [
                Column("flag") == sample.flag, Column("count") == sample.count, Column("ratio") == sample.ratio,
                Column("small") == sample.small, Column("name") == sample.name, Column("data") == sample.data,
                Column("at") == sample.at, Column("uuid") == sample.uuid, Column("url") == sample.url,
                Column("decimal") == sample.decimal, Column("kind") == sample.kind, Column("level") == sample.level,
                Column("uuid").isIn([Self.uuid]), "uuid = \(Self.uuid)", "at = \(sample.at)",
                Column("inner") == sample.inner.map { JSONColumn($0) },
                Column("list") == sample.list.map { JSONColumn($0) },
            ]
            for (number, condition) in conditions.enumerated() {
                let found = try Sample.fetchOne(database, where: Column("id") == sample.id && condition)
                #expect(found != nil, "condition \(number) of row \(sample.id)")
            }
        }
        for name in ["flag", "count", "at", "uuid", "url", "decimal", "inner"] {
            #expect(try Sample.fetchAll(database, where: Column(name) == nil).map(\.id) == [7])
        }
    }

    @Test func sameValuesAreStored() throws {
        let names = try #require(
            try Sample.fetchOne(database).map { Mirror(reflecting: $0).children.compactMap(\.label) }
        )
        func stored() throws -> [String] {
            let columns = names.map { "quote(\"\($0)\")" }.joined(separator: " || '|' || ")
            return try database.fetchAll(String.self, SQL(unsafe: "SELECT \(columns) FROM sample ORDER BY id"))
        }
        let before = try stored()
        try Sample.deleteAll(database)
        for sample in Self.samples { try sample.insert(database) }
        for (new, old) in zip(try stored(), before) { #expect(new == old) }
        #expect(before.count == Self.samples.count && names.count == 15)
    }

    /// GRDB stores what this formatter makes, and reads by the calendar of Foundation.
    @Test func datesAreThoseOfFoundationsFormatter() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss.SSS"
        var random = SplitMix(7)
        // From 0001-01-01 to 9999-12-31. Among the days is 1582-10-15, and the one before it, 1582-10-04.
        let range = -62_135_769_600.0...253_402_300_799
        let days = [-12_219_292_800.0, -12_219_292_801, -59_006_448_000].map { Date(timeIntervalSince1970: $0) }
        let dates =
            [.distantPast, .distantFuture] + days
            + (0..<2000).map { _ in Date(timeIntervalSince1970: .random(in: range, using: &random)) }
            + (0..<2000).map { Date(timeIntervalSince1970: 1_700_000_000 + Double($0) * 0.0005) }
        for date in dates {
            let text = formatter.string(from: date)
            #expect(try date.databaseValue(in: .grdb) == .text(text))
            let found = try database.fetchOne(Date.self, "SELECT \(text)")
            #expect(Self.isClose(found, formatter.date(from: text)), "\(text)")
        }
        try Sample(id: 8, at: .distantPast).insert(database)
        #expect(try Sample.fetchOne(database, where: Column("at") == Date.distantPast)?.at == .distantPast)
    }

    @Test(.enabled(if: Engine.current.has(.fts5), "this engine has no FTS5"))
    func searchFindsRowsOfGRDB() throws {
        let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "U x"))
        func found() throws -> [Int] {
            try database.fetchAll(
                Int.self,
                "SELECT rowid FROM sample_ft WHERE sample_ft MATCH \(pattern) ORDER BY rowid"
            )
        }
        #expect(try found() == [1, 2, 3, 4, 5, 6])
        try Sample(id: 8, name: "x \u{fc}").insert(database)
        try Sample.deleteOne(database, key: 1)
        #expect(try found() == [2, 3, 4, 5, 6, 8] && database.integrityCheck().isEmpty)
        // With its triggers, which would write into it.
        try database.dropFullTextIndex("sample_ft")
        try Sample(id: 9, name: "x").insert(database)
    }
}

/// Rows as GRDB wrote them by each of its strategies for dates, UUIDs and the names of columns, all with nil.
@Suite struct GRDBStrategyTests {
    struct Stored: Codable, RowDecodable, Equatable {
        var rowID: Int64
        var madeAt: Date?
        var ownerUUID: UUID?
        var baseURL: String?
    }

    struct Strategy: Sendable, CustomTestStringConvertible {
        let table: TableName
        let dates: DateFormat
        let uuids: UUIDFormat
        var areWholeSeconds = false
        var testDescription: String { table.name }
    }

    static let strategies = [
        Strategy(table: "reference_date", dates: .secondsSince2001, uuids: .text),
        Strategy(table: "interval", dates: .secondsSince1970, uuids: .lowercaseText),
        Strategy(table: "milliseconds", dates: .millisecondsSince1970, uuids: .blob),
        Strategy(table: "seconds", dates: .secondsSince1970, uuids: .text, areWholeSeconds: true),
        Strategy(
            table: "iso8601",
            dates: DateFormat(string: { $0.ISO8601Format() }, date: { _ in nil }),
            uuids: .lowercaseText,
            areWholeSeconds: true
        ),
    ]

    @Test(arguments: strategies) func rowsAreFoundAndWrittenAlike(_ strategy: Strategy) throws {
        let configuration = Configuration {
            $0.storage = .grdb
            $0.storage.dates = strategy.dates
            $0.storage.uuids = strategy.uuids
            $0.storage.columnsAreSnakeCase = true
        }
        let database = Database(path: nil, configuration: configuration)
        try database.open()
        try database.executeStatements(GRDBFileTests.script())
        let rows = GRDBFileTests.samples.filter { [1, 4, 5, 6, 7].contains($0.id) }.map { sample in
            Stored(
                rowID: sample.id,
                madeAt: sample.at.map {
                    let seconds = $0.timeIntervalSince1970
                    return Date(timeIntervalSince1970: strategy.areWholeSeconds ? seconds.rounded(.down) : seconds)
                },
                ownerUUID: sample.uuid,
                baseURL: sample.at == nil ? nil : "https://example.com/\(sample.id - 1)"
            )
        }
        let table = strategy.table
        #expect(try database.select(from: table, orderedBy: [.ascending("row_id")]).fetchAll(Stored.self) == rows)
        for row in rows {
            let conditions: [Condition] = [
                Column("made_at") == row.madeAt, Column("owner_uuid") == row.ownerUUID,
                Column("base_url") == row.baseURL,
                "made_at IS \(row.madeAt)", "owner_uuid IS \(row.ownerUUID)",
            ]
            for (number, condition) in conditions.enumerated() {
                let found = try database.count(in: table, where: Column("row_id") == row.rowID && condition)
                #expect(found == 1, "condition \(number) of row \(row.rowID)")
            }
        }
        func stored() throws -> [String] {
            let columns: SQL = "quote(row_id) || quote(made_at) || quote(owner_uuid) || quote(base_url)"
            return try database.fetchAll(
                String.self,
                "SELECT \(sql: columns) FROM \(identifier: table) ORDER BY row_id"
            )
        }
        let before = try stored()
        try database.deleteAll(from: table)
        try database.executeUpdate(
            "INSERT INTO \(identifier: table) VALUES (:row_id, :made_at, :owner_uuid, :base_url)",
            forEach: rows
        ) { try .encoding($0) }
        #expect(try stored() == before && before.count == 5)
    }
}
