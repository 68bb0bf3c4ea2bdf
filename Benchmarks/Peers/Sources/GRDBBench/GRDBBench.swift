import Foundation
import GRDB

/// Does what it is asked for on standard input, a line each, with GRDB as its README shows it and at its defaults; answers with
/// the sum of what it read or wrote.
@main struct GRDBBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        let (path, digits) = (arguments[1], arguments[2])
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA key = \"x'\(digits)'\"") }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        while let line = readLine() {
            let words = line.split(separator: " ")
            let count = words.count > 1 ? Int(words[1])! : 0
            switch words[0] {
            case "prepare": answer(try prepare(queue))
            case "insert": answer(try insert(queue, count))
            case "scan": answer(try scan(queue))
            case "decode": answer(try records(queue, CodableRecord.self) { sum($0.id, $0.name, $0.value, $0.data) })
            case "records": answer(try records(queue, RecordByHand.self) { sum($0.id, $0.name, $0.value, $0.data) })
            case "points": answer(try points(queue, words[1...].map { Int64($0)! }))
            default: fatalError("unknown: \(line)")
            }
        }
    }

    /// Not by print, which would wait for more.
    private static func answer(_ sum: Int64) {
        FileHandle.standardOutput.write(Data("\(sum)\n".utf8))
    }

    private static func prepare(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.write { database in
            try database.execute(sql: "DROP TABLE IF EXISTS t")
            try database.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB)")
            return 0
        }
    }

    /// Made once, as the other sides' are.
    nonisolated(unsafe) private static var rows: [(id: Int64, name: String, value: Double, data: Data)] = []

    private static func insert(_ queue: DatabaseQueue, _ count: Int) throws -> Int64 {
        if rows.count != count {
            rows = (0..<count).map { id in
                let text = String(id)
                let name = "name " + String(repeating: "0", count: 11 - text.count) + text
                return (Int64(id), name, Double(id) / 2, Data(repeating: UInt8(truncatingIfNeeded: id), count: 32))
            }
            return -1
        }
        try queue.write { database in
            let statement = try database.makeStatement(sql: "INSERT INTO t VALUES (?, ?, ?, ?)")
            for row in rows { try statement.execute(arguments: [row.id, row.name, row.value, row.data]) }
        }
        return Int64(count)
    }

    private static func sum(_ row: Row) -> Int64 {
        let id: Int64 = row[0]
        let name: String = row[1]
        let value: Double = row[2]
        let data: Data = row[3]
        return sum(id, name, value, data)
    }

    private static func sum(_ id: Int64, _ name: String, _ value: Double, _ data: Data) -> Int64 {
        id + Int64(name.utf8.first!) + Int64(name.utf8.count) + Int64(value) + Int64(data[0]) + Int64(data.count)
    }

    private static func scan(_ queue: DatabaseQueue) throws -> Int64 {
        try queue.read { database in
            var total: Int64 = 0
            let rows = try Row.fetchCursor(database, sql: "SELECT id, name, value, data FROM t")
            while let row = try rows.next() { total += sum(row) }
            return total
        }
    }

    private struct CodableRecord: Codable, FetchableRecord {
        let id: Int64
        let name: String
        let value: Double
        let data: Data
    }

    private struct RecordByHand: FetchableRecord {
        let id: Int64
        let name: String
        let value: Double
        let data: Data

        init(row: Row) {
            id = row[0]
            name = row[1]
            value = row[2]
            data = row[3]
        }
    }

    private static func records<Record: FetchableRecord>(
        _ queue: DatabaseQueue,
        _ type: Record.Type,
        _ digest: (Record) -> Int64
    ) throws -> Int64 {
        try queue.read {
            try type.fetchAll($0, sql: "SELECT id, name, value, data FROM t").reduce(0) { $0 + digest($1) }
        }
    }

    private static func points(_ queue: DatabaseQueue, _ ids: [Int64]) throws -> Int64 {
        try queue.read { database in
            var total: Int64 = 0
            let statement = try database.makeStatement(sql: "SELECT id, name, value, data FROM t WHERE id = ?")
            for id in ids {
                if let row = try Row.fetchOne(statement, arguments: [id]) { total += sum(row) }
            }
            return total
        }
    }
}
