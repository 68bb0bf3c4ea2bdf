import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// What SQL alone could do to the owner of a database: lock him out, or write his data where anybody can read them.
@Suite final class LockdownTests: RawKeyFixture {
    override func open(_ path: String? = nil, _ change: (inout Configuration) -> Void = { _ in }) throws -> Database {
        let database = try super.open(path, change)
        try database.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES ('plaintextmarker')")
        return database
    }

    /// Statements that only the owner may run, by every call that runs SQL.
    static let refused = [
        "PRAGMA key = 'evil'", "PRAGMA rekey = 'evil'", "PRAGMA REKEY('evil')", "PRAGMA main.rekey = 'evil'",
        "PRAGMA hexkey = '00'", "PRAGMA hexrekey = '00'", "PRAGMA textkey = 'evil'", "PRAGMA textrekey = 'evil'",
        "PRAGMA cipher = 'rc4'", "PRAGMA rekey_cipher = 'rc4'", "PRAGMA rekey_kdf_iter = 1", "PRAGMA page_size = 512",
        "PRAGMA hard_heap_limit = 1", "PRAGMA soft_heap_limit = 1",
        "PRAGMA cipher_default_use_hmac = OFF", "PRAGMA cipher_use_hmac = OFF", "PRAGMA cipher_compatibility = 1",
        "PRAGMA cipher_migrate", "PRAGMA cipher_page_size = 512", "PRAGMA kdf_iter = 1", "PRAGMA cipher_log = stderr",
        "PRAGMA cipher_profile = 'profile.txt'", "PRAGMA cipher_plaintext_header_size = 32",
        "PRAGMA cipher_hmac_salt_mask = \"x'00'\"", "PRAGMA cipher_add_random = \"x'00'\"",
        "PRAGMA temp_store = FILE", "PRAGMA temp_store(1)", "PRAGMA temp_store_directory = '/tmp'",
        "PRAGMA writable_schema = ON", "PRAGMA writable_schema = RESET", "PRAGMA trusted_schema = ON",
        "PRAGMA secure_delete = OFF", "PRAGMA main.secure_delete(fast)", "PRAGMA secure_delete = 0",
        "ATTACH 'plain.db' AS x KEY ''", "ATTACH 'plain.db' AS x", "ATTACH 'plain.db' AS x KEY 'evil'",
        "ATTACH 'plain' || '.db' AS x KEY ''", "ATTACH 'file:plain.db?mode=memory' AS x",
        "SELECT load_extension('evil')", "SELECT fts3_tokenizer('simple')",
        "CREATE VIRTUAL TABLE pages USING sqlite_dbpage", "CREATE VIRTUAL TABLE temp.pages USING SQLite_DBPage(main)",
    ]

    @Test(arguments: refused)
    func harmfulStatementIsRefused(sql: String) throws {
        let sql = sql.replacing("plain.db", with: directory.file("plain.db")).replacing(
            "profile.txt",
            with: directory.file("p")
        )
        let database = try open()
        let before = directory.names
        #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        #expect { try database.executeUpdate(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        #expect { _ = try database.executeQuery(SQL(unsafe: sql)).next() } throws: { isRefusal($0) }
        #expect(directory.names == before)
        database.close()
        _ = try open()
    }

    /// The engine calls them also while it runs statements of the library's own, which may do more.
    @Test func callbacksAreLockedDown() throws {
        // The closures run within a call on the same thread.
        nonisolated(unsafe) let database = try open()
        let other = try open()
        let plain = directory.file("plain.db")
        let statements = [
            "PRAGMA temp_store = FILE", "PRAGMA writable_schema = ON", "ATTACH '\(plain)' AS x KEY ''",
            "PRAGMA rekey = 'evil'",
        ]
        let refusals = Lock<[String]>([])
        let tryAll = { @Sendable () -> Void in
            guard refusals.withLock({ $0.isEmpty }) else { return }
            for sql in statements {
                do {
                    try database.executeStatements(SQL(unsafe: sql))
                    Issue.record("\(sql) was allowed")
                } catch {
                    if isRefusal(error) { refusals.withLock { $0.append(sql) } }
                }
            }
        }
        // The library asks for a lock of its own before a query returns.
        try other.executeStatements("BEGIN EXCLUSIVE")
        database.setBusyHandler { _ in
            tryAll()
            return false
        }
        #expect(throws: DatabaseError.self) { _ = try database.executeQuery("SELECT a FROM t").next() }
        #expect(refusals.withLock { $0 } == statements)
        try other.executeStatements("ROLLBACK")
        database.setBusyHandler(nil)
        // It attaches by a statement, too.
        refusals.withLock { $0 = [] }
        database.setTrace { _ in tryAll() }
        try database.attach(directory.file("other.db"), as: "o", key: .sample("k"))
        #expect(refusals.withLock { $0 } == statements)
        database.setTrace(nil)
        other.close()
        database.close()
        _ = try open()
    }

    @Test func vacuumIntoIsRefused() throws {
        let database = try open()
        let isKnown = Engine.current.sqliteVersion.compare("3.27", options: .numeric) != .orderedAscending
        for into in ["?", "'\(directory.file("plain.db"))'"] {
            #expect {
                try database.executeUpdate(
                    SQL(unsafe: "VACUUM INTO \(into)"),
                    values: into == "?" ? [directory.file("plain.db")] : []
                )
            } throws: {
                // Before 3.27 it was no SQL.
                isRefusal($0) == isKnown
            }
        }
        #expect(directory.names == ["test.db"])
        try database.executeUpdate("VACUUM")
        #expect(try database.string(forQuery: "SELECT a FROM t") == "plaintextmarker")
    }

    @Test func laterConnectionsAreLockedDown() throws {
        try open().close()
        let pool = try DatabasePool(path: path, key: key)
        let attach = "ATTACH '\(directory.file("plain.db"))' AS x KEY ''"
        try pool.read { database in
            for sql in [attach, "PRAGMA query_only = OFF"] {
                #expect { try database.executeUpdate(SQL(unsafe: sql)) } throws: { isRefusal($0) }
            }
        }
        try pool.rekey(.sample("other"))
        try pool.write { database in
            _ = #expect { try database.executeUpdate(SQL(unsafe: attach)) } throws: { isRefusal($0) }
        }
        let queue = try DatabaseQueue(path: path, key: .sample("other"))
        let connection = try queue.openConnection()
        #expect { try connection.executeUpdate(SQL(unsafe: attach)) } throws: { isRefusal($0) }
    }

    @Test func prepareDatabaseIsLockedDown() {
        let prepare: @Sendable (Database) throws -> Void = { try $0.executeUpdate("PRAGMA temp_store = FILE") }
        #expect { try open { $0.prepareDatabase = prepare } } throws: { isRefusal($0) }
    }

    @Test func everydayPragmasAndDatabasesInMemoryAreAllowed() throws {
        let database = try open()
        for sql in [
            "PRAGMA cache_size = 100", "PRAGMA foreign_keys", "PRAGMA user_version = 3", "PRAGMA cipher_version",
            "PRAGMA temp_store", "PRAGMA writable_schema", "PRAGMA journal_mode = WAL", "PRAGMA integrity_check",
            "PRAGMA secure_delete", "PRAGMA secure_delete = ON", "ATTACH ':memory:' AS m", "DETACH m", "ATTACH '' AS m",
            "ANALYZE", "REINDEX",
        ] { try database.executeStatements(SQL(unsafe: sql)) }
    }

    @Test func databaseInMemoryIsLockedDown() throws {
        let plain = directory.file("plain.db")
        let isVacuumIntoKnown =
            Engine.current.sqliteVersion.compare("3.27", options: .numeric) != .orderedAscending
        var writing: [SQL] = [SQL(unsafe: "ATTACH '\(plain)' AS x"), SQL(unsafe: "ATTACH '\(plain)' AS x KEY ''")]
        if isVacuumIntoKnown { writing.append(SQL(unsafe: "VACUUM INTO '\(plain)'")) }
        for sql in writing {
            #expect { try DatabaseQueue(path: nil).inDatabase { try $0.executeUpdate(sql) } } throws: { isRefusal($0) }
            #expect { try DatabasePool(path: nil).inDatabase { try $0.executeUpdate(sql) } } throws: { isRefusal($0) }
            let database = Database(path: ":memory:")
            try database.open()
            #expect { try database.executeStatements(sql) } throws: { isRefusal($0) }
        }
        expect(throws: KeyError.keyMissing) {
            try DatabaseQueue(path: nil).inDatabase { try $0.attachPlaintext(plain, as: "x") }
        }
        #expect(directory.names == [])
        for sql in writing {
            let queue = try DatabaseQueue(path: nil, configuration: Configuration { $0.allowsPlaintext = true })
            try queue.inDatabase { try $0.executeUpdate(sql) }
            try FileManager.default.removeItem(atPath: plain)
        }
    }

    @Test func unsafeSQLStillCannotSetKeys() throws {
        let database = try open { $0.unsafeAllowsAllSQL = true }
        try database.executeStatements(
            SQL(unsafe: "ATTACH '\(directory.file("plain.db"))' AS x KEY ''; CREATE TABLE x.c AS SELECT * FROM t")
        )
        try database.executeStatements("DETACH x; PRAGMA temp_store = FILE; PRAGMA writable_schema = ON")
        #expect(try FileState(directory.file("plain.db")).bytes.prefix(15) == Data("SQLite format 3".utf8))
        for sql in [
            "PRAGMA rekey = 'evil'", "PRAGMA key = 'evil'", "PRAGMA cipher_default_use_hmac = OFF",
            "PRAGMA cipher = 'rc4'",
            "PRAGMA rekey_cipher = 'rc4'", "PRAGMA rekey_kdf_iter = 1",
        ] {
            #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        }
    }

    // MARK: Typed calls

    @Test func attachedDatabaseHasOwnKey() throws {
        let other = directory.file("other.db")
        let database = try open()
        for key in [try DatabaseKey.sample("another"), try .random()] {
            try? FileManager.default.removeItem(atPath: other)
            try database.attach(other, as: "o", key: key)
            try database.executeStatements("CREATE TABLE o.copy AS SELECT * FROM t; DETACH o")
            #expect(try FileState(other).bytes.prefix(16) != FileState(path).bytes.prefix(16))
            #expect(try !Database.plaintext(in: other))
            let opened = try DatabaseQueue(path: other, key: key)
            #expect(try opened.inDatabase { try $0.string(forQuery: "SELECT a FROM copy") } == "plaintextmarker")
            try opened.close()
            // Also a file that is there.
            try database.attach(other, as: "o", key: key)
            #expect(try database.string(forQuery: "SELECT a FROM o.copy") == "plaintextmarker")
            try database.executeStatements("DETACH o")
            expect(throws: KeyError.wrongKey) { try database.attach(other, as: "o", key: .sample("wrong")) }
            #expect(throws: DatabaseError.self) { try database.string(forQuery: "SELECT a FROM o.copy") }
        }
    }

    @Test func attachingPlaintextNeedsPermission() throws {
        let plain = directory.file("plain.db")
        expect(throws: KeyError.keyMissing) { try open().attachPlaintext(plain, as: "p") }
        #expect(!FileManager.default.fileExists(atPath: plain))
        let database = try open { $0.allowsPlaintext = true }
        try database.attachPlaintext(plain, as: "p")
        try database.executeStatements("CREATE TABLE p.copy AS SELECT * FROM t; DETACH p")
        #expect(try Database.plaintext(in: plain))
    }

    @Test func attachedKeyIsInNoTrace() throws {
        let database = try open()
        let events = Lock<[String]>([])
        database.setTrace { event in events.withLock { $0.append("\(event)") } }
        try database.attach(directory.file("other.db"), as: "o", key: .raw(hex: String(repeating: "ab", count: 32)))
        #expect(!events.withLock { $0.joined() }.lowercased().contains("abababab"))
    }

    // MARK: A program's own

    /// One that a later SQLite has is one that nobody here can judge.
    @Test func unknownActionIsDenied() {
        let authorizer = Authorizer()
        authorizer.user = { _ in .allow }
        #expect(authorizer.decide(21, nil, nil, nil, nil) == .allow)
        #expect(authorizer.decide(999, nil, nil, nil, nil) == .deny)
    }

    @Test func programAuthorizerIsAsked() throws {
        let database = try open()
        let asked = Lock<[AuthorizerAction]>([])
        database.setAuthorizer { action in
            asked.withLock { $0.append(action) }
            switch action.kind {
            case .read where action.second == "a": return .ignore
            case .delete: return .deny
            default: return .allow
            }
        }
        #expect(try database.string(forQuery: "SELECT a FROM t") == nil)
        #expect { try database.executeUpdate("DELETE FROM t") } throws: {
            ($0 as? DatabaseError)?.code == .notAuthorized
        }
        for sql in ["PRAGMA rekey = 'secretmarker'", "ATTACH 'x' AS y KEY 'secretmarker'"] {
            #expect { try database.executeUpdate(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        }
        // What is refused anyway is not told, and so no key.
        #expect(!"\(asked.withLock { $0 })".contains("secretmarker"))
        #expect(asked.withLock { $0.contains { $0.kind == .read && $0.first == "t" && $0.schema == "main" } })
        database.setAuthorizer(nil)
        #expect(try database.string(forQuery: "SELECT a FROM t") == "plaintextmarker")
        try database.executeUpdate("DELETE FROM t")
    }
}

extension Database {
    /// Whether the file shows what was written.
    fileprivate static func plaintext(in path: String) throws -> Bool {
        try FileState(path).bytes.range(of: Data("plaintextmarker".utf8)) != nil
    }
}
