import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

/// Files of several sizes, with a page cache of 32 MiB for everyone: a small file stays in it, a large one does not.
extension Workload {
    static func ofSize(_ files: BenchmarkFiles, mebibytes: Int, points count: Int) -> [Workload] {
        let rows = mebibytes * BenchmarkFiles.rowsOfMebibyte
        let ids = { keys(count, below: rows) }
        return [true, false].flatMap { isCold in
            [
                ofSize(
                    files,
                    mebibytes,
                    "count(*)",
                    (rows, "row"),
                    isCold: isCold,
                    raw: { { raw_count($0) } },
                    typed: { { Int64(try $0.int(forQuery: "SELECT count(*) FROM t") ?? 0) } },
                    compat: { { Int64($0.longForQuery("SELECT count(*) FROM t") ?? 0) } },
                    peer: ("count", [])
                ),
                ofSize(
                    files,
                    mebibytes,
                    "point reads",
                    (count, "query"),
                    isCold: isCold,
                    raw: {
                        let ids = ids()
                        return { raw_points($0, ids, Int64(count)) }
                    },
                    typed: {
                        let ids = ids()
                        return { try $0.inTransaction(.deferred) { try points(ids, $0) } }
                    },
                    compat: {
                        let ids = ids()
                        return { points(ids, $0) }
                    },
                    peer: ("points", [count, rows])
                ),
            ]
        }
    }

    /// - Parameters:
    ///   - isCold: Whether the connection was just opened, or has done the same before.
    ///   - raw: Makes what a turn does, as `typed` and `compat` do.
    private static func ofSize(
        _ files: BenchmarkFiles,
        _ mebibytes: Int,
        _ name: String,
        _ amount: (count: Int, unit: String),
        isCold: Bool,
        raw: @escaping () -> (OpaquePointer) -> Int64,
        typed: @escaping () -> (Database) throws -> Int64,
        compat: @escaping () -> (FMDatabase) -> Int64,
        peer: (work: String, numbers: [Int])
    ) -> Workload {
        let file = "\(mebibytes).db"
        return Workload(
            name: "\(mebibytes) MiB, \(isCold ? "cold" : "warm"): \(name)",
            count: amount.count,
            unit: amount.unit,
            keeps: file,
            setUp: { files.fill(file, rows: mebibytes * BenchmarkFiles.rowsOfMebibyte) },
            sides: [
                side("raw C", isCold, open: { files.raw(file) }, close: { raw_close($0) }, raw),
                side("typed", isCold, open: { try files.database(file) }, close: { $0.close() }, typed),
                side("FMDBCompat", isCold, open: { files.compat(file) }, close: { $0.close() }, compat),
            ] + files.peers((isCold ? "cold-" : "") + peer.work, file, peer.numbers)
        )
    }

    private static func side<Connection>(
        _ name: String,
        _ isCold: Bool,
        open: @escaping () throws -> Connection,
        close: @escaping (Connection) -> Void,
        _ make: @escaping () -> (Connection) throws -> Int64
    ) -> Side {
        Side(name: name) {
            let body = make()
            var connection = try open()
            return Work {
                guard isCold else { return }
                close(connection)
                connection = try open()
            } run: {
                try body(connection)
            }
        }
    }
}
