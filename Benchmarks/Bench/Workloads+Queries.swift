import CipherDB
import Foundation
import RawC

extension Workload {
    static func sum(_ rows: ResultSet) throws -> Int64 {
        let id: Int64 = try rows[0]
        let value: Double = try rows[2]
        let name = try rows.withBytes(forColumnIndex: 1) { Int64($0[0]) + Int64($0.count) }
        let data = try rows.withBytes(forColumnIndex: 3) { Int64($0[0]) + Int64($0.count) }
        return id + Int64(value) + name + data
    }

    /// Keys in a random order, the same each time.
    static func keys(_ count: Int, below end: Int) -> [Int64] {
        var state: UInt64 = 20_261_121
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int64(state >> 33) % Int64(end)
        }
    }

    static func points(_ files: BenchmarkFiles, count: Int) throws -> Workload {
        let file = files.filled("points.db")
        let raw = files.raw(file)
        let plain = files.raw(file, "PRAGMA user_version")
        let typed = try files.database(file)
        let ids = keys(count, below: files.rows.swift.count)
        let sql: SQL = "SELECT id, name, value, data FROM t WHERE id = ?"
        let peer = try Peer.grdb.map { try Peer($0, path: files.path(file)) }
        let line = "points " + ids.map(String.init).joined(separator: " ")
        return Workload(
            name: "point reads in one transaction",
            count: count,
            unit: "query",
            sides: [
                Side(name: "raw C") { raw_points(raw, ids, Int64(count)) },
                Side(name: "typed") {
                    try typed.inTransaction(.deferred) { database in
                        var sum: Int64 = 0
                        let statement = try database.prepare(sql)
                        for id in ids {
                            let rows = try statement.executeQuery(id)
                            if try rows.next() { sum += try self.sum(rows) }
                        }
                        return sum
                    }
                },
                Side(name: "by SQL") {
                    try typed.inTransaction(.deferred) { database in
                        var sum: Int64 = 0
                        for id in ids {
                            let rows = try database.executeQuery(sql, id)
                            if try rows.next() { sum += try self.sum(rows) }
                        }
                        return sum
                    }
                },
                Side(name: "raw C, the engine's defaults") { raw_points(plain, ids, Int64(count)) },
            ] + (peer.map { peer in [Side(name: "GRDB") { peer.ask(line) }] } ?? [])
        )
    }

    static func pointsAlone(_ files: BenchmarkFiles, count: Int) throws -> Workload {
        let file = files.filled("alone.db")
        let raw = files.raw(file)
        let typed = try files.database(file)
        let ids = keys(count, below: files.rows.swift.count)
        let sql: SQL = "SELECT id, name, value, data FROM t WHERE id = ?"
        return Workload(
            name: "point reads, each in a transaction of its own",
            count: count,
            unit: "query",
            sides: [
                Side(name: "raw C") { raw_points_alone(raw, ids, Int64(count)) },
                Side(name: "typed") {
                    var sum: Int64 = 0
                    let statement = try typed.prepare(sql)
                    for id in ids {
                        let rows = try statement.executeQuery(id)
                        if try rows.next() { sum += try self.sum(rows) }
                    }
                    return sum
                },
            ]
        )
    }

    static func ranges(_ files: BenchmarkFiles, count: Int) throws -> Workload {
        let file = files.filled("ranges.db")
        let raw = files.raw(file)
        let typed = try files.database(file)
        let length: Int64 = 100
        let firsts = keys(count, below: files.rows.swift.count - Int(length))
        return Workload(
            name: "ranges of 100 rows",
            count: count,
            unit: "query",
            sides: [
                Side(name: "raw C") { raw_ranges(raw, firsts, Int64(count), length) },
                Side(name: "typed") {
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
                },
            ]
        )
    }

    static func small(_ files: BenchmarkFiles, count: Int) throws -> Workload {
        let raw = files.raw("small.db")
        let typed = try files.database("small-typed.db")
        let compat = files.compat("small-compat.db")
        return Workload(
            name: "a query that reads no page",
            count: count,
            unit: "query",
            sides: [
                Side(name: "raw C") { raw_small(raw, Int64(count)) },
                Side(name: "prepared") {
                    var sum: Int64 = 0
                    let statement = try typed.prepare("SELECT ? + 1")
                    for index in 0..<Int64(count) {
                        let rows = try statement.executeQuery(index)
                        if try rows.next() { sum += try rows[0] as Int64 }
                    }
                    return sum
                },
                Side(name: "by SQL") {
                    var sum: Int64 = 0
                    for index in 0..<Int64(count) { sum += Int64(try typed.int(forQuery: "SELECT ? + 1", index) ?? 0) }
                    return sum
                },
                Side(name: "FMDBCompat") {
                    var sum: Int64 = 0
                    for index in 0..<Int64(count) {
                        let rows = compat.executeQuery("SELECT ? + 1", withArgumentsIn: [index])!
                        if rows.next() { sum += rows.longLongInt(forColumnIndex: 0) }
                        rows.close()
                    }
                    return sum
                },
            ]
        )
    }
}
