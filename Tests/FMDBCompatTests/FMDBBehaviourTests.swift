import CipherKeys
import CipherSystem
import FMDBCompat
import Foundation
import TestSupport
import Testing

/// Where FMDB's own behaviour loses data, hangs or crashes, and FMDBCompat does not.
@Suite(
    .timeLimit(.minutes(Extent.minutesOfAHang)),
    .atTheEnds
)
struct FMDBBehaviourTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func queue(_ name: String = "test.db") throws -> FMDatabaseQueue {
        let queue = try #require(FMDatabaseQueue(path: directory.file(name)))
        queue.inDatabase { db in
            #expect(db.setKey(.sampleKey("secret")))
            #expect(db.executeStatements("CREATE TABLE IF NOT EXISTS t (a UNIQUE)"))
        }
        return queue
    }

    private func count(_ queue: FMDatabaseQueue) -> Int32? {
        var count: Int32?
        queue.inDatabase { count = $0.intForQuery("SELECT count(*) FROM t") }
        return count
    }

    @Test func failedSetKeyWritesNoPlaintext() throws {
        let fresh = FMDatabase(path: directory.file("fresh.db"))
        fresh.logsErrors = false
        #expect(fresh.open() && !fresh.setKey(""))
        #expect(!fresh.isOpen && fresh.hadError())
        #expect(!fresh.executeStatements("CREATE TABLE t (plaintextmarker)"))
        #expect(directory.names.isEmpty)
        _ = try queue()
        let wrong = FMDatabase(path: directory.file("test.db"))
        wrong.logsErrors = false
        #expect(wrong.open() && !wrong.setKey("wrong"))
        #expect(wrong.lastErrorCode() == 26 && wrong.lastErrorMessage().contains("wrong key"))
        #expect(!wrong.isOpen && !wrong.goodConnection)
    }

    @Test func everyKeyCallVerifies() throws {
        let db = FMDatabase(path: directory.file("keys.db"))
        db.logsErrors = false
        #expect(db.open() && db.setKeyWith(Data("one".utf8)))
        #expect(db.executeStatements("CREATE TABLE t (a)"))
        #expect(!db.setKey("another"), "a connection is keyed once")
        #expect(db.rekey("two") && db.rekey(with: Data("three".utf8)) && !db.rekey("three"))
        #expect(db.executeStatements("INSERT INTO t VALUES (1)"))
        #expect(db.close() && db.open() && !db.setKey("two"))
        #expect(db.open() && db.setKey("three") && db.goodConnection)
        #expect(db.intForQuery("SELECT count(*) FROM t") == 1)
        #expect(db.cipherVersion?.isEmpty == false && db.cipherProvider == "openssl")
    }

    /// As an app does when its user logs out.
    @Test(arguments: [true, false], ["the same", "another", "none"])
    func queueOfDeletedFileCreatesNewOne(isClosed: Bool, key: String) throws {
        let queue = try queue()
        queue.inDatabase { #expect($0.executeStatements("INSERT INTO t VALUES (1)")) }
        if isClosed { queue.close() }
        try FileManager.default.removeItem(atPath: directory.file("test.db"))
        queue.inDatabase { db in
            switch key {
            case "the same": #expect(db.setKey(.sampleKey("secret")))
            case "another": #expect(db.setKey(.sampleKey("other")))
            default: break
            }
            #expect(db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (2), (3)"))
        }
        #expect(count(queue) == 2)
        queue.close()
        #expect(count(queue) == 2)
        queue.close()
        let again = FMDatabase(path: directory.file("test.db"))
        #expect(again.open() && again.setKey(.sampleKey(key == "another" ? "other" : "secret")))
        #expect(again.intForQuery("SELECT count(*) FROM t") == 2)
        #expect(try !FileState(directory.file("test.db")).bytes.starts(with: Data("SQLite".utf8)))
    }

    /// Its delegate gives the key to each new database.
    @Test(arguments: [true, false]) func poolOfDeletedFileCreatesNewOne(isReleased: Bool) throws {
        final class Keys: FMDatabasePoolDelegate {
            func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase) { database.setKey(.sampleKey("k")) }
        }
        let (pool, keys) = (FMDatabasePool(path: directory.file("pool.db")), Keys())
        pool.delegate = keys
        pool.inDatabase { outer in
            #expect(outer.executeStatements("CREATE TABLE t (a)"))
            pool.inDatabase { #expect($0.executeStatements("INSERT INTO t VALUES (1)")) }
        }
        #expect(pool.countOfCheckedInDatabases == 2)
        if isReleased { pool.releaseAllDatabases() }
        try FileManager.default.removeItem(atPath: directory.file("pool.db"))
        pool.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (2), (3)")) }
        pool.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM t") == 2) }
        pool.releaseAllDatabases()
        let again = FMDatabase(path: directory.file("pool.db"))
        #expect(again.open() && again.setKey(.sampleKey("k")) && again.intForQuery("SELECT count(*) FROM t") == 2)
    }

    @Test func databaseOfDeletedFileFails() throws {
        let db = FMDatabase(path: directory.file("one.db"))
        #expect(db.open() && db.setKey(.sampleKey("k")) && db.executeStatements("CREATE TABLE t (a)"))
        try FileManager.default.removeItem(atPath: directory.file("one.db"))
        #expect(!db.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []))
        #expect(db.lastErrorMessage().contains("removed or replaced") && !db.beginTransaction())
        #expect(db.close() && db.open() && db.setKey(.sampleKey("k")) && db.executeStatements("CREATE TABLE t (a)"))
    }

    @Test func vacuumRunsRepeatedly() throws {
        let queue = try queue()
        queue.inDatabase { db in
            for _ in 0..<3 { #expect(db.executeUpdate("VACUUM", withArgumentsIn: [])) }
        }
        queue.close()
    }

    @Test func queueOpensAgainWithItsKey() throws {
        let queue = try queue()
        let file = try Platform.status(of: directory.file("test.db")).identity
        #expect(Platform.descriptor(on: file) != nil)
        queue.close()
        #expect(Platform.descriptor(on: file) == nil, "it has no lock")
        #expect(count(queue) == 0)
        queue.inDatabase { #expect($0.rekey(.sampleKey("new")) && $0.executeStatements("INSERT INTO t VALUES (1)")) }
        queue.inDatabase { $0.close() }
        #expect(count(queue) == 1)
        let header = try FileState(directory.file("test.db")).bytes.prefix(6)
        #expect(header != Data("SQLite".utf8))
    }

    @Test func nestedBlockRunsAtOnce() throws {
        let queue = try queue()
        queue.inTransaction { outer, _ in
            outer.executeStatements("INSERT INTO t VALUES (1)")
            queue.inTransaction { inner, rollback in
                inner.executeStatements("INSERT INTO t VALUES (2)")
                rollback.pointee = true
            }
            queue.inDatabase { inner in
                #expect(inner === outer && inner.intForQuery("SELECT count(*) FROM t") == 1)
            }
            #expect(queue.inSavePoint { inner, _ in inner.executeStatements("INSERT INTO t VALUES (3)") } == nil)
        }
        #expect(count(queue) == 2)
        queue.inDatabase { _ in queue.close() }
        #expect(count(queue) == 2)
    }

    @Test func failedBeginSkipsBlock() throws {
        let queue = try queue()
        let other = try self.queue()
        let ran = Counter()
        queue.inDatabase { db in
            db.logsErrors = false
            db.maxBusyRetryTimeInterval = 0.02
        }
        other.inExclusiveTransaction { _, _ in
            queue.inTransaction { _, _ in ran.add() }
            queue.inDatabase { #expect($0.lastErrorCode() == 5) }
        }
        #expect(ran.value == 0)
        queue.inImmediateTransaction { _, _ in ran.add() }
        #expect(ran.value == 1)
    }

    @Test func failedOpenSkipsBlock() throws {
        let inner = try TemporaryDirectory()
        let queue = try #require(FMDatabaseQueue(path: inner.file("test.db")))
        queue.inDatabase { db in
            db.logsErrors = false
            db.executeStatements("CREATE TABLE t (a)")
        }
        queue.close()
        try FileManager.default.removeItem(atPath: inner.path)
        let ran = Counter()
        queue.inDatabase { _ in ran.add() }
        queue.inTransaction { _, _ in ran.add() }
        #expect(queue.inSavePoint { _, _ in ran.add() } != nil)
        #expect(throws: NSError.self) { try queue.checkpoint(.passive) }
        #expect(ran.value == 0)
    }

    @Test func deallocatedDelegateIsNotCalled() throws {
        final class Keeper: FMDatabasePoolDelegate {
            let asked: Counter
            init(_ asked: Counter) { self.asked = asked }
            func databasePool(_ pool: FMDatabasePool, shouldAddDatabaseToPool database: FMDatabase) -> Bool {
                asked.add()
                return true
            }
            func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase) {
                database.setKey(.sampleKey("secret"))
            }
        }
        _ = try queue()
        let pool = FMDatabasePool(path: directory.file("test.db"))
        let asked = Counter()
        var keeper: Keeper? = Keeper(asked)
        pool.delegate = keeper
        for _ in 0..<3 { pool.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM t") == 0) } }
        #expect(asked.value == 1, "once for each new database")
        keeper = nil
        #expect(pool.delegate == nil && keeper == nil)
        pool.releaseAllDatabases()
        pool.inDatabase { db in
            db.logsErrors = false
            #expect(db.intForQuery("SELECT count(*) FROM t") == nil, "nobody gave it a key")
        }
        #expect(asked.value == 1)
    }

    @Test func refusedDatabaseFreesItsPlace() throws {
        final class Refuser: FMDatabasePoolDelegate {
            let refuses: Lock<Bool>
            init() { refuses = Lock(true) }
            func databasePool(_ pool: FMDatabasePool, shouldAddDatabaseToPool database: FMDatabase) -> Bool {
                refuses.withLock { !$0 }
            }
        }
        let pool = FMDatabasePool(path: directory.file("pool.db"))
        pool.maximumNumberOfDatabasesToCreate = 1
        let refuser = Refuser()
        pool.delegate = refuser
        let ran = Counter()
        for _ in 0..<3 { pool.inDatabase { _ in ran.add() } }
        #expect(ran.value == 0 && pool.countOfOpenDatabases == 0)
        refuser.refuses.withLock { $0 = false }
        pool.inDatabase { _ in ran.add() }
        #expect(ran.value == 1 && pool.countOfCheckedInDatabases == 1)
    }

    @Test func savepointOfFullPoolFails() {
        let pool = FMDatabasePool(path: directory.file("pool.db"))
        pool.maximumNumberOfDatabasesToCreate = 1
        let ran = Counter()
        pool.inDatabase { _ in
            #expect(pool.inSavePoint { _, _ in ran.add() } != nil)
            pool.inTransaction { _, _ in ran.add() }
        }
        #expect(ran.value == 0)
        #expect(pool.inSavePoint { _, _ in ran.add() } == nil)
        #expect(ran.value == 1)
    }

    @Test func poolRollsBackOpenTransaction() {
        let pool = FMDatabasePool(path: directory.file("pool.db"))
        pool.inDatabase { db in
            db.executeStatements("CREATE TABLE t (a); BEGIN EXCLUSIVE; INSERT INTO t VALUES (1)")
        }
        pool.inDatabase { db in
            #expect(!db.isInTransaction && db.intForQuery("SELECT count(*) FROM t") == 0)
        }
    }

    @Test func unsupportedValueTypeIsRefused() throws {
        let db = FMDatabase(path: nil)
        db.logsErrors = false
        #expect(db.open())
        struct Secretive { let value = "hunter2" }
        #expect(!db.executeUpdate("SELECT ?", withArgumentsIn: [Secretive()]))
        #expect(db.lastErrorMessage().contains("Secretive") && !db.lastErrorMessage().contains("hunter2"))
        #expect(throws: NSError.self) { _ = try db.executeQuery("SELECT ?", values: [Secretive()]) }
        let id = UUID()
        #expect(db.stringForQuery("SELECT ?", id) == id.uuidString)
    }

    @Test func wrongValueCountIsError() throws {
        let db = FMDatabase(path: nil)
        db.logsErrors = false
        #expect(db.open())
        for values in [[], [1, 2]] {
            do {
                _ = try db.executeQuery("SELECT ?", values: values)
                Issue.record("no error")
            } catch let error as NSError {
                #expect(error.domain == "FMDatabase" && error.code != 0)
                #expect(error.localizedDescription.contains("1 parameter, and \(values.count) values"))
            }
        }
        #expect(try db.executeQuery("SELECT ?", values: [1]).next())
    }

    @Test func functionClosingDatabaseEndsStatement() throws {
        let db = FMDatabase(path: nil)
        db.logsErrors = false
        #expect(db.open())
        db.makeFunctionNamed("closes", arguments: 1) { context, _, argv in
            db.close()
            db.resultLong(db.valueLong(argv[0]), context: context)
        }
        let rows = try db.executeQuery("SELECT closes(a) FROM (SELECT 1 AS a UNION ALL SELECT 2)", values: nil)
        #expect(!rows.next() && db.lastErrorCode() == 21 && !db.isOpen)
        #expect(
            db.open() && db.goodConnection && db.longForQuery("SELECT closes(1)") == nil,
            "made on the one before"
        )
    }

    @Test func functionRetainsDatabaseUntilClose() {
        weak var released: FMDatabase?
        do {
            let db = FMDatabase(path: nil)
            released = db
            #expect(db.open())
            db.makeFunctionNamed("refers", arguments: 0) { context, _, _ in db.resultInt(1, context: context) }
            #expect(db.intForQuery("SELECT refers()") == 1 && db.close())
        }
        #expect(released == nil)
    }

    @Test func rowErrorIsThrown() throws {
        let db = FMDatabase(path: nil)
        db.logsErrors = false
        #expect(db.open())
        let rows = try db.executeQuery("SELECT abs(a) FROM (SELECT 1 AS a UNION ALL SELECT ?)", values: [Int64.min])
        #expect(rows.next())
        #expect(throws: NSError.self) { try rows.nextWithError() }
        #expect(db.hadError() && db.lastErrorCode() == 1)
    }

    @Test func logHidesValuesAndKeys() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let db = FMDatabase(path: nil)
            guard db.open() else { exit(1) }
            db.traceExecution = true
            db.executeUpdate("SELECT ?", withArgumentsIn: ["hunter2"])
            db.executeUpdate("SELECT hunter3(?)", withArgumentsIn: ["hunter2"])
            db.executeStatements("PRAGMA key = 'hunter2'")
            db.executeUpdate("ATTACH '/nowhere/at/all' AS x KEY 'hunter2'", withArgumentsIn: [])
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(log.contains("executes: SELECT ?") && log.contains("FMDB: error"))
        #expect(!log.contains("hunter2"))
    }

    @Test func crashOnErrorsEndsProgram() async {
        await #expect(processExitsWith: .failure) {
            let db = FMDatabase(path: nil)
            db.crashOnErrors = true
            guard db.open() else { exit(0) }
            db.executeUpdate("blah blah", withArgumentsIn: [])
            exit(0)
        }
    }
}
