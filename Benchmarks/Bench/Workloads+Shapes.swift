import CipherDB
import Foundation
import RawC

extension Workload {
    static func blobs(_ files: BenchmarkFiles, count: Int) throws -> [Workload] {
        let size = 1_000_000
        let blob = Data(repeating: 7, count: size)
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        blob.copyBytes(to: bytes)
        let empty = "DROP TABLE IF EXISTS b; CREATE TABLE b (id INTEGER PRIMARY KEY, data BLOB)"
        let raw = files.raw("blobs-raw.db")
        let typed = try files.database("blobs-typed.db")
        return [
            Workload(
                name: "insert of blobs of 1 MB",
                count: count,
                unit: "blob",
                sides: [
                    Side(name: "raw C", prepare: { raw_execute(raw, empty) }) {
                        raw_insert_blobs(raw, bytes.baseAddress, Int64(size), Int64(count))
                    },
                    Side(name: "typed", prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                        try typed.inTransaction { database in
                            let statement = try database.prepare("INSERT INTO b (data) VALUES (?)")
                            for _ in 0..<count { try statement.executeUpdate(blob) }
                        }
                        return Int64(count)
                    },
                ]
            ),
            Workload(
                name: "reading of blobs of 1 MB, borrowing",
                count: count,
                unit: "blob",
                sides: [
                    Side(name: "raw C") { raw_read_blobs(raw) },
                    Side(name: "typed") {
                        var sum: Int64 = 0
                        let rows = try typed.executeQuery("SELECT data FROM b")
                        while try rows.next() {
                            sum += try rows.withBytes(forColumnIndex: 0) { Int64($0[0]) + Int64($0.count) }
                        }
                        return sum
                    },
                    Side(name: "into Data") {
                        var sum: Int64 = 0
                        let rows = try typed.executeQuery("SELECT data FROM b")
                        while try rows.next() {
                            let data: Data = try rows[0]
                            sum += Int64(data[0]) + Int64(data.count)
                        }
                        return sum
                    },
                ]
            ),
        ]
    }

    static func texts(_ files: BenchmarkFiles, count: Int) throws -> [Workload] {
        let text = String(repeating: "a", count: 200)
        let empty = "DROP TABLE IF EXISTS x; CREATE TABLE x (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT, d TEXT)"
        let raw = files.raw("texts-raw.db")
        let typed = try files.database("texts-typed.db")
        return [
            Workload(
                name: "insert of 4 texts of 200 bytes",
                count: count,
                unit: "row",
                sides: [
                    Side(name: "raw C", prepare: { raw_execute(raw, empty) }) {
                        raw_insert_texts(raw, text, 200, Int64(count))
                    },
                    Side(name: "typed", prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                        try typed.inTransaction { database in
                            let statement = try database.prepare("INSERT INTO x (a, b, c, d) VALUES (?, ?, ?, ?)")
                            for _ in 0..<count { try statement.executeUpdate(text, text, text, text) }
                        }
                        return Int64(count)
                    },
                ]
            ),
            Workload(
                name: "scan of 4 texts of 200 bytes",
                count: count,
                unit: "row",
                sides: [
                    Side(name: "raw C") { raw_scan_texts(raw) },
                    Side(name: "typed") {
                        var sum: Int64 = 0
                        let rows = try typed.executeQuery("SELECT a, b, c, d FROM x")
                        while try rows.next() {
                            for column in 0..<4 {
                                let text: String = try rows[column]
                                sum += Int64(text.utf8.first!) + Int64(text.utf8.count)
                            }
                        }
                        return sum
                    },
                ]
            ),
        ]
    }

    static func wide(_ files: BenchmarkFiles, count: Int) throws -> [Workload] {
        let columns = 50
        let names = (0..<columns).map { "c\($0) INTEGER" }.joined(separator: ", ")
        let empty = "DROP TABLE IF EXISTS w; CREATE TABLE w (\(names))"
        let marks = Array(repeating: "?", count: columns).joined(separator: ", ")
        let raw = files.raw("wide-raw.db")
        let typed = try files.database("wide-typed.db")
        return [
            Workload(
                name: "insert of 50 columns, as an array",
                count: count,
                unit: "row",
                sides: [
                    Side(name: "raw C", prepare: { raw_execute(raw, empty) }) {
                        raw_insert_wide(raw, Int32(columns), Int64(count))
                    },
                    Side(name: "typed", prepare: { try typed.executeStatements(SQL(unsafe: empty)) }) {
                        try typed.inTransaction { database in
                            let statement = try database.prepare(SQL(unsafe: "INSERT INTO w VALUES (\(marks))"))
                            for index in 0..<count {
                                try statement.executeUpdate(values: StatementValues((0..<columns).map { index + $0 }))
                            }
                        }
                        return Int64(count)
                    },
                ]
            ),
            Workload(
                name: "scan of 50 columns",
                count: count,
                unit: "row",
                sides: [
                    Side(name: "raw C") { raw_scan_wide(raw, Int32(columns)) },
                    Side(name: "typed") {
                        var sum: Int64 = 0
                        let rows = try typed.executeQuery("SELECT * FROM w")
                        while try rows.next() {
                            for column in 0..<columns { sum += try rows[column] as Int64 }
                        }
                        return sum
                    },
                ]
            ),
        ]
    }
}
