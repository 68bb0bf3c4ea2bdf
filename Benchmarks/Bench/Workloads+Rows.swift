import CipherDB
import FMDBCompat
import Foundation
import RawC

extension Workload {
    private static let insertText = "INSERT INTO t VALUES (?, ?, ?, ?)"
    private static let insert = SQL(unsafe: insertText)
    private static let selectText = "SELECT id, name, value, data FROM t"
    private static let select = SQL(unsafe: selectText)

    private static let empty = "DROP TABLE IF EXISTS t; " + BenchmarkFiles.table

    static func bulkInsert(_ files: BenchmarkFiles) throws -> Workload {
        let raw = files.raw("insert-raw.db")
        let typed = try files.database("insert-typed.db")
        let other = try files.database("insert-data.db")
        let style = try files.database("insert-style.db")
        let compat = files.compat("insert-compat.db")
        let rows = files.rows
        let peer = try Peer.grdb.map { try Peer($0, path: files.path("insert-grdb.db")) }
        // Its rows are made once, as those of the others are.
        _ = peer?.ask("insert \(rows.count)")
        let grdb = peer.map { peer in
            Side(name: "GRDB", prepare: { _ = peer.ask("prepare") }) { peer.ask("insert \(rows.count)") }
        }
        return Workload(
            name: "bulk insert",
            count: rows.swift.count,
            unit: "row",
            goals: ["typed": 1.10, "FMDB-style": 1.6],
            sides: [
                Side(name: "raw C", prepare: { raw_execute(raw, empty) }) {
                    raw_insert(raw, rows.c.baseAddress, rows.count)
                },
                Side(name: "typed", prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                    try typed.inTransaction { database in
                        let statement = try database.prepare(insert)
                        for row in rows.bytes {
                            try statement.executeUpdate(row.id, row.name, row.value, row.data)
                        }
                    }
                    return rows.count
                },
                Side(name: "typed, Data", prepare: { try other.executeStatements(SQL(unsafe: empty)) }) {
                    try other.inTransaction { database in
                        let statement = try database.prepare(insert)
                        for row in rows.swift {
                            try statement.executeUpdate(row.id, row.name, row.value, row.data)
                        }
                    }
                    return rows.count
                },
                Side(name: "FMDB-style", prepare: { try style.executeStatements(SQL(unsafe: empty)) }) {
                    try style.inTransaction { database in
                        for row in rows.swift {
                            let values: StatementValues = [row.id, row.name, row.value, row.data]
                            try database.executeUpdate(insert, values: values)
                        }
                    }
                    return rows.count
                },
                Side(name: "FMDBCompat", prepare: { _ = compat.executeStatements(empty) }) {
                    _ = compat.beginTransaction()
                    for row in rows.swift {
                        guard
                            compat.executeUpdate(insertText, withArgumentsIn: [row.id, row.name, row.value, row.data])
                        else { fatalError(compat.lastErrorMessage()) }
                    }
                    _ = compat.commit()
                    return rows.count
                },
            ] + (grdb.map { [$0] } ?? [])
        )
    }

    static func autocommit(_ files: BenchmarkFiles, _ mode: JournalMode, count: Int) throws -> Workload {
        let settings = BenchmarkFiles.settings + "; PRAGMA journal_mode = \(mode.rawValue)"
        let raw = files.raw("alone-raw-\(mode.rawValue).db", settings)
        let typed = try files.database("alone-typed-\(mode.rawValue).db")
        try typed.executeStatements(SQL(unsafe: "PRAGMA journal_mode = \(mode.rawValue)"))
        let rows = files.rows
        return Workload(
            name: "single-row autocommit, \(mode.rawValue)",
            count: count,
            unit: "row",
            goals: mode == .wal ? ["typed": 1.05] : [:],
            sides: [
                Side(name: "raw C", prepare: { raw_execute(raw, empty) }) {
                    raw_insert_alone(raw, rows.c.baseAddress, Int64(count))
                },
                Side(name: "typed", prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                    let statement = try typed.prepare(insert)
                    for row in rows.bytes.prefix(count) {
                        try statement.executeUpdate(row.id, row.name, row.value, row.data)
                    }
                    return Int64(count)
                },
            ]
        )
    }

    /// - Parameter isCached: Whether the pages stay decrypted, or are read and decrypted each time, as with the engine's own cache.
    static func scan(_ files: BenchmarkFiles, isCached: Bool) throws -> Workload {
        let file = files.filled("scan-\(isCached).db")
        let raw = files.raw(file, isCached ? BenchmarkFiles.settings : BenchmarkFiles.smallCache)
        let typed = try files.database(file)
        let compat = files.compat(file)
        if !isCached {
            try typed.executeStatements(SQL(unsafe: BenchmarkFiles.smallCache))
            _ = compat.executeStatements(BenchmarkFiles.smallCache)
        }
        let peer = try isCached ? nil : Peer.grdb.map { try Peer($0, path: files.path(file)) }
        return Workload(
            name: "scan, 4 columns into values" + (isCached ? ", all in the cache" : ""),
            count: files.rows.swift.count,
            unit: "row",
            goals: isCached ? [:] : ["typed": 1.15],
            sides: [
                Side(name: "raw C") { raw_scan_copying(raw) },
                Side(name: "typed") {
                    var sum: Int64 = 0
                    let rows = try typed.executeQuery(select)
                    while try rows.next() {
                        let id: Int64 = try rows[0]
                        let name: String = try rows[1]
                        let value: Double = try rows[2]
                        let data: [UInt8] = try rows[3]
                        sum += digest(id, name, value, data)
                    }
                    return sum
                },
                Side(name: "typed, Data") {
                    var sum: Int64 = 0
                    let rows = try typed.executeQuery(select)
                    while try rows.next() {
                        let id: Int64 = try rows[0]
                        let name: String = try rows[1]
                        let value: Double = try rows[2]
                        let data: Data = try rows[3]
                        sum += digest(id, name, value, data)
                    }
                    return sum
                },
                Side(name: "by name") {
                    var sum: Int64 = 0
                    let rows = try typed.executeQuery(select)
                    while try rows.next() {
                        let id = try Int64(rows.int(forColumn: "id")!)
                        let name = try rows.string(forColumn: "name")!
                        let value = try rows.double(forColumn: "value")!
                        let data = try rows.data(forColumn: "data")!
                        sum += digest(id, name, value, data)
                    }
                    return sum
                },
                Side(name: "FMDBCompat") {
                    var sum: Int64 = 0
                    let rows = compat.executeQuery(selectText, withArgumentsIn: [])!
                    while rows.next() {
                        let id = rows.longLongInt(forColumnIndex: 0)
                        let name = rows.string(forColumnIndex: 1)!
                        let value = rows.double(forColumnIndex: 2)
                        let data = rows.data(forColumnIndex: 3)!
                        sum += digest(id, name, value, data)
                    }
                    return sum
                },
            ] + (peer.map { peer in [Side(name: "GRDB") { peer.ask("scan") }] } ?? [])
        )
    }

    /// What a row's own types make of the same scan; in this one the others are measured by GRDB, where it is there.
    static func decode(_ files: BenchmarkFiles) throws -> Workload {
        let file = files.filled("decode.db")
        let database = try files.database(file)
        try database.executeStatements(SQL(unsafe: BenchmarkFiles.smallCache))
        let peer = try Peer.grdb.map { try Peer($0, path: files.path(file)) }
        let peers = peer.map { peer in
            [
                Side(name: "GRDB, Codable") { peer.ask("decode") },
                Side(name: "GRDB, by hand") { peer.ask("records") },
            ]
        }
        return Workload(
            name: "rows into a type of 4 columns",
            count: files.rows.swift.count,
            unit: "row",
            goals: peers == nil ? [:] : ["Codable": 1],
            sides: (peers ?? []) + [
                Side(name: "Codable") {
                    try database.fetchAll(CodableRow.self, select).reduce(0) {
                        $0 + digest($1.id, $1.name, $1.value, $1.data)
                    }
                },
                Side(name: "by hand") {
                    try database.fetchAll(RowByHand.self, select).reduce(0) {
                        $0 + digest($1.id, $1.name, $1.value, $1.data)
                    }
                },
            ]
        )
    }

    private struct CodableRow: Codable, RowDecodable {
        let id: Int64
        let name: String
        let value: Double
        let data: Data
    }

    private struct RowByHand: RowDecodable {
        let id: Int64
        let name: String
        let value: Double
        let data: Data

        init(row: ResultSet) throws {
            id = try row[0]
            name = try row[1]
            value = try row[2]
            data = try row[3]
        }
    }

    /// `count(*)` with a page cache that the table does not fit in: reading, authenticating and decrypting pages, and little else.
    static func count(_ files: BenchmarkFiles) throws -> Workload {
        let file = files.filled("count.db")
        let raw = files.raw(file, BenchmarkFiles.smallCache)
        let typed = try files.database(file)
        try typed.executeStatements(SQL(unsafe: BenchmarkFiles.smallCache))
        return Workload(
            name: "count(*), cold",
            count: files.rows.swift.count,
            unit: "row",
            sides: [
                Side(name: "raw C") { raw_count(raw) },
                Side(name: "typed") { Int64(try typed.int(forQuery: "SELECT count(*) FROM t") ?? 0) },
            ]
        )
    }

    static func scanBorrowing(_ files: BenchmarkFiles, isCached: Bool) throws -> Workload {
        let file = files.filled("borrow-\(isCached).db")
        let raw = files.raw(file, isCached ? BenchmarkFiles.settings : BenchmarkFiles.smallCache)
        let typed = try files.database(file)
        if !isCached { try typed.executeStatements(SQL(unsafe: BenchmarkFiles.smallCache)) }
        return Workload(
            name: "scan, borrowing" + (isCached ? ", all in the cache" : ""),
            count: files.rows.swift.count,
            unit: "row",
            goals: isCached ? [:] : ["typed": 1.05],
            sides: [
                Side(name: "raw C") { raw_scan_borrowing(raw) },
                Side(name: "typed") {
                    var sum: Int64 = 0
                    let rows = try typed.executeQuery(select)
                    while try rows.next() {
                        let id: Int64 = try rows[0]
                        let value: Double = try rows[2]
                        sum += id + Int64(value)
                        sum += try rows.withBytes(forColumnIndex: 1) { Int64($0[0]) + Int64($0.count) }
                        sum += try rows.withBytes(forColumnIndex: 3) { Int64($0[0]) + Int64($0.count) }
                    }
                    return sum
                },
            ]
        )
    }
}

/// What shows that a row was read, and all of its values.
@inline(__always)
private func digest(_ id: Int64, _ name: String, _ value: Double, _ data: some RandomAccessCollection<UInt8>) -> Int64 {
    id + Int64(name.utf8.first!) + Int64(name.utf8.count) + Int64(value) + Int64(data.first!) + Int64(data.count)
}
