import CipherDB
import FMDBCompat
import Foundation
import RawC
import Turns

/// Files of a benchmark, and connections to them.
final class BenchmarkFiles {
    /// 32 bytes, so that no time goes into a derivation.
    static let digits = String(repeating: "2a", count: 32)
    /// What CipherDB sets, too: the comparison is of the wrapper.
    static let settings = "PRAGMA cache_size = -32768"
    /// The engine's own.
    static let smallCache = "PRAGMA cache_size = -2000"
    static let table = "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, value REAL, data BLOB)"
    static let empty = "DROP TABLE IF EXISTS t; " + table
    static let selectText = "SELECT id, name, value, data FROM t"
    static let select = SQL(unsafe: selectText)
    static let pointText = selectText + " WHERE id = ?"
    static let point = SQL(unsafe: pointText)
    static let insertText = "INSERT INTO t VALUES (?, ?, ?, ?)"
    static let insert = SQL(unsafe: insertText)
    /// How many rows of t take a mebibyte.
    static let rowsOfMebibyte = 14_800

    let directory: String
    let rowCount: Int
    /// The rows, in the forms that the sides take them in.
    lazy var rows = SampleRow.rows(rowCount)
    lazy var rowsOfBytes = rows.map { SampleRow($0.id, $0.name, $0.value, [UInt8]($0.data)) }
    lazy var rowsOfC = rows.map { row in
        var raw = raw_row()
        raw.id = row.id
        raw.value = row.value
        withUnsafeMutableBytes(of: &raw.name) { $0.copyBytes(from: row.name.utf8) }
        withUnsafeMutableBytes(of: &raw.data) { $0.copyBytes(from: row.data) }
        return raw
    }

    init(directory: String, rows: Int) {
        self.directory = directory
        rowCount = rows
    }

    /// Makes the directory, or removes all files but one from it.
    func clear(except kept: String?) throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where name != kept {
            try FileManager.default.removeItem(atPath: path(name))
        }
    }

    func path(_ name: String) -> String { directory + "/" + name }

    static func key() throws -> DatabaseKey { try .raw(hex: digits) }

    func raw(_ name: String, _ settings: String = BenchmarkFiles.settings) -> OpaquePointer {
        raw_open(path(name), "x'\(BenchmarkFiles.digits)'", settings)
    }

    /// - Parameter settings: Pragmas, or nil for the library's own.
    func database(_ name: String, _ settings: String? = nil) throws -> Database {
        let database = Database(path: path(name))
        try database.open(key: BenchmarkFiles.key())
        if let settings { try database.executeStatements(SQL(unsafe: settings)) }
        return database
    }

    func compat(_ name: String, _ settings: String? = nil) -> FMDatabase {
        let database = FMDatabase(path: path(name))
        guard database.open(), database.setKey("x'\(BenchmarkFiles.digits)'"),
            settings.map({ database.executeStatements($0) }) ?? true
        else { fatalError(database.lastErrorMessage()) }
        return database
    }

    /// Writes a file with rows, so many, or all; unless it is there.
    func fill(_ name: String, rows: Int? = nil) {
        guard !FileManager.default.fileExists(atPath: path(name)) else { return }
        let database = raw(name)
        raw_execute(database, BenchmarkFiles.table)
        _ = raw_fill(database, Int64(rows ?? rowCount))
        raw_close(database)
    }
}
