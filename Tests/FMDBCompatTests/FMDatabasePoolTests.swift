import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct FMDatabasePoolTests {
    /// Gives each new database its key and patience.
    final class Keeper: FMDatabasePoolDelegate, Sendable {
        func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase) {
            database.maxBusyRetryTimeInterval = 10
            database.logsErrors = false
            database.setKey(.sampleKey("secret"))
        }
    }

    let directory: TemporaryDirectory
    let pool: FMDatabasePool
    let keeper = Keeper()

    init() throws {
        directory = try TemporaryDirectory()
        pool = FMDatabasePool(path: directory.file("pool.db"))
        pool.delegate = keeper
        pool.inDatabase { db in
            db.executeStatements(
                "CREATE TABLE easy (a); CREATE TABLE likefoo (foo); INSERT INTO easy VALUES (1001), (1002);"
                    + "INSERT INTO likefoo VALUES ('hi'), ('hello'), ('not')"
            )
        }
        pool.releaseAllDatabases()
    }

    @Test func poolThatTaskDropsIsClosedElsewhere() async throws {
        let path = directory.file("dropped.db")
        var dropped: FMDatabasePool? = FMDatabasePool(path: path)
        dropped?.delegate = keeper
        dropped?.inDatabase { #expect($0.executeStatements("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")) }
        try await FileUse.noted(in: directory.path) { use in
            dropped = nil
            // The last connection copies the log and removes it.
            try await eventually { !FileManager.default.fileExists(atPath: path + "-wal") }
            #expect(use.ofPool.isEmpty && !use.calls.isEmpty)
        }
    }

    private var counts: [UInt] {
        [pool.countOfCheckedInDatabases, pool.countOfCheckedOutDatabases, pool.countOfOpenDatabases]
    }

    private func count(_ sql: String = "SELECT count(*) FROM easy") -> Int32? {
        var count: Int32?
        pool.inDatabase { count = $0.intForQuery(sql) }
        return count
    }

    @Test func poolWithoutURLIsInMemory() {
        let pool = FMDatabasePool(url: nil)
        pool.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a)")) }
        #expect(pool.path == nil && pool.countOfOpenDatabases == 1)
    }

    @Test func poolFromURLOpensLazily() {
        let url = URL(fileURLWithPath: directory.file("url.db"))
        let pool = FMDatabasePool(url: url)
        #expect(pool.path == url.path && !directory.names.contains("url.db"), "nothing is opened yet")
        pool.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a)")) }
    }

    @Test func poolFromURLKeepsOpenFlags() {
        let pool = FMDatabasePool(
            url: URL(fileURLWithPath: directory.file("f.db")),
            flags: SQLITE_OPEN_READONLY,
            vfs: nil
        )
        #expect(pool.openFlags == SQLITE_OPEN_READONLY && pool.vfsName == nil)
    }

    @Test func missingFileWithoutCreateRunsNoBlock() {
        let pool = FMDatabasePool(url: URL(fileURLWithPath: directory.file("none.db")), flags: SQLITE_OPEN_READWRITE)
        let ran = Counter()
        pool.inDatabase { _ in ran.add() }
        #expect(ran.value == 0 && pool.countOfOpenDatabases == 0 && !directory.names.contains("none.db"))
    }

    @Test func readOnlyPoolRefusesWrites() {
        let reader = FMDatabasePool(path: directory.file("pool.db"), flags: SQLITE_OPEN_READONLY)
        reader.delegate = keeper
        reader.inDatabase { db in
            #expect(db.intForQuery("SELECT count(*) FROM easy") == 2)
            #expect(!db.executeUpdate("UPDATE easy SET a = 1", withArgumentsIn: []) && db.lastErrorCode() == 8)
        }
    }

    @Test func poolOpensDatabasesByNamedVFS() {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let named = FMDatabasePool(path: directory.file("pool.db"), flags: flags, vfs: "unix")
        named.delegate = keeper
        let ran = Counter()
        named.inDatabase { db in if db.intForQuery("SELECT count(*) FROM easy") == 2 { ran.add() } }
        let unknown = FMDatabasePool(url: URL(fileURLWithPath: directory.file("pool.db")), flags: flags, vfs: "nothing")
        unknown.inDatabase { _ in ran.add() }
        #expect(ran.value == 1)
    }

    @Test func releaseAllDatabasesEmptiesPool() {
        #expect(counts == [0, 0, 0])
    }

    @Test func nestedPoolBlockGetsAnotherDatabase() {
        var first: ObjectIdentifier?
        pool.inDatabase { first = ObjectIdentifier($0) }
        pool.inDatabase { outer in
            #expect(ObjectIdentifier(outer) == first)
            pool.inDatabase { inner in
                #expect(inner !== outer)
                #expect(counts == [0, 2, 2])
            }
        }
        #expect(counts == [2, 0, 2])
        pool.releaseAllDatabases()
        #expect(counts == [0, 0, 0])
    }

    @Test func checkedInAndOutDatabasesAreCounted() {
        pool.inDatabase { _ in #expect(counts == [0, 1, 1]) }
        #expect(counts == [1, 0, 1])
    }

    @Test func blockBeyondMaximumDoesNotRun() {
        pool.maximumNumberOfDatabasesToCreate = 2
        #expect(pool.maximumNumberOfDatabasesToCreate == 2)
        let ran = Counter()
        pool.inDatabase { _ in
            pool.inDatabase { _ in
                ran.add()
                pool.inDatabase { _ in ran.add() }
            }
        }
        #expect(ran.value == 1 && counts == [2, 0, 2])
    }

    @Test func transactionChecksOutOneDatabase() {
        pool.inTransaction { db, rollback in
            #expect(counts == [0, 1, 1])
            #expect(db.executeUpdate("INSERT INTO easy VALUES (1)", withArgumentsIn: []))
            rollback.pointee = true
        }
        #expect(counts == [1, 0, 1] && count() == 2)
    }

    @Test func poolQueryFindsOneRow() {
        #expect(count("SELECT count(*) FROM easy WHERE a = 1001") == 1)
    }

    @Test func rolledBackRowsAreVisibleInTransactionOnly() {
        pool.inDeferredTransaction { db, rollback in
            #expect(db.executeUpdate("INSERT INTO easy VALUES (1003)", withArgumentsIn: []))
            #expect(db.intForQuery("SELECT count(*) FROM easy") == 3)
            rollback.pointee = true
        }
        #expect(count() == 2 && counts == [1, 0, 1])
    }

    @Test func keptSavepointReturnsNoError() {
        #expect(pool.inSavePoint { db, _ in db.executeStatements("INSERT INTO easy VALUES (1003)") } == nil)
        #expect(count() == 3)
    }

    @Test func nestedSavepointRollsBackAlone() {
        let failure = pool.inSavePoint { db, _ in
            #expect(db.executeUpdate("INSERT INTO easy VALUES ('outer')", withArgumentsIn: []))
            let inner = db.inSavePoint { rollback in
                db.executeUpdate("INSERT INTO easy VALUES ('inner')", withArgumentsIn: [])
                rollback.pointee = true
            }
            #expect(inner == nil)
        }
        #expect(failure == nil && count() == 3 && count("SELECT count(*) FROM easy WHERE a = 'outer'") == 1)
    }

    @Test func poolMatchesLikePatterns() {
        for _ in 0..<2 {
            pool.inDatabase { db in
                #expect(db.intForQuery("SELECT count(*) FROM likefoo WHERE foo LIKE 'h%'") == 2)
                #expect(db.intForQuery("SELECT count(*) FROM likefoo WHERE foo LIKE ?", "h%") == 2)
            }
        }
    }

    @Test func manyThreadsReadWithFewDatabases() {
        let pool = pool
        pool.maximumNumberOfDatabasesToCreate = 4
        let rows = Counter()
        DispatchQueue.concurrentPerform(iterations: 128) { _ in
            pool.inDatabase { db in rows.add(Int(db.intForQuery("SELECT count(*) FROM easy") ?? 0)) }
        }
        #expect(rows.value == 256 && pool.countOfOpenDatabases <= 4)
    }

    @Test func manyThreadsWriteInTransactions() {
        let pool = pool
        pool.maximumNumberOfDatabasesToCreate = 4
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            pool.inExclusiveTransaction { db, _ in
                #expect(db.executeUpdate("INSERT INTO easy VALUES (?)", withArgumentsIn: [number]))
                #expect((db.intForQuery("SELECT count(*) FROM easy") ?? 0) > 2)
            }
        }
        #expect(count() == 18)
        pool.releaseAllDatabases()
        pool.inImmediateTransaction { db, _ in #expect(db.executeStatements("INSERT INTO easy VALUES (7)")) }
        #expect(count() == 19)
    }
}
