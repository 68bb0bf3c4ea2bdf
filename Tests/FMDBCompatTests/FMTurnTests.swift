import CipherDB
import FMDBCompat
import Foundation
import TestSupport
import Testing

/// An `FMDatabase` where it must not be used.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct FMTurnTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func prepare(_ database: FMDatabase) {
        database.logsErrors = false
        database.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1), (2)")
    }

    /// Whether each call is refused.
    private func isRefused(_ database: FMDatabase, _ rows: FMResultSet?) -> Bool {
        let statements = [
            database.executeUpdate("DELETE FROM t", withArgumentsIn: []), database.executeStatements("DELETE FROM t"),
            database.beginTransaction(), database.commit(), database.rollback(), database.open(), database.close(),
            database.setKey("key"), database.rekey("key"), database.isOpen, database.goodConnection,
            database.isInTransaction, database.tableExists("t"), rows?.next() ?? false,
        ]
        return !statements.contains(true) && database.executeQuery("SELECT 1", withArgumentsIn: []) == nil
            && database.lastErrorCode() == 21 && database.sqliteHandle == nil && !database.cipherDatabase.isOpen
            && database.inSavePoint { _ in } != nil && !database.prepare("SELECT 1").next()
            && rows?.int(forColumnIndex: 0) ?? 0 == 0 && rows?.columnCount ?? 0 == 0
            && (try? database.executeUpdate("DELETE FROM t", values: nil)) == nil
    }

    @Test func databaseMovesBetweenThreads() throws {
        let database = FMDatabase(path: directory.file("own.db"))
        #expect(try onOtherThread { database.open() })
        Self.prepare(database)
        let rows = try #require(try onOtherThread { database.executeQuery("SELECT a FROM t", withArgumentsIn: []) })
        #expect(rows.next() && rows.int(forColumnIndex: 0) == 1)
        #expect(try onOtherThread { rows.next() } && rows.int(forColumnIndex: 0) == 2)
    }

    @Test func secondThreadIsRefused() throws {
        let database = FMDatabase(path: directory.file("own.db"))
        #expect(database.open())
        Self.prepare(database)
        let rows = database.executeQuery("SELECT a FROM t", withArgumentsIn: [])
        #expect(rows?.next() == true)
        var wasRefused = false
        database.executeStatements("SELECT 1") { _ in
            wasRefused = (try? onOtherThread { isRefused(database, rows) }) ?? false
            return 0
        }
        #expect(wasRefused && rows?.int(forColumnIndex: 0) == 1)
        #expect(database.intForQuery("SELECT count(*) FROM t") == 2)
    }

    @Test func databaseEndsWithBlock() throws {
        let queue = try #require(FMDatabaseQueue(path: directory.file("queue.db")))
        let pool = FMDatabasePool(path: directory.file("pool.db"))
        for provider in [queue, pool] as [any FMDatabaseProvider] {
            var kept: FMDatabase?
            var rows: FMResultSet?
            provider.inDatabase { database in
                Self.prepare(database)
                rows = database.executeQuery("SELECT a FROM t", withArgumentsIn: [])
                #expect(rows?.next() == true)
                #expect((try? onOtherThread { isRefused(database, nil) }) == true)
                kept = database
            }
            let database = try #require(kept)
            #expect(rows != nil && isRefused(database, rows))
            provider.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM t") == 2) }
        }
    }

    @Test func twoThreadsAreRefusedNotMixed() throws {
        let database = FMDatabase(path: directory.file("own.db"))
        #expect(database.open())
        Self.prepare(database)
        let smuggled = Smuggled(database)
        let stored = Counter()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 0..<500 {
                if smuggled.value.executeUpdate("INSERT INTO t VALUES (?)", withArgumentsIn: [number]) {
                    stored.add()
                }
                _ = smuggled.value.lastErrorCode()
                let rows = smuggled.value.executeQuery("SELECT a FROM t", withArgumentsIn: [])
                while rows?.next() == true { _ = rows?.int(forColumnIndex: 0) }
            }
        }
        database.closeOpenResultSets()
        #expect(database.intForQuery("SELECT count(*) FROM t") == Int32(2 + stored.value))
    }
}
