import FMDBCompat
import Foundation
import TestSupport
import Testing

/// Code that does not look at what `setKey` answered must not write plaintext.
@Suite(.atTheEnds)
struct FMDatabaseKeyTests {
    let directory: TemporaryDirectory
    var path: String { directory.file("test.db") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func quiet() -> FMDatabase {
        let db = FMDatabase(path: path)
        db.logsErrors = false
        return db
    }

    private func write(_ db: FMDatabase) -> Bool {
        db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('plaintextmarker');")
    }

    private func expectNoPlaintext() {
        for name in directory.names {
            let bytes = (try? Data(contentsOf: URL(fileURLWithPath: directory.file(name)))) ?? Data()
            #expect(bytes.range(of: Data("plaintextmarker".utf8)) == nil && !bytes.starts(with: Data("SQLite".utf8)))
        }
    }

    @Test(arguments: ["PRAGMA foreign_keys = ON", "SELECT 1", "PRAGMA user_version"], ["k", "", "x'1234'"])
    func nothingIsWrittenAfterLateKey(before: String, key: String) {
        let db = quiet()
        #expect(db.open())
        _ = db.executeStatements(before)
        #expect(!db.setKey(key) && !db.isOpen)
        #expect(!write(db))
        #expect(db.open(), "without a key it opens, and can do nothing")
        #expect(!write(db))
        db.close()
        expectNoPlaintext()
    }

    @Test func keyIsAcceptedAfterConnectionSetup() {
        let db = quiet()
        #expect(db.open() && db.goodConnection)
        db.makeFunctionNamed("one", arguments: 0) { [unowned db] context, _, _ in db.resultInt(1, context: context) }
        db.traceExecution = true
        db.traceExecution = false
        db.maxBusyRetryTimeInterval = 1
        #expect(db.setKey(.sampleKey("k")) && write(db) && db.intForQuery("SELECT one()") == 1)
        expectNoPlaintext()
    }

    @Test func refusedKeyPragmaWritesNothing() {
        let db = quiet()
        #expect(db.open())
        #expect(!db.executeUpdate("PRAGMA key = 'secretmarker'", withArgumentsIn: []))
        #expect(db.lastErrorMessage().contains("setKey") && !db.lastErrorMessage().contains("secretmarker"))
        #expect(!db.isOpen && !write(db))
        expectNoPlaintext()
        #expect(db.open() && db.setKey(.sampleKey("secret")) && write(db))
        expectNoPlaintext()
    }

    @Test func repeatedKeyMustMatch() {
        let db = quiet()
        #expect(db.open() && db.setKey("k") && write(db))
        #expect(db.setKey("k") && db.setKeyWith(Data("k".utf8)))
        #expect(!db.setKey("other"))
        #expect(db.isOpen && db.intForQuery("SELECT count(*) FROM t") == 1, "the right key is in force still")
    }

    @Test func rightKeyWorksAfterReopening() {
        let db = quiet()
        #expect(db.open() && db.setKey("k") && write(db) && db.close())
        #expect(db.open() && !db.setKey("wrong") && !db.isOpen)
        #expect(db.open() && db.setKey("k") && db.intForQuery("SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: ["x'1234'", "", "late"])
    func queueWhoseKeyFailedWritesNothing(key: String) throws {
        let queue = try #require(FMDatabaseQueue(path: path))
        queue.inDatabase { db in
            db.logsErrors = false
            if key == "late" { _ = db.executeStatements("PRAGMA foreign_keys = ON") }
            #expect(!db.setKey(key))
        }
        queue.inTransaction { db, _ in #expect(!write(db)) }
        queue.inDatabase { db in #expect(!write(db)) }
        expectNoPlaintext()
        queue.inDatabase { db in #expect(db.setKey(.sampleKey("right")) && write(db)) }
        queue.inDatabase { db in #expect(db.intForQuery("SELECT count(*) FROM t") == 1) }
        expectNoPlaintext()
    }

    @Test func keyInTransactionIsTooLate() throws {
        let queue = try #require(FMDatabaseQueue(path: path))
        queue.inTransaction { db, _ in
            db.logsErrors = false
            #expect(!db.setKey(.sampleKey("k")))
            _ = write(db)
        }
        expectNoPlaintext()
    }

    @Test func poolWhoseKeyFailedWritesNothing() {
        let pool = FMDatabasePool(path: path)
        pool.inDatabase { db in
            db.logsErrors = false
            #expect(!db.setKey("x'1234'"))
        }
        pool.inDatabase { db in
            db.logsErrors = false
            #expect(!write(db))
        }
        expectNoPlaintext()
    }

    private final class Keying: FMDatabasePoolDelegate {
        func databasePool(_ pool: FMDatabasePool, didAdd database: FMDatabase) {
            _ = database.goodConnection
            _ = database.setKey(.sampleKey("k"))
        }
    }

    @Test func poolDelegateSetsKeys() {
        let pool = FMDatabasePool(path: path)
        let delegate = Keying()
        pool.delegate = delegate
        pool.inDatabase { db in #expect(write(db)) }
        pool.inDatabase { db in
            #expect(db.intForQuery("SELECT count(*) FROM t") == 1)
            pool.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM t") == 1) }
        }
        expectNoPlaintext()
    }

    private final class KeyedDatabase: FMDatabase, FMDatabaseClass {
        override func open() -> Bool { super.open() && setKey(.sampleKey("k")) }
        override func open(withFlags flags: Int32, vfs: String?) -> Bool {
            super.open(withFlags: flags, vfs: vfs) && setKey(.sampleKey("k"))
        }
    }

    private final class KeyedQueue: FMDatabaseQueue, @unchecked Sendable {
        override class func databaseClass() -> AnyClass { KeyedDatabase.self }
    }

    @Test func subclassSetsKeyInOpen() throws {
        let queue = try #require(KeyedQueue(path: path))
        queue.inDatabase { db in #expect(write(db)) }
        queue.close()
        queue.inDatabase { db in #expect(db.intForQuery("SELECT count(*) FROM t") == 1) }
        let db = KeyedDatabase(path: path)
        #expect(db.open() && db.intForQuery("SELECT count(*) FROM t") == 1)
        expectNoPlaintext()
    }

    @Test func nestedQueueReentryDoesNotDeadlock() throws {
        let first = try #require(FMDatabaseQueue(path: path))
        let second = try #require(FMDatabaseQueue(path: directory.file("second.db")))
        var ran = false
        first.inDatabase { _ in second.inDatabase { _ in first.inDatabase { _ in ran = true } } }
        #expect(ran)
    }

    @Test func messageNamesCallsOfFMDB() throws {
        let plain = quiet()
        #expect(plain.open() && write(plain) && plain.close())
        let keyed = quiet()
        #expect(keyed.open() && !keyed.setKey("secret"))
        #expect(keyed.lastErrorMessage().contains("open it without setKey"), "\(keyed.lastErrorMessage())")
        #expect((try? keyed.executeUpdate("CREATE TABLE u (a)")) == nil)
        #expect(!keyed.lastErrorMessage().contains("allowsPlaintext"), "\(keyed.lastErrorMessage())")
        keyed.close()
        try FileManager.default.removeItem(atPath: path)
        let encrypted = quiet()
        #expect(encrypted.open() && encrypted.setKey("secret") && write(encrypted) && encrypted.close())
        let unkeyed = quiet()
        #expect(unkeyed.open() && (try? unkeyed.executeUpdate("CREATE TABLE u (a)")) == nil)
        #expect(unkeyed.lastErrorMessage().contains("call setKey(_:) after open()"), "\(unkeyed.lastErrorMessage())")
    }
}
