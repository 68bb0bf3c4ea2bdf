import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// A changed page that is the last one which a statement reads: the engine gives zeros for it, and says nothing.
@Suite final class SilentDamageTests: RawKeyFixture {
    private var pageSize = 0

    /// A database whose last page has the end of a long value, changed in one byte.
    override init() throws {
        try super.init()
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            try database.executeUpdate("INSERT INTO t VALUES (1, ?)", String(repeating: "a", count: 10_000))
        }
        pageSize = try queue.inDatabase { $0.cipherFormat?.pageSize } ?? 0
        try queue.close()
        try flipByte(of: path, at: FileState(path).bytes.count - pageSize + 5)
    }

    private func isDamage(_ error: any Error) -> Bool {
        guard let pages = (error as? KeyError)?.damagedPages else { return false }
        return pages.count == 1 && pages[0] > 3
    }

    /// Damage of which the file is not known.
    private func isCorrupt(_ error: any Error) -> Bool {
        (error as? DatabaseError).map { $0.code.primary == .corrupt && $0.message.contains("damaged") } ?? false
    }

    /// The engine itself, without a word: without this the rest would prove nothing.
    @Test func engineAloneSaysNothing() throws {
        let shell = try #require(StockShell.ofThisFormat)
        let digits = try key.exported().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        let size = pageSize == Engine.current.formats.first?.pageSize ? "" : "PRAGMA cipher_page_size = \(pageSize);"
        let answer = try shell.run(
            path,
            key: "key = \"x'\(digits)'\"; \(size)",
            "SELECT count(*) FROM t WHERE hex(a) LIKE '%61';"
        )
        #expect(answer == ["0"], "the value is another than was stored, and no error came")
    }

    static let queries = [
        "SELECT a FROM t", "SELECT a FROM t WHERE id = 1", "SELECT a FROM t LIMIT 1", "SELECT hex(a) FROM t",
        "WITH x AS (SELECT a FROM t) SELECT a FROM x", " -- a comment\n/* and one */ ;SELECT a FROM t",
        "SELECT substr(a, -5) FROM t", "SELECT count(*) FROM t WHERE a LIKE '%b'", "SELECT id FROM t WHERE a LIKE '%b'",
        "SELECT a FROM t ORDER BY a", "SELECT max(a) FROM t", "VALUES ((SELECT a FROM t))",
    ]

    @Test(arguments: queries, [false, true])
    func damagedPageFailsQuery(sql: String, inTransaction: Bool) throws {
        let database = try open()
        if inTransaction { try database.beginTransaction(.deferred) }
        #expect { _ = try database.value(forQuery: SQL(unsafe: sql)) as DatabaseValue? } throws: { isDamage($0) }
        if inTransaction { try? database.rollback() }
        #expect {
            let rows = try database.executeQuery(SQL(unsafe: sql))
            while try rows.next() {}
        } throws: { isDamage($0) }
        // Nothing is held, and nothing else is disturbed.
        #expect(try database.int(forQuery: "SELECT id FROM t") == 1)
        try database.executeStatements("CREATE TABLE other (a); DROP TABLE other")
    }

    /// The text of a view goes on behind a comment whose end is on the damaged page: what is left is a view, too.
    @Test func damagedViewFailsOpening() throws {
        let other = directory.file("view.db")
        let queue = try DatabaseQueue(path: other, key: key)
        let comment = String(repeating: "-", count: 20_000)
        try queue.inDatabase { try $0.executeStatements(SQL(unsafe: "CREATE VIEW v AS SELECT 1 /* \(comment) */, 2")) }
        try queue.close()
        try flipByte(of: other, at: FileState(other).bytes.count - pageSize + 5)
        #expect { _ = try DatabaseQueue(path: other, key: key) } throws: { isDamage($0) }
    }

    /// Two rows, of which the second has its end on the damaged page.
    private func makeRows() throws -> String {
        let path = directory.file("rows.db")
        let made = try open(path)
        try made.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('short')")
        try made.executeUpdate("INSERT INTO t VALUES (?)", String(repeating: "a", count: 10_000))
        made.close()
        try flipByte(of: path, at: FileState(path).bytes.count - pageSize + 5)
        return path
    }

    /// The second row of a query must not be had.
    private func readBoth(_ database: Database, between: () throws -> Void = {}) throws {
        let rows = try database.executeQuery("SELECT a FROM t")
        #expect(try rows.next())
        try between()
        _ = try rows.next()
        Issue.record("the row was handed out")
    }

    @Test func damagedRowIsNotReturned() throws {
        let path = try makeRows()
        let database = try open(path)
        #expect { try readBoth(database) } throws: { isDamage($0) }
        // Of a transaction nothing is left open.
        #expect { try database.inTransaction { try readBoth($0) } } throws: { isDamage($0) }
        #expect(!database.isInTransaction)
        // A transaction that ends in the middle takes its lock with it.
        for end in ["COMMIT", "ROLLBACK"] {
            try database.beginTransaction(.deferred)
            #expect { try readBoth(database) { try database.executeStatements(SQL(unsafe: end)) } } throws: {
                isDamage($0)
            }
        }
        database.close()
        let queue = try DatabaseQueue(path: path, key: key)
        #expect { try queue.inDatabase { try readBoth($0) } } throws: { isDamage($0) }
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT 1") } == 1)
        try queue.close()
        let pool = try DatabasePool(path: path, key: key)
        for _ in 0..<3 { #expect { try pool.read { try readBoth($0) } } throws: { isDamage($0) } }
        #expect(try pool.read { try $0.string(forQuery: "SELECT a FROM t LIMIT 1") } == "short")
    }

    @Test func returningStatementIsWatched() throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE log (a)")
        // SQLite 3.35 and later; what is older has a syntax error here.
        #expect(throws: (any Error).self) {
            _ = try database.value(forQuery: "INSERT INTO log VALUES (7) RETURNING (SELECT a FROM t)") as DatabaseValue?
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM log") == 0)
        // The row itself is not handed out.
        #expect(throws: (any Error).self) {
            try database.executeQuery("INSERT INTO log VALUES (7) RETURNING (SELECT a FROM t)").next()
        }
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func damagedDataIsNotWritten(mode: JournalMode) throws {
        let database = try open { $0.journalMode = mode }
        try database.executeStatements("CREATE TABLE copy (a)")
        let other = directory.file("other.db")
        try database.attach(other, as: "o", key: key)
        try database.executeStatements("CREATE TABLE o.copy (a)")
        // Within one database the engine's commit fails.
        for sql in [
            "UPDATE t SET a = a || 'x'", "INSERT INTO copy SELECT a FROM t", "CREATE TABLE made AS SELECT a FROM t",
            "CREATE INDEX i ON t (a)",
        ] {
            #expect(throws: (any Error).self, "\(sql)") { try database.executeUpdate(SQL(unsafe: sql)) }
        }
        try database.executeStatements("CREATE TEMP TABLE short (a)")
        for sql in [
            "INSERT INTO o.copy SELECT a FROM t", "INSERT INTO temp.short SELECT a FROM t",
            "CREATE TABLE o.made AS SELECT a FROM t", "CREATE TEMP TABLE made AS SELECT a FROM t",
        ] {
            // Also where the statement is a transaction of its own.
            #expect { try database.executeUpdate(SQL(unsafe: sql)) } throws: { isDamage($0) }
            #expect(!database.isInTransaction)
            #expect { try database.inTransaction { try $0.executeUpdate(SQL(unsafe: sql)) } } throws: { isDamage($0) }
            #expect { try database.inTransaction { try $0.executeStatements(SQL(unsafe: sql)) } } throws: {
                isDamage($0)
            }
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM temp.short") == 0)
        #expect(try database.int(forQuery: "SELECT count(*) FROM o.copy") == 0)
        // With an attached database it is not opened again by itself, where the engine reads nothing more.
        database.close()
        try database.open(key: key)
        #expect(try database.int(forQuery: "SELECT count(*) FROM copy") == 0)
    }

    @Test func attachedDatabaseAndBlobAreWatchedToo() throws {
        let blob = try open()
        #expect {
            let opened = try blob.openBlob(inTable: "t", column: "a", row: 1)
            _ = try opened.read(at: 9_900, count: 100)
        } throws: { isDamage($0) || isCorrupt($0) }
        blob.close()

        let database = try open(directory.file("sound.db"))
        #expect(try database.int(forQuery: "SELECT 1") == 1)
        try database.attach(path, as: "it's", key: key)
        #expect { try database.string(forQuery: "SELECT a FROM \"it's\".t") } throws: { isCorrupt($0) }
        try database.executeStatements("DETACH \"it's\"")
        try database.attach(path, as: "it's", key: key)
        #expect(try database.int(forQuery: "SELECT id FROM \"it's\".t") == 1)
        try database.executeStatements("DETACH \"it's\"; CREATE TABLE sound (a); INSERT INTO sound VALUES (1)")
        let sound: Int? = try database.inTransaction { try $0.int(forQuery: "SELECT a FROM sound") }
        #expect(sound == 1)
    }

    @Test func schemaNameThatIsUsedAgainIsWatched() throws {
        let plain = directory.file("plain.db")
        let database = try open(directory.file("sound.db")) { $0.allowsPlaintext = true }
        try database.attachPlaintext(plain, as: "o")
        try database.executeStatements("CREATE TABLE o.t (id, a); INSERT INTO o.t VALUES (1, 'x')")
        let statement = try database.prepare("SELECT a FROM o.t")
        let rows = try statement.executeQuery()
        #expect(try rows.next())
        rows.close()
        try database.executeStatements("DETACH o")
        try database.attach(path, as: "o", key: key)
        #expect { _ = try statement.executeQuery().next() } throws: { isCorrupt($0) }
        #expect { try database.string(forQuery: "SELECT a FROM o.t") } throws: { isCorrupt($0) }
    }

    @Test func backupOfDamagedDatabaseFails() throws {
        let database = try open()
        for (name, pages) in [("whole.db", 256), ("steps.db", 1)] {
            let target = try open(directory.file(name))
            try target.executeStatements("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
            #expect { try database.backup(to: target, pagesPerStep: pages) } throws: { isDamage($0) }
            // What was there is there still, though the damage is in the page that is copied last.
            #expect(try target.int(forQuery: "SELECT a FROM old") == 1)
        }
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        #expect(throws: (any Error).self) { try database.backup(to: plain, decrypting: true) }
        #expect(try plain.int(forQuery: "SELECT count(*) FROM sqlite_master") == 0)
    }

    @Test func connectionThatOnlyReadsIsWatchedToo() throws {
        let database = Database(path: path)
        try database.open(key: key, flags: .readOnly)
        for _ in 0..<2 { #expect { try database.string(forQuery: "SELECT a FROM t") } throws: { isDamage($0) } }
        #expect(try database.int(forQuery: "SELECT id FROM t") == 1)
    }

    /// SQLCipher 4.19 alone answers "ok": the check reads the page, and has no opinion of zeros in it.
    @Test(arguments: ["integrity_check", "main.quick_check"])
    func damagedPageFailsIntegrityCheck(pragma: String) throws {
        let database = try open()
        #expect {
            let lines = try database.executeQuery(SQL(unsafe: "PRAGMA \(pragma)"))
            while try lines.next() {}
        } throws: { isDamage($0) }
        let other = try open(directory.file("sound.db"))
        try other.attach(path, as: "o", key: key)
        #expect(throws: (any Error).self) {
            let lines = try other.executeQuery("PRAGMA integrity_check")
            while try lines.next() {}
        }
    }

    @Test func reopenedConnectionIsRestored() throws {
        let database = try open()
        try database.makeFunction(named: "two") { _ in 2 }
        let interrupter = try #require(database.interrupter)
        #expect { try database.string(forQuery: "SELECT a FROM t") } throws: { isDamage($0) }
        #expect(try database.int(forQuery: "SELECT two() * id FROM t") == 2)
        #expect(database.interrupter === interrupter)
        // In a transaction it stays, and so does its failure where the engine keeps it.
        try database.beginTransaction(.deferred)
        #expect { try database.string(forQuery: "SELECT a FROM t") } throws: { isDamage($0) }
        _ = try? database.int(forQuery: "SELECT id FROM t")
        try? database.rollback()
        #expect(try database.int(forQuery: "SELECT id FROM t") == 1)
        let pool = try DatabasePool(path: path, key: key)
        for _ in 0..<2 {
            #expect { try pool.read { try $0.string(forQuery: "SELECT a FROM t") } } throws: { isDamage($0) }
        }
        #expect(throws: DatabaseError.self, "a reader stays one") {
            try pool.read { reader in
                _ = try? reader.string(forQuery: "SELECT a FROM t")
                try reader.executeUpdate("DELETE FROM t")
            }
        }
        // Also the next block's, for which it was opened again.
        #expect(throws: DatabaseError.self) { try pool.read { try $0.executeUpdate("CREATE TABLE made (a)") } }
    }

    @Test func watchIsInvisible() throws {
        let queue = try DatabaseQueue(path: directory.file("sound.db"), key: key)
        let events = Lock<[String]>([])
        try queue.inDatabase { database in
            database.setTrace { event in events.withLock { $0.append("\(event)") } }
            try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            #expect(try database.int(forQuery: "SELECT a FROM t") == 1)
            let rows = try database.executeQuery("SELECT a FROM t")
            while try rows.next() {}
            #expect(events.withLock { $0.joined() }.contains("SELECT a FROM t"))
            #expect(!events.withLock { $0.joined() }.contains("sqlite_master"))
            let other = try open(directory.file("sound.db"))
            try other.executeUpdate("DROP TABLE t")
            other.close()
            #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master") == 0)
        }
    }
}
