import CipherDB
import Foundation
import RawC
import Turns

extension Workload {
    /// A table of rows of another shape, which is written and read by C and by statements of CipherDB's.
    private struct Shape {
        let empty: String
        let insert: (OpaquePointer) -> Int64
        let typedInsert: (Database) throws -> Int64
        let read: (OpaquePointer) -> Int64
        let typedReads: [(name: String, body: (Database) throws -> Int64)]

        func workloads(
            _ files: BenchmarkFiles,
            insert name: String,
            read readName: String,
            _ count: Int,
            _ unit: String
        )
            -> [Workload]
        {
            [
                Workload(
                    name: name,
                    count: count,
                    unit: unit,
                    sides: [
                        Side(name: "raw C") {
                            let raw = files.raw("shape-raw.db")
                            return Work(prepare: { raw_execute(raw, empty) }) { insert(raw) }
                        },
                        Side(name: "typed") {
                            let typed = try files.database("shape-typed.db")
                            return Work(prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                                try typed.inTransaction { try typedInsert($0) }
                            }
                        },
                    ]
                ),
                Workload(
                    name: readName,
                    count: count,
                    unit: unit,
                    setUp: {
                        let raw = files.raw("shape.db", empty)
                        _ = insert(raw)
                        raw_close(raw)
                    },
                    sides: [
                        Side(name: "raw C") {
                            let raw = files.raw("shape.db")
                            return Work { read(raw) }
                        }
                    ]
                        + typedReads.map { side in
                            Side(name: side.name) {
                                let typed = try files.database("shape.db")
                                return Work { try side.body(typed) }
                            }
                        }
                ),
            ]
        }
    }

    static func blobs(_ files: BenchmarkFiles, count: Int) -> [Workload] {
        let blob = Data(repeating: 7, count: 1_000_000)
        return Shape(
            empty: "DROP TABLE IF EXISTS b; CREATE TABLE b (id INTEGER PRIMARY KEY, data BLOB)",
            insert: { raw in
                blob.withUnsafeBytes { raw_insert_blobs(raw, $0.baseAddress, Int64($0.count), Int64(count)) }
            },
            typedInsert: { database in
                let statement = try database.prepare("INSERT INTO b (data) VALUES (?)")
                for _ in 0..<count { try statement.executeUpdate(blob) }
                return Int64(count)
            },
            read: { raw_read_blobs($0) },
            typedReads: [
                (
                    "typed",
                    {
                        var sum: Int64 = 0
                        let rows = try $0.executeQuery("SELECT data FROM b")
                        while try rows.next() {
                            sum += try rows.withBytes(forColumnIndex: 0) { Int64($0[0]) + Int64($0.count) }
                        }
                        return sum
                    }
                ),
                (
                    "into Data",
                    {
                        var sum: Int64 = 0
                        let rows = try $0.executeQuery("SELECT data FROM b")
                        while try rows.next() {
                            let data: Data = try rows[0]
                            sum += Int64(data[0]) + Int64(data.count)
                        }
                        return sum
                    }
                ),
            ]
        ).workloads(
            files,
            insert: "insert of blobs of 1 MB",
            read: "reading of blobs of 1 MB, borrowing",
            count,
            "blob"
        )
    }

    static func texts(_ files: BenchmarkFiles, count: Int) -> [Workload] {
        let text = String(repeating: "a", count: 200)
        return Shape(
            empty: "DROP TABLE IF EXISTS x; CREATE TABLE x (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d TEXT)",
            insert: { raw_insert_texts($0, text, 200, Int64(count)) },
            typedInsert: { database in
                let statement = try database.prepare("INSERT INTO x (a, b, c, d) VALUES (?, ?, ?, ?)")
                for _ in 0..<count { try statement.executeUpdate(text, text, text, text) }
                return Int64(count)
            },
            read: { raw_scan_texts($0) },
            typedReads: [
                (
                    "typed",
                    {
                        var sum: Int64 = 0
                        let rows = try $0.executeQuery("SELECT a, b, c, d FROM x")
                        while try rows.next() {
                            for column in 0..<4 {
                                let text: String = try rows[column]
                                sum += Int64(text.utf8.first!) + Int64(text.utf8.count)
                            }
                        }
                        return sum
                    }
                )
            ]
        ).workloads(
            files,
            insert: "insert of 4 texts of 200 bytes",
            read: "scan of 4 texts of 200 bytes",
            count,
            "row"
        )
    }

    static func wide(_ files: BenchmarkFiles, count: Int) -> [Workload] {
        let columns = 50
        let names = (0..<columns).map { "c\($0) INTEGER" }.joined(separator: ", ")
        let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
        return Shape(
            empty: "DROP TABLE IF EXISTS w; CREATE TABLE w (\(names))",
            insert: { raw_insert_wide($0, Int32(columns), Int64(count)) },
            typedInsert: { database in
                let statement = try database.prepare(SQL(unsafe: "INSERT INTO w VALUES (\(marks))"))
                for index in 0..<count {
                    try statement.executeUpdate(values: StatementValues((0..<columns).map { index + $0 }))
                }
                return Int64(count)
            },
            read: { raw_scan_wide($0, Int32(columns)) },
            typedReads: [
                (
                    "typed",
                    {
                        var sum: Int64 = 0
                        let rows = try $0.executeQuery("SELECT * FROM w")
                        while try rows.next() {
                            for column in 0..<columns { sum += try rows[column] as Int64 }
                        }
                        return sum
                    }
                )
            ]
        ).workloads(files, insert: "insert of 50 columns, as an array", read: "scan of 50 columns", count, "row")
    }
}
