import CipherDB
import FMDBCompat
import Foundation
import RawC

/// The rows of the workloads, in the forms that the sides take them in.
struct Rows {
    let c: UnsafeMutableBufferPointer<raw_row>
    let swift: [Row<Data>]
    let bytes: [Row<[UInt8]>]

    struct Row<Blob> {
        let id: Int64
        let name: String
        let value: Double
        let data: Blob
    }

    init(_ range: Range<Int>) {
        c = .allocate(capacity: range.count)
        swift = range.map { id in
            let text = String(id)
            return Row(
                id: Int64(id),
                name: "name " + String(repeating: "0", count: 11 - text.count) + text,
                value: Double(id) / 2,
                data: Data(repeating: UInt8(truncatingIfNeeded: id), count: 32)
            )
        }
        bytes = swift.map { Row(id: $0.id, name: $0.name, value: $0.value, data: [UInt8]($0.data)) }
        for (index, row) in swift.enumerated() {
            var raw = raw_row()
            raw.id = row.id
            raw.value = row.value
            withUnsafeMutableBytes(of: &raw.name) { $0.copyBytes(from: row.name.utf8) }
            withUnsafeMutableBytes(of: &raw.data) { $0.copyBytes(from: row.data) }
            c.initializeElement(at: index, to: raw)
        }
    }

    var count: Int64 { Int64(swift.count) }
}

/// Files of a benchmark, and connections to them.
final class BenchmarkFiles {
    /// 32 bytes, so that no time goes into a derivation.
    static let digits = String(repeating: "2a", count: 32)
    /// What CipherDB sets, too: the comparison is of the wrapper.
    static let settings = "PRAGMA cache_size = -32768"
    /// The engine's own.
    static let smallCache = "PRAGMA cache_size = -2000"
    static let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB)"

    let directory: String
    let rows: Rows

    init(directory: String, rows: Int) throws {
        self.directory = directory + "/cipherdb-bench-\(UUID().uuidString)"
        self.rows = Rows(0..<rows)
        try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }

    func path(_ name: String) -> String { directory + "/" + name }

    static func key() throws -> DatabaseKey { try .raw(hex: digits) }

    func raw(_ name: String, _ settings: String = BenchmarkFiles.settings) -> OpaquePointer {
        raw_open(path(name), "x'\(BenchmarkFiles.digits)'", settings)
    }

    func database(_ name: String) throws -> Database {
        let database = Database(path: path(name))
        try database.open(key: BenchmarkFiles.key())
        return database
    }

    func compat(_ name: String) -> FMDatabase {
        let database = FMDatabase(path: path(name))
        guard database.open(), database.setKey("x'\(BenchmarkFiles.digits)'") else {
            fatalError(database.lastErrorMessage())
        }
        return database
    }

    /// A file with all rows.
    func filled(_ name: String) -> String {
        let database = raw(name)
        raw_execute(database, BenchmarkFiles.table)
        _ = raw_insert(database, rows.c.baseAddress, rows.count)
        raw_close(database)
        return name
    }
}
