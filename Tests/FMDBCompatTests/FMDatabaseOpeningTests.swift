import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMDatabaseOpeningTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func quiet(_ path: String?) -> FMDatabase {
        let db = FMDatabase(path: path)
        db.logsErrors = false
        return db
    }

    @Test func namedVFSOpensDatabase() {
        let db = quiet(nil)
        #expect(db.open(withFlags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: "unix"))
        #expect(!db.hadError() && db.close())
        let file = quiet(directory.file("vfs.db"))
        #expect(
            file.open(withFlags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: "unix")
                && file.setKey(.sampleKey("secret"))
        )
        #expect(file.executeStatements("CREATE TABLE t (a)"))
    }

    @Test func urlOpensItsFile() {
        let url = URL(fileURLWithPath: directory.file("url.db"))
        let db = FMDatabase(url: url)
        #expect(db.open() && db.databaseURL == url && db.databasePath == url.path)
        #expect(db.close() && !db.isOpen)
    }

    @Test func unknownVFSIsError() {
        let db = quiet(directory.file("vfs.db"))
        #expect(!db.open(withFlags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, vfs: "nobody knows this"))
        #expect(db.hadError() && db.lastErrorMessage().contains("nobody knows this"))
        #expect(directory.names.isEmpty)
    }

    @Test func queryOnClosedDatabaseFails() {
        let db = quiet(directory.file("closed.db"))
        #expect(db.open() && db.close())
        #expect(db.executeQuery("SELECT 1", withArgumentsIn: []) == nil)
        #expect(db.hadError() && db.lastErrorMessage().contains("not open"))
    }

    @Test func databaseWithoutPathIsInMemory() {
        for db in [quiet(nil), FMDatabase(), FMDatabase(url: nil)] {
            #expect(db.open() && db.databaseURL == nil)
            #expect(db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('x')"))
            #expect(db.stringForQuery("SELECT a FROM t") == "x")
        }
    }

    @Test func emptyPathIsTemporaryDatabase() {
        let db = quiet("")
        #expect(db.open() && db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('y')"))
        #expect(db.stringForQuery("SELECT a FROM t") == "y")
    }

    @Test func secondOpenKeepsConnection() {
        let db = quiet(directory.file("twice.db"))
        #expect(db.open() && db.setKey(.sampleKey("secret")) && db.open())
        #expect(db.goodConnection && db.executeStatements("CREATE TABLE t (a)"))
    }

    @Test func openingInMissingDirectoryFails() {
        let db = quiet(directory.file("no/such/directory.db"))
        #expect(!db.open() && db.lastErrorCode() == 14 && !db.isOpen)
    }

    @Test func retriedOpenFindsNewFile() {
        let db = quiet(directory.file("late.db"))
        #expect(!db.open(withFlags: SQLITE_OPEN_READWRITE) && directory.names.isEmpty)
        let maker = quiet(directory.file("late.db"))
        #expect(
            maker.open() && maker.setKey(.sampleKey("secret")) && maker.executeStatements("CREATE TABLE t (a)")
                && maker.close()
        )
        #expect(db.open(withFlags: SQLITE_OPEN_READWRITE) && db.setKey(.sampleKey("secret")))
        #expect(db.intForQuery("SELECT count(*) FROM t") == 0)
    }

    @Test func openConnectionIsGood() {
        let db = quiet(directory.file("good.db"))
        #expect(db.open() && db.setKey(.sampleKey("secret")) && db.goodConnection)
    }

    @Test func unopenedConnectionIsNotGood() {
        #expect(!quiet(directory.file("bad.db")).goodConnection)
    }

    @Test func fmdbVersionMatchesImplementedAPI() {
        #expect(FMDatabase.fmdbUserVersion() == "2.7.12")
    }

    @Test(arguments: [("1.100.42", ComparisonResult.orderedDescending), ("10.0.42", .orderedAscending)])
    func fmdbVersionComparesNumerically(other: String, expected: ComparisonResult) {
        #expect(FMDatabase.fmdbUserVersion().compare(other, options: .numeric) == expected)
    }

    @Test func sqliteVersionIsThree() {
        let version = FMDatabase.sqliteLibVersion()
        #expect(version.compare("3.7", options: .numeric) == .orderedDescending)
        #expect(version.compare("4.0", options: .numeric) == .orderedAscending)
    }

    @Test func sqliteIsThreadSafe() {
        #expect(FMDatabase.isSQLiteThreadSafe())
    }

    @Test func attachedDatabasesAreRead() throws {
        let other = quiet(directory.file("other.db"))
        #expect(
            other.open() && other.executeStatements("CREATE TABLE attached (a); INSERT INTO attached VALUES ('far')")
        )
        other.close()
        let db = quiet(directory.file("main.db"))
        #expect(db.open())
        #expect(db.executeUpdate("ATTACH DATABASE ? AS attack KEY ''", withArgumentsIn: [directory.file("other.db")]))
        let rows = try db.executeQuery("SELECT * FROM attack.attached", values: nil)
        #expect(rows.next() && rows.string(forColumnIndex: 0) == "far" && !rows.next())
    }

    @Test func databaseListReportsPath() throws {
        let db = quiet(directory.file("listed.db"))
        #expect(db.open() && db.setKey(.sampleKey("secret")))
        let rows = try db.executeQuery("PRAGMA database_list", values: nil)
        var files: [String?] = []
        while rows.next() { files.append(rows.string(forColumn: "file")) }
        let expected = URL(fileURLWithPath: directory.file("listed.db")).resolvingSymlinksInPath().path
        #expect(files.count == 1)
        #expect(files.first.flatMap { $0 }.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path } == expected)
    }

    @Test func journalModePragmaReturnsRow() throws {
        let db = quiet(directory.file("journal.db"))
        #expect(db.open() && db.setKey(.sampleKey("secret")))
        let rows = try db.executeQuery("PRAGMA journal_mode = DELETE", values: nil)
        #expect(rows.next() && rows.string(forColumnIndex: 0) == "delete")
    }

    @Test func pageSizeIsSetWithoutError() {
        let db = quiet(directory.file("pages.db"))
        #expect(db.open() && db.executeUpdate("PRAGMA page_size = 2048", withArgumentsIn: []) && !db.hadError())
        #expect(db.executeStatements("CREATE TABLE t (a)") && db.intForQuery("PRAGMA page_size") == 2048)
    }

    @Test func vacuumRunsWithoutError() {
        let db = quiet(directory.file("vacuum.db"))
        #expect(
            db.open() && db.setKey(.sampleKey("secret"))
                && db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        )
        #expect(db.executeUpdate("VACUUM", withArgumentsIn: []) && !db.hadError())
        #expect(db.intForQuery("SELECT a FROM t") == 1)
    }

    @Test func writeIsBusyUntilReaderFinishes() throws {
        let db = quiet(directory.file("busy.db"))
        #expect(
            db.open() && db.setKey(.sampleKey("secret"))
                && db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        )
        db.maxBusyRetryTimeInterval = 0.05
        let reader = quiet(directory.file("busy.db"))
        #expect(reader.open() && reader.setKey(.sampleKey("secret")))
        let rows = try reader.executeQuery("SELECT a FROM t", values: nil)
        #expect(rows.next())
        #expect(!db.executeUpdate("INSERT INTO t VALUES (3)", withArgumentsIn: []) && db.lastErrorCode() == 5)
        rows.close()
        #expect(db.executeUpdate("INSERT INTO t VALUES (3)", withArgumentsIn: []))
    }

    @Test func busyTimeoutCanBeSetWhileOpen() {
        let db = quiet(directory.file("timeout.db"))
        #expect(db.maxBusyRetryTimeInterval == 2)
        #expect(db.open() && db.setKey(.sampleKey("secret")))
        db.maxBusyRetryTimeInterval = 0.25
        #expect(db.maxBusyRetryTimeInterval == 0.25 && db.goodConnection)
    }

    @Test func busyTimeoutCanBeSetBeforeOpening() throws {
        let first = quiet(directory.file("timeout.db"))
        #expect(first.open() && first.executeStatements("CREATE TABLE t (a); BEGIN EXCLUSIVE"))
        let second = quiet(directory.file("timeout.db"))
        second.maxBusyRetryTimeInterval = 0.01
        #expect(second.open() && second.maxBusyRetryTimeInterval == 0.01)
        #expect(second.executeQuery("SELECT a FROM t", withArgumentsIn: [])?.next() != true)
        #expect(second.lastErrorCode() == 5)
    }

    @Test func zeroTimeoutReturnsBusy() {
        let first = quiet(directory.file("zero.db"))
        #expect(first.open() && first.executeStatements("CREATE TABLE t (a); BEGIN EXCLUSIVE"))
        let second = quiet(directory.file("zero.db"))
        #expect(second.open())
        second.maxBusyRetryTimeInterval = 0
        #expect(!second.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []) && second.lastErrorCode() == 5)
    }
}
