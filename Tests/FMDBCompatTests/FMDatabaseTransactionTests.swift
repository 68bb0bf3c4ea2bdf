import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMDatabaseTransactionTests {
    let directory: TemporaryDirectory
    let db: FMDatabase

    init() throws {
        directory = try TemporaryDirectory()
        db = FMDatabase(path: directory.file("test.db"))
        db.logsErrors = false
        #expect(db.open() && db.setKey(.sampleKey("secret")) && db.executeStatements("CREATE TABLE t (a)"))
    }

    @Test func nestedBeginIsRefused() {
        #expect(db.beginImmediateTransaction() && db.isInTransaction)
        #expect(!db.beginTransaction() && db.lastErrorMessage().contains("within a transaction"))
        #expect(db.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []) && db.commit())
        #expect(!db.isInTransaction && !db.commit() && db.intForQuery("SELECT count(*) FROM t") == 1)
    }

    @Test func everyTransactionKindRollsBack() {
        for begin in [
            db.beginTransaction, db.beginDeferredTransaction, db.beginImmediateTransaction,
            db.beginExclusiveTransaction,
        ] {
            #expect(begin() && db.isInTransaction)
            #expect(db.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []) && db.rollback())
            #expect(!db.isInTransaction && db.intForQuery("SELECT count(*) FROM t") == 0)
        }
    }

    @Test func savepointsNestAndRollBackByName() throws {
        try db.startSavePoint(withName: "it's a name")
        #expect(db.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []))
        let failure = db.inSavePoint { rollback in
            db.executeUpdate("INSERT INTO t VALUES (2)", withArgumentsIn: [])
            rollback.pointee = true
        }
        #expect(failure == nil && db.intForQuery("SELECT count(*) FROM t") == 1)
        try db.rollbackToSavePoint(withName: "it's a name")
        try db.releaseSavePoint(withName: "it's a name")
        #expect(db.intForQuery("SELECT count(*) FROM t") == 0 && !db.isInTransaction)
        #expect(throws: NSError.self) { try db.releaseSavePoint(withName: "nothing") }
    }

    @Test func checkpointWithoutWALCountsNothing() throws {
        var log: Int32 = 7
        var copied: Int32 = 7
        try db.checkpoint(.truncate, name: nil, logFrameCount: &log, checkpointCount: &copied)
        #expect(log == -1 && copied == -1)
    }

    @Test func checkpointWithWALCountsFrames() throws {
        #expect(db.executeStatements("PRAGMA journal_mode = WAL; INSERT INTO t VALUES (1)"))
        var log: Int32 = 0
        var copied: Int32 = 0
        try db.checkpoint(.full, name: "main", logFrameCount: &log, checkpointCount: &copied)
        #expect(log > 0 && copied == log)
        try db.checkpoint(.truncate)
        try db.checkpoint(.passive, name: nil)
        #expect(throws: NSError.self) { try db.checkpoint(.restart, name: "nothing") }
    }

    @Test func sameCachedQueryCanBeOpenTwice() throws {
        #expect(db.executeStatements("INSERT INTO t VALUES (1), (2)"))
        let first = try db.executeQuery("SELECT a FROM t", values: nil)
        let second = try db.executeQuery("SELECT a FROM t", values: nil)
        #expect(first.next() && second.next())
    }

    @Test func cachedQueryResultSetsAreIndependent() throws {
        #expect(db.executeStatements("INSERT INTO t VALUES (1), (2), (3)"))
        db.shouldCacheStatements = true
        let first = try db.executeQuery("SELECT a FROM t WHERE a = ?", values: [1])
        let second = try db.executeQuery("SELECT a FROM t WHERE a = ?", values: [3])
        #expect(first.next() && second.next())
        #expect(first.int(forColumn: "a") == 1 && second.int(forColumn: "a") == 3)
        #expect(!first.next() && !second.next())
        db.shouldCacheStatements = false
        #expect(db.intForQuery("SELECT a FROM t WHERE a = ?", 2) == 2)
    }

    @Test func datesAreStoredAsSecondsOrText() throws {
        let date = Date(timeIntervalSince1970: 1_234_567_890)
        func roundTrip() throws -> (Date?, String?) {
            let rows = try db.executeQuery("SELECT ? AS d", values: [date])
            #expect(rows.next())
            return (rows.date(forColumn: "d"), rows.string(forColumn: "d"))
        }
        #expect(!db.hasDateFormatter() && db.string(from: date) == nil && db.date(from: "2009") == nil)
        var found = try roundTrip()
        #expect(found.0 == date && found.1 == "1234567890.0")
        db.setDateFormat(FMDatabase.storeableDateFormat("yyyy-MM-dd HH:mm:ss"))
        #expect(db.hasDateFormatter() && db.string(from: date) == "2009-02-13 23:31:30")
        #expect(db.date(from: "2009-02-13 23:31:30") == date)
        found = try roundTrip()
        #expect(found.0 == date && found.1 == "2009-02-13 23:31:30")
        #expect(db.dateForQuery("SELECT ?", date) == date)
        db.setDateFormat(nil)
        #expect(try roundTrip().0 == date)
    }
}
