import CipherDB
import Foundation
import Turns

/// What the settings of a connection cost, each against the default: the first side.
extension Workload {
    static func settings(_ files: BenchmarkFiles, count: Int) -> [Workload] {
        [
            single(
                files,
                count,
                "journal",
                [
                    ("rollback: delete", "PRAGMA journal_mode = delete"),
                    ("rollback: truncate", "PRAGMA journal_mode = truncate"),
                    ("rollback: persist", "PRAGMA journal_mode = persist"),
                    ("write-ahead log", "PRAGMA journal_mode = wal"),
                ]
            ),
            single(
                files,
                count,
                "synchronous, with a log",
                [
                    ("FULL", "PRAGMA journal_mode = wal"),
                    ("NORMAL", "PRAGMA journal_mode = wal; PRAGMA synchronous = NORMAL"),
                    ("OFF", "PRAGMA journal_mode = wal; PRAGMA synchronous = OFF"),
                ]
            ),
            single(
                files,
                count,
                "checkpoint, pages of the log",
                [
                    ("1000", "PRAGMA journal_mode = wal; PRAGMA synchronous = NORMAL"),
                    ("100", "PRAGMA journal_mode = wal; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 100"),
                    (
                        "10000",
                        "PRAGMA journal_mode = wal; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 10000"
                    ),
                ]
            ),
            reading(
                files,
                count * 10,
                "page cache",
                [32, 2, 8, 128].map { ("\($0) MiB", "PRAGMA cache_size = -\($0 << 10)") }
            ),
            reading(
                files,
                count * 10,
                "memory-mapping, cache of 2 MB",
                [
                    ("off", files.mapping(0)), ("64 MiB", files.mapping(64 << 20)),
                ]
            ),
            snapshots(files, count),
        ]
    }

    /// Rows that are inserted each in a transaction of its own.
    private static func single(_ files: BenchmarkFiles, _ count: Int, _ name: String, _ settings: [(String, String)])
        -> Workload
    {
        Workload(
            name: "setting: \(name)",
            count: count,
            unit: "row",
            sides: settings.enumerated().map { index, setting in
                Side(name: setting.0) {
                    let database = try files.database("setting-\(index).db", setting.1)
                    let rows = files.rowsOfBytes.prefix(count)
                    return Work(prepare: { try database.executeStatements(SQL(unsafe: BenchmarkFiles.empty)) }) {
                        let statement = try database.prepare(BenchmarkFiles.insert)
                        for row in rows {
                            try statement.executeUpdate(row.id, row.name, row.value, ByteArray(row.data))
                        }
                        return Int64(count)
                    }
                }
            }
        )
    }

    /// Rows that are read in a random order.
    private static func reading(_ files: BenchmarkFiles, _ count: Int, _ name: String, _ settings: [(String, String)])
        -> Workload
    {
        Workload(
            name: "setting: \(name), \(files.rowCount) rows",
            count: count,
            unit: "query",
            setUp: { files.fill("setting.db") },
            sides: settings.map { setting in
                Side(name: setting.0) {
                    let database = try files.database("setting.db", setting.1)
                    let ids = keys(count, below: files.rowCount)
                    return Work { try database.inTransaction(.deferred) { try points(ids, $0) } }
                }
            }
        )
    }

    /// A hundred queries in one reading transaction, as in a block of a pool, and each in its own.
    private static func snapshots(_ files: BenchmarkFiles, _ count: Int) -> Workload {
        let ids = keys(100, below: files.rowCount)
        func side(_ name: String, _ block: @escaping (Database) throws -> Int64) -> Side {
            Side(name: name) {
                let database = try files.database("setting.db", "PRAGMA journal_mode = wal")
                return Work { try (0..<(count / 10)).reduce(0) { sum, _ in try sum + block(database) } }
            }
        }
        func queries(_ database: Database) throws -> Int64 {
            try ids.reduce(0) { sum, id in
                let rows = try database.executeQuery(BenchmarkFiles.point, id)
                return try rows.next() ? sum + self.sum(rows) : sum
            }
        }
        return Workload(
            name: "setting: 100 queries of a block",
            count: count / 10,
            unit: "block",
            setUp: { files.fill("setting.db") },
            sides: [
                side("one transaction") { try $0.inTransaction(.deferred) { try queries($0) } },
                side("none") { try queries($0) },
            ]
        )
    }
}

extension BenchmarkFiles {
    fileprivate func mapping(_ size: Int) -> String { BenchmarkFiles.smallCache + "; PRAGMA mmap_size = \(size)" }
}
