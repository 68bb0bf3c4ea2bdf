import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMDatabaseAdditionsTests {
    let directory: TemporaryDirectory
    let db: FMDatabase

    init() throws {
        directory = try TemporaryDirectory()
        db = FMDatabase(path: directory.file("test.db"))
        db.logsErrors = false
        #expect(db.open() && db.setKey(.sampleKey("secret")))
    }

    @Test func schemaIsReadForQuotedTableNames() throws {
        #expect(db.executeStatements("CREATE TABLE '234 fds' (foo TEXT); CREATE TABLE \"it's\" (bar)"))
        let columns = try #require(db.getTableSchema("234 fds"))
        #expect(columns.next() && columns.string(forColumn: "name") == "foo" && !columns.next())
        #expect(db.columnExists("bar", inTableWithName: "it's"))
    }

    @Test func emptyTextAndEmptyBytesAreNotNull() {
        #expect(db.executeStatements("CREATE TABLE t (a NOT NULL)"))
        for empty: Any in ["", Data(), NSData(), NSMutableData()] {
            #expect(db.executeUpdate("INSERT INTO t VALUES (?)", withArgumentsIn: [empty]))
            #expect(db.boolForQuery("SELECT a IS NOT NULL FROM t") == true)
            #expect(db.executeStatements("DELETE FROM t"))
        }
    }

    @Test func integerIsReadByQuery() {
        #expect(db.executeStatements("CREATE TABLE t (a INTEGER)"))
        #expect(db.executeUpdate("INSERT INTO t VALUES (?)", withArgumentsIn: [5]) && db.changes == 1)
        #expect(db.intForQuery("SELECT a FROM t") == 5 && db.longForQuery("SELECT a FROM t WHERE a = ?", 5) == 5)
        #expect(db.intForQuery("SELECT a FROM t WHERE a = 6") == nil && db.doubleForQuery("SELECT a FROM t") == 5)
    }

    @Test func dateIsReadByQuery() throws {
        #expect(db.executeStatements("CREATE TABLE t (a DATETIME)"))
        let date = Date()
        #expect(db.executeUpdate("INSERT INTO t VALUES (?)", withArgumentsIn: [date]))
        #expect(abs(try #require(db.dateForQuery("SELECT a FROM t")).timeIntervalSince(date)) < 1)
    }

    @Test func validStatementValidatesWithoutRunning() throws {
        try db.validateSQL("CREATE TABLE t (a)")
        #expect(!db.hadError() && !db.tableExists("t"))
    }

    @Test func invalidStatementFailsValidation() {
        #expect { try db.validateSQL("blah blah blah") } throws: { ($0 as NSError).code == 1 }
        #expect(throws: NSError.self) { try db.validateSQL("") }
    }

    @Test func tableExistsByName() throws {
        #expect(db.executeStatements("CREATE TABLE t4 (a, b)") && db.tableExists("T4") && !db.tableExists("other"))
        let schema = try #require(db.getSchema())
        var types: [String?] = []
        while schema.next() { types.append(schema.string(forColumn: "type")) }
        #expect(types == ["table"])
    }

    @Test func columnExistsByName() {
        #expect(db.executeStatements("CREATE TABLE nice (a, B)"))
        #expect(db.columnExists("a", inTableWithName: "nice") && db.columnExists("b", inTableWithName: "NICE"))
        #expect(!db.columnExists("c", inTableWithName: "nice"))
    }

    @Test func userVersionIsKept() {
        db.userVersion = 12
        #expect(db.userVersion == 12)
        db.userVersion = .max
        #expect(db.userVersion == .max)
    }

    @Test func applicationIDIsFourLettersOrNumber() {
        #expect(db.applicationID == 0)
        db.applicationID = 0x666d_6462
        #expect(db.applicationID == 0x666d_6462 && db.applicationIDString == "fmdb")
        db.applicationIDString = "acrn"
        #expect(db.applicationIDString == "acrn")
        for wrong in ["", "abc", "abcde", "äbc"] {
            db.applicationIDString = wrong
            #expect(db.hadError() && db.applicationIDString == "acrn")
        }
    }
}
