import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

extension Workload {
    /// - Parameter isCached: Whether the pages stay decrypted, or are read and decrypted each time, as with the
    ///   engine's own cache.
    static func scan(_ files: BenchmarkFiles, isCached: Bool) -> Workload {
        let settings = isCached ? BenchmarkFiles.settings : BenchmarkFiles.smallCache
        return Workload(
            name: "scan, 4 columns into values" + (isCached ? ", all in the cache" : ""),
            count: files.rowCount,
            unit: "row",
            goals: ["typed": .atMost(isCached ? 1.2 : 0.95)],
            setUp: { files.fill("scan.db") },
            sides: [
                Side(name: "raw C") {
                    let raw = files.raw("scan.db", settings)
                    return Work { raw_scan_copying(raw) }
                },
                scanning(files, "typed", settings, IntoBytes.self),
                scanning(files, "typed, Data", settings, IntoData.self),
                scanning(files, "by name", settings, ByName.self),
                Side(name: "FMDBCompat") {
                    let compat = files.compat("scan.db", settings)
                    return Work {
                        var sum: Int64 = 0
                        let rows = compat.executeQuery(BenchmarkFiles.selectText, withArgumentsIn: [])!
                        while rows.next() { sum += self.sum(rows) }
                        return sum
                    }
                },
            ] + files.peers("scan", "scan.db", settings: settings)
        )
    }

    private static func scanning<Reading: RowReading>(
        _ files: BenchmarkFiles,
        _ name: String,
        _ settings: String,
        _ reading: Reading.Type
    ) -> Side {
        Side(name: name) {
            let database = try files.database("scan.db", settings)
            return Work {
                var sum: Int64 = 0
                let rows = try database.executeQuery(BenchmarkFiles.select)
                while try rows.next() { sum += try reading.digest(rows) }
                return sum
            }
        }
    }

    static func sum(_ rows: FMResultSet) -> Int64 {
        let id = rows.longLongInt(forColumnIndex: 0)
        let name = rows.string(forColumnIndex: 1)!
        let value = rows.double(forColumnIndex: 2)
        let data = rows.data(forColumnIndex: 3)!
        return digest(id, name, value, data)
    }

    /// `count(*)` with a page cache that the table does not fit in: reading, authenticating and decrypting pages, and
    /// little else.
    static func count(_ files: BenchmarkFiles) -> Workload {
        Workload(
            name: "count(*), cold",
            count: files.rowCount,
            unit: "row",
            goals: ["typed": .atMost(0.55)],
            setUp: { files.fill("count.db") },
            sides: [
                Side(name: "raw C") {
                    let raw = files.raw("count.db", BenchmarkFiles.smallCache)
                    return Work { raw_count(raw) }
                },
                Side(name: "typed") {
                    let typed = try files.database("count.db", BenchmarkFiles.smallCache)
                    return Work { Int64(try typed.int(forQuery: "SELECT count(*) FROM t") ?? 0) }
                },
            ] + files.peers("count", "count.db", settings: BenchmarkFiles.smallCache)
        )
    }

    static func scanBorrowing(_ files: BenchmarkFiles, isCached: Bool) -> Workload {
        let settings = isCached ? BenchmarkFiles.settings : BenchmarkFiles.smallCache
        return Workload(
            name: "scan, borrowing" + (isCached ? ", all in the cache" : ""),
            count: files.rowCount,
            unit: "row",
            goals: ["typed": .atMost(isCached ? 1.1 : 0.7)],
            setUp: { files.fill("scan.db") },
            sides: [
                Side(name: "raw C") {
                    let raw = files.raw("scan.db", settings)
                    return Work { raw_scan_borrowing(raw) }
                },
                scanning(files, "typed", settings, Borrowing.self),
            ]
        )
    }

    /// The digest of a row whose text and blob are looked at where the engine has them.
    @inline(__always)
    static func sum(_ rows: ResultSet) throws -> Int64 {
        let id: Int64 = try rows[0]
        let value: Double = try rows[2]
        let name = try rows.withBytes(forColumnIndex: 1) { Int64($0[0]) + Int64($0.count) }
        let data = try rows.withBytes(forColumnIndex: 3) { Int64($0[0]) + Int64($0.count) }
        return id + Int64(value) + name + data
    }
}
