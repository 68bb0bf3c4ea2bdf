import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// What a connection tells of itself, and what it lets go of.
@Suite struct ConnectionStateTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = Database(path: directory.file("test.db"))
        try database.open(key: .sample("secret"))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
    }

    @Test func goodConnectionIsOneThatReadsPage() throws {
        #expect(database.goodConnection)
        let other = Database(path: directory.file("test.db"))
        #expect(!other.goodConnection)
        try other.open()
        #expect(!other.goodConnection, "open, and not keyed")
        expect(throws: KeyError.wrongKey) { try other.setKey(.sampleKey("wrong")) }
        #expect(!other.goodConnection)
        try other.open(key: .sample("secret"))
        #expect(other.goodConnection)
        try flipByte(of: directory.file("test.db"), at: 100)
        let damaged = Database(path: directory.file("test.db"))
        #expect(throws: KeyError.self) { try damaged.open(key: .sample("secret")) }
        #expect(!damaged.goodConnection)
    }

    @Test func openResultSetsAreListedAndClosed() throws {
        #expect(!database.hasOpenResultSets)
        let rows = try database.executeQuery("SELECT a FROM t")
        #expect(database.hasOpenResultSets, "begun, and not yet stepped")
        #expect(try rows.next())
        let statement = try database.prepare("SELECT a FROM t WHERE a > ?")
        let others = try statement.executeQuery(1)
        #expect(try others.next())
        database.closeOpenResultSets()
        #expect(!database.hasOpenResultSets)
        #expect(throws: DatabaseError.self) { try rows.next() }
        #expect(throws: DatabaseError.self) { try others.int(forColumnIndex: 0) }
        // Both statements are as good as new.
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 3)
        let again = try statement.executeQuery(2)
        #expect(try again.next())
        #expect(try again.int(forColumnIndex: 0) == 3)
        #expect(throws: DatabaseError.self, "its rows are over") { try others.int(forColumnIndex: 0) }
        #expect(try !again.next())
        #expect(!database.hasOpenResultSets)
    }

    @Test func forgottenResultSetReleasesLockAndDatabase() throws {
        weak var released: Database?
        do {
            let other = Database(path: directory.file("test.db"))
            try other.open(key: .sample("secret"))
            released = other
            var rows: ResultSet? = try other.executeQuery("SELECT a FROM t")
            #expect(try rows?.next() == true)
            rows = nil
            #expect(!other.hasOpenResultSets)
        }
        #expect(released == nil)
        // In rollback mode a reader that is left over would be in the way.
        database.busyTimeout = .zero
        try database.inTransaction(.exclusive) { try $0.executeUpdate("DELETE FROM t") }
    }

    @Test func closingEndsResultSetsBlobsAndStatements() throws {
        try database.executeStatements("CREATE TABLE b (data); INSERT INTO b VALUES (x'010203')")
        let rows = try database.executeQuery("SELECT a FROM t")
        #expect(try rows.next())
        let blob = try database.openBlob(inTable: "b", column: "data", row: 1)
        let statement = try database.prepare("INSERT INTO t VALUES (?)")
        database.close()
        #expect(throws: DatabaseError.self) { try rows.next() }
        #expect(throws: DatabaseError.self) { try blob.read(at: 0, count: 1) }
        #expect(throws: DatabaseError.self) { try statement.executeUpdate(1) }
        let other = Database(path: directory.file("test.db"), configuration: Configuration { $0.busyTimeout = .zero })
        try other.open(key: .sample("secret"))
        try other.inTransaction(.exclusive) { try $0.executeUpdate("INSERT INTO t VALUES (4)") }
    }

    @Test func transactionStateIsSQLites() throws {
        #expect(!database.isInTransaction)
        try database.executeStatements("BEGIN")
        #expect(database.isInTransaction)
        try database.executeStatements("CREATE UNIQUE INDEX i ON t (a)")
        #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT OR ROLLBACK INTO t VALUES (1)") }
        #expect(!database.isInTransaction, "SQLite rolled back by itself")
        try database.executeStatements("SAVEPOINT s")
        #expect(database.isInTransaction)
        try database.executeStatements("RELEASE s")
        #expect(!database.isInTransaction)
    }

    @Test func stateOfDatabaseCannotBeSetFromOutside() {
        func canBeSet<Value>(_ path: KeyPath<Database, Value>) -> Bool {
            path is ReferenceWritableKeyPath<Database, Value>
        }
        #expect(!canBeSet(\.isOpen) && !canBeSet(\.path) && !canBeSet(\.isInTransaction))
        // The test can tell.
        #expect(canBeSet(\.busyTimeout))
    }

    @Test func errorKeepsItsCode() throws {
        try database.executeStatements("CREATE UNIQUE INDEX i ON t (a)")
        var caught: DatabaseError?
        do {
            try database.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        } catch let error as DatabaseError {
            caught = error
        }
        try database.executeStatements("SELECT 1")
        #expect(caught?.code.rawValue == 2067 && caught?.code.primary == .constraint)
        #expect(caught?.message.contains("UNIQUE") == true)
    }

    @Test func statementCacheCountsItsHits() throws {
        let before = database.statementCacheStatistics
        for number in 0..<10 { try database.executeUpdate("INSERT INTO t VALUES (?)", number) }
        let after = database.statementCacheStatistics
        #expect(after.hits - before.hits == 9 && after.misses - before.misses == 1)
        #expect(after.count >= 1 && after.evictions == 0)
        database.clearCachedStatements()
        #expect(database.statementCacheStatistics.count == 0)
    }

    @Test func cachedPragmaTakesEffectEachTime() throws {
        for _ in 0..<3 {
            try database.executeUpdate("PRAGMA foreign_keys = OFF")
            #expect(try database.int(forQuery: "PRAGMA foreign_keys") == 0)
            try database.executeUpdate("PRAGMA foreign_keys = ON")
            #expect(try database.int(forQuery: "PRAGMA foreign_keys") == 1)
        }
    }

    @Test func busyHandlerDecidesHowOftenToTry() throws {
        let other = Database(path: directory.file("test.db"))
        try other.open(key: .sample("secret"))
        try other.beginTransaction(.exclusive)
        let attempts = Lock<[Int]>([])
        database.setBusyHandler { count in
            attempts.withLock { $0.append(count) }
            return count < 4
        }
        #expect { try database.executeUpdate("INSERT INTO t VALUES (9)") } throws: {
            ($0 as? DatabaseError)?.code.primary == .busy
        }
        #expect(attempts.withLock { $0 } == [0, 1, 2, 3, 4])
        database.setBusyHandler(nil)
        database.busyTimeout = .zero
        #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO t VALUES (9)") }
        #expect(attempts.withLock { $0.count } == 5)
        try other.rollback()
        try database.executeUpdate("INSERT INTO t VALUES (9)")
    }

    @Test func traceShowsStatementsAndNeitherValuesNorKeys() throws {
        let events = Lock<[TraceEvent]>([])
        database.setTrace { event in events.withLock { $0.append(event) } }
        try database.executeUpdate("INSERT INTO t VALUES (?)", "hunter2")
        try? database.executeUpdate("ATTACH ? AS other KEY 'hunter2'", directory.file("other.db"))
        try? database.executeStatements("PRAGMA key = 'hunter2'")
        database.setTrace(nil)
        try database.executeUpdate("INSERT INTO t VALUES (?)", "later")
        let seen = events.withLock { $0 }
        #expect(seen.first == .began(sql: "INSERT INTO t VALUES (?)"))
        #expect(
            seen.contains {
                if case .ended("INSERT INTO t VALUES (?)", let duration) = $0 { duration >= .zero } else { false }
            }
        )
        #expect(!"\(seen)".contains("hunter2") && !"\(seen)".contains("later"))
        // On a keyed connection what holds a key does not begin.
        let open = Database(
            path: directory.file("open.db"),
            configuration: Configuration { $0.unsafeAllowsAllSQL = true }
        )
        try open.open(key: .sample("secret"))
        open.setTrace { event in events.withLock { $0.append(event) } }
        try open.executeUpdate("ATTACH ? AS other KEY 'hunter2'", directory.file("other.db"))
        let more = "\(events.withLock { $0 })"
        #expect(!more.contains("hunter2") && more.contains("may hold a key"))
    }

    @Test func unsafeHandleIsUsable() throws {
        let first = try database.withUnsafeHandle { $0 }
        #expect(try database.withUnsafeHandle { $0 == first })
        database.close()
        #expect(throws: DatabaseError.self) { try database.withUnsafeHandle { _ in } }
    }

    @Test func interruptionBetweenStatementsEndsWithThem() throws {
        try database.executeStatements("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (4)")
        database.interrupt()
        #expect(try database.checkpoint(.full).checkpointCount > 0)
        try database.executeUpdate("INSERT INTO t VALUES (5)")
        let rows = try database.executeQuery("SELECT a FROM t")
        #expect(try rows.next())
        database.interrupt()
        database.close()
        // The last connection copies the log and removes it.
        #expect(!FileManager.default.fileExists(atPath: directory.file("test.db-wal")))
    }

    @Test func cancellationBeforeCheckpointStopsIt() async throws {
        let queue = try await DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        try await queue.inDatabase { try $0.executeStatements("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (4)") }
        let checkpoint = Task {
            try await queue.inDatabase { database in
                withUnsafeCurrentTask { $0?.cancel() }
                try database.checkpoint(.truncate)
            }
        }
        await #expect(throws: CancellationError.self) { try await checkpoint.value }
        #expect(try await queue.checkpoint(.full).checkpointCount > 0)
    }

    @Test func interruptingClosedDatabaseDoesNothing() throws {
        let queue = try DatabaseQueue(path: directory.file("queue.db"), key: .sample("secret"))
        let interrupter = database.interrupter
        database.close()
        interrupter?.interrupt()
        database.interrupt()
        try queue.close()
        queue.interrupt()
        #expect(!database.isOpen)
    }

    @Test func nothingIsLoggedUnlessItIsAskedFor() async {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent, \.standardOutputContent]
        ) {
            let directory = try TemporaryDirectory()
            let database = Database(path: directory.file("test.db"))
            try database.open(key: .sample("secret"))
            try? database.executeUpdate("blah blah 'hunter2'")
            try? database.executeUpdate("INSERT INTO nothing VALUES (?)", "hunter2")
            database.close()
            try? database.open(key: .sample("wrong"))
        }
        let output = (result?.standardErrorContent ?? []) + (result?.standardOutputContent ?? [])
        let text = String(decoding: output, as: UTF8.self)
        #expect(!text.contains("hunter2") && !text.contains("blah") && !text.lowercased().contains("sqlcipher"))
    }

    @Test(arguments: [0x20000, 0x80] as [Int32])
    func sharedCacheAndUnsavedFileAreRefused(flag: Int32) throws {
        let directory = try TemporaryDirectory()
        let database = Database(
            path: directory.file("a.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        #expect { try database.open(flags: [.readWrite, .create, OpenFlags(rawValue: flag)]) } throws: {
            ($0 as? DatabaseError)?.code == .misuse
        }
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: ["?key=\u{301}x", "?\u{301}x=1&key=x", "?a=b&\u{301}hexkey=00", "?%6bey=x"])
    func uriIsParsedLikeSQLite(parameters: String) throws {
        let directory = try TemporaryDirectory()
        let uri = "file:\(directory.file("u.db"))\(parameters)"
        let database = Database(path: uri, configuration: Configuration { $0.allowsPlaintext = true })
        #expect(throws: DatabaseError.self) { try database.open(flags: [.readWrite, .create, .uri]) }
        #expect(directory.names.isEmpty)
    }

    @Test func filePathIsNeverURI() throws {
        let directory = try TemporaryDirectory()
        let here = FileManager.default.currentDirectoryPath
        let name = "file:\u{301}\(UUID().uuidString).db?key=x"
        let database = Database(path: name)
        try database.open(key: .sample("k"))
        defer { try? FileManager.default.removeItem(atPath: "\(here)/\(name)") }
        try database.executeStatements("CREATE TABLE t (a)")
        #expect(FileManager.default.fileExists(atPath: "\(here)/\(name)"))
        _ = directory
    }
}
