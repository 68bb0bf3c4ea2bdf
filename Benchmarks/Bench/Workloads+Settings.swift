import CipherDB
import Foundation

/// What the settings of a connection cost, each against the default: the first side.
extension Workload {
    static func settings(_ files: BenchmarkFiles, count: Int) throws -> [Workload] {
        try [
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
        throws
        -> Workload
    {
        Workload(
            name: "setting: \(name)",
            count: count,
            unit: "row",
            sides: try settings.enumerated().map { index, setting in
                let database = try files.database("setting-\(name)-\(index).db")
                try database.executeStatements(SQL(unsafe: setting.1))
                let prepare = {
                    try database.executeStatements(SQL(unsafe: "DROP TABLE IF EXISTS t; " + BenchmarkFiles.table))
                }
                return Side(name: setting.0, prepare: prepare) {
                    let statement = try database.prepare("INSERT INTO t VALUES (?, ?, ?, ?)")
                    for row in files.rows.bytes.prefix(count) {
                        try statement.executeUpdate(row.id, row.name, row.value, row.data)
                    }
                    return Int64(count)
                }
            }
        )
    }

    /// Rows that are read in a random order.
    private static func reading(_ files: BenchmarkFiles, _ count: Int, _ name: String, _ settings: [(String, String)])
        throws
        -> Workload
    {
        let file = files.filled("setting-\(name).db")
        let ids = keys(count, below: files.rows.swift.count)
        return Workload(
            name: "setting: \(name), \(files.rows.swift.count) rows",
            count: count,
            unit: "query",
            sides: try settings.map { setting in
                let database = try files.database(file)
                try database.executeStatements(SQL(unsafe: setting.1))
                return Side(name: setting.0) {
                    try database.inTransaction(.deferred) { database in
                        let statement = try database.prepare("SELECT id, name, value, data FROM t WHERE id = ?")
                        return try ids.reduce(0) { sum, id in
                            let rows = try statement.executeQuery(id)
                            return try rows.next() ? sum + self.sum(rows) : sum
                        }
                    }
                }
            }
        )
    }

    /// A hundred queries in one reading transaction, as in a block of a pool, and each in its own.
    private static func snapshots(_ files: BenchmarkFiles, _ count: Int) throws -> Workload {
        let database = try files.database(files.filled("setting-snapshot.db"))
        try database.executeStatements("PRAGMA journal_mode = wal")
        let ids = keys(100, below: files.rows.swift.count)
        func queries() throws -> Int64 {
            try ids.reduce(0) { sum, id in
                let rows = try database.executeQuery("SELECT id, name, value, data FROM t WHERE id = ?", id)
                return try rows.next() ? sum + self.sum(rows) : sum
            }
        }
        return Workload(
            name: "setting: 100 queries of a block",
            count: count / 10,
            unit: "block",
            sides: [
                Side(name: "one transaction") {
                    try (0..<(count / 10)).reduce(0) { sum, _ in
                        try sum + database.inTransaction(.deferred) { _ in try queries() }
                    }
                },
                Side(name: "none") { try (0..<(count / 10)).reduce(0) { sum, _ in try sum + queries() } },
            ]
        )
    }
}

extension BenchmarkFiles {
    fileprivate func mapping(_ size: Int) -> String { BenchmarkFiles.smallCache + "; PRAGMA mmap_size = \(size)" }
}
