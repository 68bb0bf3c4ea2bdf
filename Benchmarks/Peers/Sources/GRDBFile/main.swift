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
    let instants = [1_234_567_890.125, 1_234_567_890.1236, 1_234_567_889.9996, -1.5, 0, 253_402_300_799]
    for (index, at) in instants.enumerated() { try sample(Int64(index + 1), at: at).insert(database) }
    try Sample(id: 7).insert(database)
    let columns = try database.columns(in: "sample").map(\.name)
    print(try String.fetchOne(database, sql: "SELECT sql FROM sqlite_master")! + ";")
    let values = columns.map { "quote(\"\($0)\")" }.joined(separator: " || ', ' || ")
    for row in try String.fetchAll(database, sql: "SELECT \(values) FROM sample ORDER BY id") {
        print("INSERT INTO sample VALUES (\(row));")
    }
}
