import CipherDB
import Foundation
import TestSupport
import Testing

/// Every pragma that the engine of this run knows has been decided on.
@Suite struct PragmaTests {
    /// What may be set on a keyed connection: it neither touches the key, nor writes outside the database, nor costs its owner memory.
    static let allowed: Set<String> = [
        "analysis_limit", "application_id", "auto_vacuum", "automatic_index", "busy_timeout", "cache_size",
        "cache_spill",
        "case_sensitive_like", "cell_size_check", "checkpoint_fullfsync", "collation_list", "compile_options",
        "count_changes",
        "data_version", "database_list", "default_cache_size", "defer_foreign_keys", "empty_result_callbacks",
        "encoding",
        "foreign_key_check", "foreign_key_list", "foreign_keys", "freelist_count", "full_column_names", "fullfsync",
        "function_list", "ignore_check_constraints", "incremental_vacuum", "index_info", "index_list", "index_xinfo",
        "integrity_check", "journal_mode", "journal_size_limit", "legacy_alter_table", "locking_mode", "max_page_count",
        "mmap_size", "module_list", "optimize", "page_count", "pragma_list", "query_only", "quick_check",
        "read_uncommitted",
        "recursive_triggers", "reverse_unordered_selects", "schema_version", "secure_delete", "short_column_names",
        "shrink_memory", "synchronous", "table_info", "table_list", "table_xinfo", "threads",
        "user_version", "wal_autocheckpoint", "wal_checkpoint",
    ]

    /// The names of SQLite's pragmas, which it tells since 3.16.
    private static func told(by database: Database) throws -> Set<String> {
        let rows = try database.executeQuery("PRAGMA pragma_list")
        var names: Set<String> = []
        while try rows.next() { names.insert(try rows[0]) }
        return names
    }

    /// SQLCipher's own are in no list: every text of the library is taken that could be one.
    private static func written(inLibrary path: String) throws -> Set<String> {
        let parts = ["cipher", "key", "kdf", "hmac", "temp_store", "writable", "heap_limit", "page_size"]
        var names: Set<String> = []
        for text in try FileState(path).bytes.split(separator: 0) where (3...40).contains(text.count) {
            let isName = text.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5F }
            guard isName else { continue }
            let name = String(decoding: text, as: UTF8.self)
            let isFunction = name.hasPrefix("sqlcipher") || name.hasPrefix("sqlite")
            if !isFunction, parts.contains(where: name.contains) { names.insert(name) }
        }
        // Compilers keep the end of a long name as a text of its own.
        return names.filter { !names.contains("cipher_\($0)") }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/maps"), "this system has no /proc"))
    func everyPragmaIsClassified() throws {
        let directory = try TemporaryDirectory()
        let database = Database(path: directory.file("test.db"))
        try database.open(key: .passphrase("right"))
        let line = try #require(
            try processInformation("maps").split(separator: "\n").first { $0.contains("/libsqlcipher.so") }
        )
        let library = String(line[try #require(line.firstIndex(of: "/"))...])
        let written = try Self.written(inLibrary: library)
        #expect(
            written.isSuperset(of: ["rekey_kdf_iter", "cipher_use_hmac", "hexrekey"]),
            "the library was read: \(library)"
        )
        // Where a name ends another one, the library has that one only.
        let names = try Self.told(by: database).union(written).union([
            "key", "rekey", "cipher", "kdf_iter", "page_size",
        ])
        for name in names.subtracting(Self.allowed) {
            #expect("PRAGMA \(name) = 1 is not refused: decide on it") {
                try database.executeStatements(SQL(unsafe: "PRAGMA \(name) = 1"))
            } throws: { isRefusal($0) }
        }
        for name in names.intersection(Self.allowed) {
            do { try database.executeStatements(SQL(unsafe: "PRAGMA \(name) = 1")) } catch let error as DatabaseError {
                #expect(!error.isRefusal, "PRAGMA \(name)")
            }
        }
    }
}
