import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct FMDatabaseQueueTests {
    let directory: TemporaryDirectory
    let queue: FMDatabaseQueue

    init() throws {
        directory = try TemporaryDirectory()
        queue = try #require(FMDatabaseQueue(path: directory.file("queue.db")))
        queue.inDatabase { db in
            db.setKey(.sampleKey("secret"))
            db.executeStatements("CREATE TABLE easy (a TEXT); INSERT INTO easy VALUES ('hello world'), ('hi')")
            db.logsErrors = false
        }
    }

    private func count(_ like: String = "%") -> Int32? {
        var count: Int32?
        queue.inDatabase { count = $0.intForQuery("SELECT count(*) FROM easy WHERE a LIKE ?", like) }
        return count
    }

    @Test func queueThatTaskDropsIsClosedElsewhere() async throws {
        let path = directory.file("dropped.db")
        var dropped = FMDatabaseQueue(path: path)
        dropped?.inDatabase { db in
            db.setKey(.sampleKey("secret"))
            #expect(db.executeStatements("PRAGMA journal_mode = WAL; CREATE TABLE t (a)"))
        }
        try await FileUse.noted(in: directory.path) { use in
            dropped = nil
            // The last connection copies the log and removes it.
            try await eventually { !FileManager.default.fileExists(atPath: path + "-wal") }
            #expect(use.ofPool.isEmpty && !use.calls.isEmpty)
        }
    }

    @Test func queueWithoutPathIsInMemory() {
        let queue = FMDatabaseQueue()
        queue.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a)")) }
        #expect(queue.path == nil)
    }

    @Test func nilURLOrPathGivesQueue() {
        #expect(FMDatabaseQueue(url: nil) != nil && FMDatabaseQueue(path: nil) != nil)
    }

    @Test func urlInMissingDirectoryGivesNoQueue() {
        #expect(FMDatabaseQueue(url: URL(fileURLWithPath: directory.file("no/queue.db"))) == nil)
    }

    @Test func pathInMissingDirectoryGivesNoQueue() {
        #expect(FMDatabaseQueue(path: directory.file("no/queue.db")) == nil)
    }

    @Test func queueFromURLHasDefaultFlags() throws {
        let url = URL(fileURLWithPath: directory.file("url.db"))
        let queue = try #require(FMDatabaseQueue(url: url))
        #expect(queue.path == url.path && queue.openFlags == SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
    }

    @Test func missingFileWithoutCreateGivesNoQueue() {
        let url = URL(fileURLWithPath: directory.file("none.db"))
        #expect(FMDatabaseQueue(url: url, flags: SQLITE_OPEN_READWRITE) == nil && !directory.names.contains("none.db"))
    }

    @Test func readOnlyQueueCannotCreateTable() throws {
        let url = URL(fileURLWithPath: directory.file("made.db"))
        let maker = try #require(FMDatabaseQueue(url: url, flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE))
        maker.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a)")) }
        let reader = try #require(FMDatabaseQueue(url: url, flags: SQLITE_OPEN_READONLY))
        reader.inDatabase { db in
            db.logsErrors = false
            #expect(!db.executeStatements("CREATE TABLE u (a)") && db.lastErrorCode() == 8)
        }
    }

    @Test func queueUsesNamedVFS() {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        #expect(FMDatabaseQueue(path: directory.file("vfs.db"), flags: flags, vfs: "unix")?.vfsName == "unix")
        #expect(FMDatabaseQueue(url: URL(fileURLWithPath: directory.file("v.db")), flags: flags, vfs: "nothing") == nil)
    }

    @Test func likePatternsMatchAsLiteralsAndParameters() {
        #expect(count("h%") == 2 && count("hello%") == 1)
        queue.inDatabase { db in
            var rows = 0
            let found = db.executeQuery("SELECT * FROM easy WHERE a LIKE 'h%'", withArgumentsIn: [])
            while found?.next() == true { rows += 1 }
            #expect(rows == 2)
        }
    }

    @Test func readOnlyQueueStaysReadOnly() throws {
        let reader = try #require(FMDatabaseQueue(path: directory.file("queue.db"), flags: SQLITE_OPEN_READONLY))
        reader.inDatabase { db in
            db.logsErrors = false
            #expect(db.setKey(.sampleKey("secret")) && db.intForQuery("SELECT count(*) FROM easy") == 2)
            #expect(!db.executeUpdate("INSERT INTO easy VALUES (3)", withArgumentsIn: []))
        }
        reader.close()
        reader.inDatabase { db in
            #expect(!db.executeUpdate("INSERT INTO easy VALUES (3)", withArgumentsIn: []) && db.lastErrorCode() == 8)
            #expect(db.intForQuery("SELECT count(*) FROM easy") == 2)
        }
    }

    @Test func queueReopensAfterConcurrentWrites() {
        let queue = queue
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            queue.inTransaction { db, _ in
                #expect(db.executeUpdate("INSERT INTO easy VALUES (?)", withArgumentsIn: ["thread \(number)"]))
            }
        }
        #expect(count("thread%") == 16)
        queue.close()
        queue.inDatabase { #expect($0.executeUpdate("INSERT INTO easy VALUES ('easy')", withArgumentsIn: [])) }
        #expect(count() == 19)
    }

    @Test func transactionRollsBackOnRequest() {
        queue.inTransaction { db, rollback in
            #expect(db.executeUpdate("INSERT INTO easy VALUES (?)", withArgumentsIn: ["gone"]))
            #expect(db.intForQuery("SELECT count(*) FROM easy") == 3)
            rollback.pointee = true
        }
        queue.inDeferredTransaction { db, _ in _ = db.executeQuery("SELECT * FROM easy", withArgumentsIn: [])?.next() }
        queue.inDatabase { #expect(!$0.hasOpenResultSets) }
        #expect(count() == 2)
    }

    @Test func savepointRollsBackOnRequest() {
        let failure = queue.inSavePoint { db, rollback in
            #expect(db.executeUpdate("INSERT INTO easy VALUES (?)", withArgumentsIn: ["gone"]))
            rollback.pointee = true
        }
        #expect(failure == nil && count() == 2)
        #expect(queue.inSavePoint { db, _ in db.executeStatements("INSERT INTO easy VALUES ('kept')") } == nil)
        #expect(count() == 3)
    }

    @Test func databaseClosedInBlockIsOpenInNext() {
        queue.inDatabase { #expect($0.close()) }
        #expect(count() == 2)
        queue.interrupt()
        #expect(count() == 2)
    }

    @Test func queueUsesDatabaseSubclass() {
        final class Noted: FMDatabase, FMDatabaseClass {}
        final class NotedQueue: FMDatabaseQueue, @unchecked Sendable {
            override class func databaseClass() -> AnyClass { Noted.self }
        }
        let queue = NotedQueue(path: nil)
        queue?.inDatabase { #expect($0 is Noted) }
        #expect(queue != nil)
    }
}
