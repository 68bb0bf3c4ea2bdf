import Foundation
import GRDB
import Turns

/// GRDB as its README shows it, and at its defaults but for the settings that it is given.
@main struct GRDBBench: Contender {
    private let queue: DatabaseQueue
    private let configuration: Configuration

    init(path: String, key digits: String, settings: String) throws {
        configuration = GRDBBench.configuration(digits, settings)
        queue = try DatabaseQueue(path: path, configuration: configuration)
    }

    private static func configuration(_ digits: String, _ settings: String) -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase {
            try $0.execute(sql: "PRAGMA key = \"x'\(digits)'\"")
            if !settings.isEmpty { try $0.execute(sql: settings) }
        }
        return configuration
    }

    func empty() throws {
        try queue.write { database in
            try database.execute(sql: "DROP TABLE IF EXISTS t")
            try database.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB)")
        }
    }

    func insert(_ rows: [SampleRow<Data>]) throws {
        try queue.write { database in
            let statement = try database.makeStatement(sql: "INSERT INTO t VALUES (?, ?, ?, ?)")
            for row in rows { try statement.execute(arguments: [row.id, row.name, row.value, row.data]) }
        }
    }

    func insert(_ row: SampleRow<Data>) throws {
        try queue.write { database in
            let statement = try database.cachedStatement(sql: "INSERT INTO t VALUES (?, ?, ?, ?)")
            try statement.execute(arguments: [row.id, row.name, row.value, row.data])
        }
    }

    func count() throws -> Int64 {
        try queue.read { try Int64.fetchOne($0, sql: "SELECT count(*) FROM t") ?? 0 }
    }

    func scan() throws -> Int64 {
        try queue.read { database in
            var total: Int64 = 0
            let rows = try Row.fetchCursor(database, sql: "SELECT id, name, value, data FROM t")
            while let row = try rows.next() { total += GRDBBench.sum(row) }
            return total
        }
    }

    func points(_ ids: ArraySlice<Int64>) throws -> Int64 {
        try queue.read { try GRDBBench.points(ids, $0) }
    }

    func point(_ id: Int64) throws -> Int64 { try points([id]) }

    func close() throws { try queue.close() }

    static func pool(path: String, key digits: String, settings: String, readers: Int) throws
        -> @Sendable (Int, ArraySlice<Int64>) throws -> Int64
    {
        var configuration = configuration(digits, settings)
        configuration.maximumReaderCount = readers
        let pool = try DatabasePool(path: path, configuration: configuration)
        return { _, ids in try pool.read { try points(ids, $0) } }
    }

    static var extras: [String: (GRDBBench, [Int]) throws -> Work] {
        [
            "Codable": { bench, _ in
                Work { try bench.records(CodableRecord.self) { digest($0.id, $0.name, $0.value, $0.data) } }
            },
            "by hand": { bench, _ in
                Work { try bench.records(RecordByHand.self) { digest($0.id, $0.name, $0.value, $0.data) } }
            },
            "writers": { bench, numbers in
                try bench.empty()
                let queue = bench.queue
                let blocks = Blocks(numbers[0], readers: numbers[1], below: 1)
                return Work {
                    blocks.onThreads { _, ids in
                        for _ in ids {
                            try queue.write {
                                try $0.execute(sql: "INSERT INTO t (name) VALUES (?)", arguments: ["a row"])
                            }
                        }
                        return Int64(ids.count)
                    }
                }
            },
            "reads beside writers": { bench, numbers in
                let pool = try DatabasePool(path: bench.queue.path, configuration: bench.configuration)
                let ids = keys(numbers[0], below: numbers[1])
                return .each(ids.count, besideWriters: numbers[2]) { number in
                    try pool.write {
                        try $0.execute(sql: "UPDATE t SET value = ? WHERE id = ?", arguments: [0.5, number])
                    }
                } operation: { number in
                    try pool.read { try points([ids[number]], $0) }
                }
            },
        ]
    }

    private static func points(_ ids: ArraySlice<Int64>, _ database: GRDB.Database) throws -> Int64 {
        var total: Int64 = 0
        let statement = try database.cachedStatement(sql: "SELECT id, name, value, data FROM t WHERE id = ?")
        for id in ids {
            if let row = try Row.fetchOne(statement, arguments: [id]) { total += sum(row) }
        }
        return total
    }

    private static func sum(_ row: Row) -> Int64 {
        let id: Int64 = row[0]
        let name: String = row[1]
        let value: Double = row[2]
        let data: Data = row[3]
        return digest(id, name, value, data)
    }

    private func records<Record: FetchableRecord>(_ type: Record.Type, _ digest: (Record) -> Int64) throws -> Int64 {
        try queue.read {
            try type.fetchAll($0, sql: "SELECT id, name, value, data FROM t").reduce(0) { $0 + digest($1) }
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
}
