import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

extension Workload {
    static func ranges(_ files: BenchmarkFiles, count: Int) -> Workload {
        let length: Int64 = 100
        let firsts = { keys(count, below: files.rowCount - Int(length)) }
        return Workload(
            name: "ranges of 100 rows",
            count: count,
            unit: "query",
            setUp: { files.fill("ranges.db") },
            sides: [
                Side(name: "raw C") {
                    let (raw, firsts) = (files.raw("ranges.db"), firsts())
                    return Work { raw_ranges(raw, firsts, Int64(count), length) }
                },
                Side(name: "typed") {
                    let (typed, firsts) = (try files.database("ranges.db"), firsts())
                    return Work {
                        try typed.inTransaction(.deferred) { database in
                            var sum: Int64 = 0
                            let statement = try database.prepare(
                                "SELECT id, name, value, data FROM t WHERE id >= ? AND id < ?"
                            )
                            for first in firsts {
                                let rows = try statement.executeQuery(first, first + length)
                                while try rows.next() { sum += try self.sum(rows) }
                            }
                            return sum
                        }
                    }
                },
            ]
        )
    }

    static func small(_ files: BenchmarkFiles, count: Int) -> Workload {
        Workload(
            name: "a query that reads no page",
            count: count,
            unit: "query",
            goals: ["prepared": .atMost(1.4), "by SQL": .atMost(2.5), "FMDBCompat": .atMost(4)],
            sides: [
                Side(name: "raw C") {
                    let raw = files.raw("small.db")
                    return Work { raw_small(raw, Int64(count)) }
                },
                Side(name: "prepared") {
                    let typed = try files.database("small-typed.db")
                    return Work {
                        var sum: Int64 = 0
                        let statement = try typed.prepare("SELECT ? + 1")
                        for index in 0..<Int64(count) { sum += try statement.value(index) ?? 0 }
                        return sum
                    }
                },
                Side(name: "prepared, result set") {
                    let typed = try files.database("small-rows.db")
                    return Work {
                        var sum: Int64 = 0
                        let statement = try typed.prepare("SELECT ? + 1")
                        for index in 0..<Int64(count) {
                            let rows = try statement.executeQuery(index)
                            if try rows.next() { sum += try rows[0] as Int64 }
                        }
                        return sum
                    }
                },
                Side(name: "by SQL") {
                    let typed = try files.database("small-by-sql.db")
                    return Work {
                        var sum: Int64 = 0
                        for index in 0..<Int64(count) {
                            let next: Int64? = try typed.value(forQuery: "SELECT ? + 1", index)
                            sum += next ?? 0
                        }
                        return sum
                    }
                },
                Side(name: "FMDBCompat") {
                    let compat = files.compat("small-compat.db")
                    return Work {
                        var sum: Int64 = 0
                        for index in 0..<Int64(count) {
                            let rows = compat.executeQuery("SELECT ? + 1", withArgumentsIn: [index])!
                            if rows.next() { sum += rows.longLongInt(forColumnIndex: 0) }
                            rows.close()
                        }
                        return sum
                    }
                },
            ]
        )
    }
}
