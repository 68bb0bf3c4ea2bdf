import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

extension Workload {
    static func bulkInsert(_ files: BenchmarkFiles) -> Workload {
        let count = files.rowCount
        return Workload(
            name: "bulk insert",
            count: count,
            unit: "row",
            goals: [
                "many rows in one call": .atMost(0.9), "typed": .atMost(1), "FMDB-style": .atMost(1.3),
                "FMDBCompat": .atMost(1.6),
            ],
            sides: [
                Side(name: "raw C") {
                    let (raw, rows) = (files.raw("insert-raw.db"), files.rowsOfC)
                    return Work(prepare: { raw_execute(raw, BenchmarkFiles.empty) }) {
                        raw_insert(raw, rows, Int64(count))
                    }
                },
                inserting(files, "many rows in one call") { database in
                    try database.executeUpdate(BenchmarkFiles.insert, forEach: files.rowsOfBytes) {
                        ($0.id, $0.name, $0.value, ByteArray($0.data))
                    }
                },
                inserting(files, "typed") { database in
                    let statement = try database.prepare(BenchmarkFiles.insert)
                    for row in files.rowsOfBytes {
                        try statement.executeUpdate(row.id, row.name, row.value, ByteArray(row.data))
                    }
                },
                inserting(files, "typed, Data") { database in
                    let statement = try database.prepare(BenchmarkFiles.insert)
                    for row in files.rows { try statement.executeUpdate(row.id, row.name, row.value, row.data) }
                },
                inserting(files, "FMDB-style") { database in
                    for row in files.rows {
                        let values: StatementValues = [row.id, row.name, row.value, row.data]
                        try database.executeUpdate(BenchmarkFiles.insert, values: values)
                    }
                },
                Side(name: "FMDBCompat") {
                    let (compat, rows) = (files.compat("insert-compat.db"), files.rows)
                    return Work(prepare: { _ = compat.executeStatements(BenchmarkFiles.empty) }) {
                        _ = compat.beginTransaction()
                        for row in rows { insert(row, compat) }
                        _ = compat.commit()
                        return Int64(count)
                    }
                },
            ] + files.peers("insert", "insert-SIDE.db", [count])
        )
    }

    /// All rows, in one transaction of a database of the side's own.
    private static func inserting(_ files: BenchmarkFiles, _ name: String, _ body: @escaping (Database) throws -> Void)
        -> Side
    {
        Side(name: name) {
            let database = try files.database("insert-\(name).db")
            // They are made before the first turn.
            _ = (files.rows, files.rowsOfBytes)
            return Work(prepare: { try database.executeStatements(SQL(unsafe: BenchmarkFiles.empty)) }) {
                try database.inTransaction { try body($0) }
                return Int64(files.rowCount)
            }
        }
    }

    static func insert(_ row: SampleRow<Data>, _ compat: FMDatabase) {
        let values: [Any] = [row.id, row.name, row.value, row.data]
        guard compat.executeUpdate(BenchmarkFiles.insertText, withArgumentsIn: values) else {
            fatalError(compat.lastErrorMessage())
        }
    }

    static func autocommit(_ files: BenchmarkFiles, _ mode: JournalMode, count: Int) -> Workload {
        let journal = "PRAGMA journal_mode = \(mode.rawValue)"
        return Workload(
            name: "single-row autocommit, \(mode.rawValue)",
            count: count,
            unit: "row",
            goals: mode == .wal ? ["typed": .atMost(1.05)] : [:],
            sides: [
                Side(name: "raw C") {
                    let raw = files.raw("alone-raw.db", BenchmarkFiles.settings + "; " + journal)
                    let rows = files.rowsOfC
                    return Work(prepare: { raw_execute(raw, BenchmarkFiles.empty) }) {
                        raw_insert_alone(raw, rows, Int64(count))
                    }
                },
                Side(name: "typed") {
                    let typed = try files.database("alone-typed.db", journal)
                    let rows = files.rowsOfBytes.prefix(count)
                    return Work(prepare: { try typed.executeStatements(SQL(unsafe: BenchmarkFiles.empty)) }) {
                        let statement = try typed.prepare(BenchmarkFiles.insert)
                        for row in rows {
                            try statement.executeUpdate(row.id, row.name, row.value, ByteArray(row.data))
                        }
                        return Int64(count)
                    }
                },
            ]
        )
    }
}
