import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

/// Operations that are timed one by one, each in a transaction of its own.
extension Workload {
    static func singleOperations(_ files: BenchmarkFiles, count: Int) -> [Workload] {
        [
            singlePoint(files, "one point read", BenchmarkFiles.settings, count * 2),
            singlePoint(files, "one point read, cache of 2 MB", BenchmarkFiles.smallCache, count * 2),
            singleCommit(files, count / 5),
            singleOpening(files, count / 25),
        ]
    }

    private static func singlePoint(_ files: BenchmarkFiles, _ name: String, _ settings: String, _ count: Int)
        -> Workload
    {
        let ids = { keys(count, below: files.rowCount) }
        return Workload(
            name: name,
            count: count,
            unit: "query",
            setUp: { files.fill("single.db") },
            sides: [
                Side(name: "raw C") {
                    let (point, ids) = (raw_prepare(files.raw("single.db", settings), RAW_POINT), ids())
                    return .each(count) { raw_point(point, ids[$0]) }
                },
                Side(name: "typed") {
                    let (typed, ids) = (try files.database("single.db", settings), ids())
                    let statement = try typed.prepare(BenchmarkFiles.point)
                    return .each(count) {
                        let rows = try statement.executeQuery(ids[$0])
                        defer { rows.close() }
                        return try rows.next() ? sum(rows) : 0
                    }
                },
                Side(name: "FMDBCompat") {
                    let (compat, ids) = (files.compat("single.db", settings), ids())
                    return .each(count) { point(ids[$0], compat) }
                },
            ] + files.peers("single-points", "single.db", settings: settings, [count, files.rowCount])
        )
    }

    private static func singleCommit(_ files: BenchmarkFiles, _ count: Int) -> Workload {
        let settings = BenchmarkFiles.settings + "; PRAGMA journal_mode = wal"
        return Workload(
            name: "one row committed, WAL",
            count: count,
            unit: "row",
            sides: [
                Side(name: "raw C") {
                    let (raw, rows) = (files.raw("commit-raw.db", settings), files.rowsOfC)
                    raw_execute(raw, BenchmarkFiles.empty)
                    let insert = raw_prepare(raw, RAW_INSERT)
                    return .each(count, prepare: { raw_execute(raw, "DELETE FROM t") }) { number in
                        withUnsafePointer(to: rows[number]) { raw_insert_row(insert, $0) }
                        return 1
                    }
                },
                Side(name: "typed") {
                    let (typed, rows) = (try files.database("commit-typed.db", settings), files.rowsOfBytes)
                    try typed.executeStatements(SQL(unsafe: BenchmarkFiles.empty))
                    let statement = try typed.prepare(BenchmarkFiles.insert)
                    return .each(count, prepare: { try typed.executeUpdate("DELETE FROM t") }) { number in
                        let row = rows[number]
                        try statement.executeUpdate(row.id, row.name, row.value, ByteArray(row.data))
                        return 1
                    }
                },
                Side(name: "FMDBCompat") {
                    let (compat, rows) = (files.compat("commit-compat.db", settings), files.rows)
                    return .each(count, prepare: { _ = compat.executeStatements(BenchmarkFiles.empty) }) { number in
                        insert(rows[number], compat)
                        return 1
                    }
                },
            ] + files.peers("commits", "commit-SIDE.db", settings: settings, [count])
        )
    }

    /// A connection, keyed by a raw key, and its first row.
    private static func singleOpening(_ files: BenchmarkFiles, _ count: Int) -> Workload {
        Workload(
            name: "opened with a raw key, and one row read",
            count: count,
            unit: "connection",
            setUp: { files.fill("opened.db") },
            sides: [
                Side(name: "raw C") {
                    .each(count) { _ in
                        let raw = files.raw("opened.db")
                        defer { raw_close(raw) }
                        return raw_points_alone(raw, [1], 1)
                    }
                },
                Side(name: "typed") {
                    let key = try BenchmarkFiles.key()
                    return .each(count) { _ in
                        let database = Database(path: files.path("opened.db"))
                        try database.open(key: key)
                        defer { database.close() }
                        let rows = try database.executeQuery(BenchmarkFiles.point, 1)
                        return try rows.next() ? sum(rows) : 0
                    }
                },
                Side(name: "FMDBCompat") {
                    .each(count) { _ in
                        let compat = files.compat("opened.db")
                        defer { compat.close() }
                        return point(1, compat)
                    }
                },
            ] + files.peers("openings", "opened.db", [count])
        )
    }
}
