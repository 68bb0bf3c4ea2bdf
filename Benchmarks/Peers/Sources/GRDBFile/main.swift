import Foundation
import GRDB

// Prints, as SQL, a table that GRDB wrote at its defaults: Tests/CipherDBTests/GRDBFileTests.swift reads it.
//
// swift run -c release --package-path Benchmarks/Peers GRDBFile > Tests/Fixtures/grdb.sql

enum Kind: String, Codable { case plain, secret }
enum Level: Int, Codable { case low = 1, high }
struct Inner: Codable { var at: Date, data: Data, uuid: UUID, names: [String] }

struct Sample: Codable, PersistableRecord {
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

let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
func sample(_ id: Int64, at: Double) -> Sample {
    let at = Date(timeIntervalSince1970: at)
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
}

/// A way to store values that a record of GRDB can choose.
protocol Strategy {
    static var name: String { get }
    static var dates: DatabaseDateEncodingStrategy { get }
    static var uuids: DatabaseUUIDEncodingStrategy { get }
}

enum ReferenceDate: Strategy {
    static let name = "reference_date"
    static let dates = DatabaseDateEncodingStrategy.timeIntervalSinceReferenceDate
    static let uuids = DatabaseUUIDEncodingStrategy.uppercaseString
}
enum Interval: Strategy {
    static let name = "interval"
    static let dates = DatabaseDateEncodingStrategy.timeIntervalSince1970
    static let uuids = DatabaseUUIDEncodingStrategy.lowercaseString
}
enum Milliseconds: Strategy {
    static let name = "milliseconds"
    static let dates = DatabaseDateEncodingStrategy.millisecondsSince1970
    static let uuids = DatabaseUUIDEncodingStrategy.deferredToUUID
}
enum Seconds: Strategy {
    static let name = "seconds"
    static let dates = DatabaseDateEncodingStrategy.secondsSince1970
    static let uuids = DatabaseUUIDEncodingStrategy.uppercaseString
}
enum ISO8601: Strategy {
    static let name = "iso8601"
    static let dates = DatabaseDateEncodingStrategy.iso8601
    static let uuids = DatabaseUUIDEncodingStrategy.lowercaseString
}

/// In columns of small letters, as the strategy has them.
struct Stored<Way: Strategy>: Codable, PersistableRecord {
    static var databaseTableName: String { Way.name }
    static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { Way.dates }
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy { Way.uuids }
    var rowID: Int64
    var madeAt: Date?
    var ownerUUID: UUID?
    var baseURL: String?
}

let instants = [1_234_567_890.125, 1_234_567_890.1236, 1_234_567_889.9996, -1.5, 0, 253_402_300_799]

func store<Way: Strategy>(_ way: Way.Type, in database: Database) throws {
    try database.create(table: way.name) { table in
        table.primaryKey("row_id", .integer)
        table.column("made_at", .datetime)
        table.column("owner_uuid", .blob)
        table.column("base_url", .text)
    }
    for (index, at) in instants.enumerated() where at * 1000 == (at * 1000).rounded() {
        let url = "https://example.com/\(index)"
        let date = Date(timeIntervalSince1970: at)
        try Stored<Way>(rowID: Int64(index + 1), madeAt: date, ownerUUID: uuid, baseURL: url).insert(database)
    }
    try Stored<Way>(rowID: 7).insert(database)
}

func write(_ table: String, of database: Database) throws {
    let columns = try database.columns(in: table).map(\.name)
    let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
    for row in try String.fetchAll(database, sql: "SELECT \(values) FROM \(table) ORDER BY 1") {
        print("INSERT INTO \(table) VALUES (\(row));")
    }
}

let queue = try DatabaseQueue()
try queue.write { database in
    var migrator = DatabaseMigrator()
    migrator.registerMigration("first") { _ in }
    try database.create(table: "sample") { table in
        table.primaryKey("id", .integer)
        table.column("flag", .boolean)
        table.column("count", .integer)
        table.column("ratio", .double)
        table.column("small", .double)
        table.column("name", .text)
        table.column("data", .blob)
        table.column("at", .datetime)
        table.column("uuid", .blob)
        table.column("url", .text)
        table.column("decimal", .text)
        table.column("kind", .text)
        table.column("level", .integer)
        table.column("inner", .jsonText)
        table.column("list", .jsonText)
    }
    for (index, at) in instants.enumerated() { try sample(Int64(index + 1), at: at).insert(database) }
    try Sample(id: 7).insert(database)
    try store(ReferenceDate.self, in: database)
    try store(Interval.self, in: database)
    try store(Milliseconds.self, in: database)
    try store(Seconds.self, in: database)
    try store(ISO8601.self, in: database)
    let tables = try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid"
    )
    try database.create(virtualTable: "sample_ft", using: FTS5()) { table in
        table.synchronize(withTable: "sample")
        table.tokenizer = .unicode61(diacritics: .remove)
        table.column("name")
    }
    // The index makes its own tables.
    let schema = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sample_ft_%' ORDER BY rowid"
    for sql in try String.fetchAll(database, sql: schema) { print(sql + ";") }
    for table in tables { try write(table, of: database) }
}
