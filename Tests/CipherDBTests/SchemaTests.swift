import CipherDB
import Foundation
import TestSupport
import Testing

/// The schema, the numbers in the header, limits, checkpoints and how a file is named.
@Suite struct SchemaTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = Database(path: directory.file("test.db"))
        try database.open(key: .sample("secret"))
    }

    @Test(arguments: ["plain", "234 fds", "it's", "a\"b", "x); DROP TABLE plain; --"])
    func tablesWithOddNamesAreFound(name: String) throws {
        try database.executeUpdate("CREATE TABLE \(identifier: name) (Id INTEGER PRIMARY KEY, b TEXT)")
        #expect(try database.tableExists(name.uppercased()) && !database.tableExists("no \(name)"))
        #expect(try database.columnExists("ID", inTableWithName: name))
        #expect(try !database.columnExists("c", inTableWithName: name))
        #expect(try !database.columnExists("id", inTableWithName: "no \(name)"))
        let columns = try database.tableSchema(name)
        #expect(try columns.next())
        #expect(try columns.string(forColumn: "name") == "Id" && columns.int(forColumn: "pk") == 1)
    }

    @Test func schemaOmitsInternalObjects() throws {
        try database.executeStatements(
            """
            CREATE TABLE t (a UNIQUE); CREATE INDEX i ON t (a); CREATE VIEW v AS SELECT a FROM t;
            CREATE TABLE sqliteX (a); CREATE TEMP TABLE short (a);
            """
        )
        let rows = try database.schema()
        var names: [String] = []
        while try rows.next() { names.append(try rows.string(forColumn: "name") ?? "") }
        #expect(names == ["short", "sqliteX", "t", "i", "v"])
        #expect(try !database.tableExists("v"), "a view is no table")
    }

    @Test func numbersInHeaderAreKept() throws {
        try database.setUserVersion(12)
        try database.setApplicationID(-7)
        #expect(try database.userVersion == 12 && database.applicationID == -7)
        database.close()
        try database.open(key: .sample("secret"), flags: .readOnly)
        #expect(try database.userVersion == 12 && database.applicationID == -7)
        #expect(throws: DatabaseError.self) { try database.setUserVersion(13) }
        #expect(throws: DatabaseError.self) { try database.setApplicationID(1) }
        database.close()
        #expect(throws: DatabaseError.self) { try database.userVersion }
    }

    @Test func statementIsValidatedWithoutRunning() throws {
        try database.validateSQL("CREATE TABLE t (a)")
        #expect(try !database.tableExists("t"))
        for wrong in ["blah blah", "SELECT a FROM nothing", "", "SELECT 1; SELECT 2"] {
            #expect(throws: DatabaseError.self) { try database.validateSQL(SQL(unsafe: wrong)) }
        }
    }

    @Test func limitsBoundConnection() throws {
        let before = try database.limit(.length)
        #expect(try database.setLimit(.length, to: 1000) == before)
        #expect(try database.limit(.length) == 1000)
        #expect { _ = try database.int(forQuery: "SELECT length(?)", Data(count: 1001)) } throws: {
            ($0 as? DatabaseError)?.code == .tooBig
        }
        #expect(try database.int(forQuery: "SELECT length(?)", Data(count: 900)) == 900)
        try database.setLimit(.parameters, to: 2)
        #expect(throws: DatabaseError.self) { try database.executeQuery("SELECT ?3", 1, 2, 3) }
        #expect(throws: DatabaseError.self) { try database.setLimit(.columns, to: -1) }
        for limit in Limit.allCases { #expect(try database.limit(limit) >= 0) }
    }

    @Test func checkpointCountsPagesOfWAL() throws {
        let none = try database.checkpoint(.truncate)
        #expect(none.logFrameCount == -1 && none.checkpointCount == -1)
        try database.executeStatements("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        let some = try database.checkpoint(.passive, name: "main")
        #expect(some.logFrameCount > 0 && some.checkpointCount == some.logFrameCount)
        let other = Database(path: directory.file("test.db"), configuration: Configuration { $0.busyTimeout = .zero })
        try other.open(key: .sample("secret"))
        try other.executeStatements("BEGIN; SELECT a FROM t")
        try database.executeStatements("INSERT INTO t VALUES (2)")
        database.busyTimeout = .zero
        #expect { try database.checkpoint(.truncate) } throws: { ($0 as? DatabaseError)?.code.primary == .busy }
        try other.rollback()
        let whole = try database.checkpoint(.truncate)
        #expect(whole.logFrameCount == 0 && whole.checkpointCount == 0)
        #expect(throws: DatabaseError.self) { try database.checkpoint(.full, name: "nothing") }
    }

    @Test func uriNamesFileAndMode() throws {
        try database.executeStatements("CREATE TABLE t (a)")
        database.close()
        let path = directory.file("test.db").replacing("/", with: "%2F")
        let reader = Database(path: "file:\(path)?mode=ro#fragment")
        try reader.open(key: .sample("secret"), flags: [.readWrite, .create, .uri])
        #expect(try reader.tableExists("t") && reader.isReadOnly)
        reader.close()
        let local = Database(path: "file://localhost\(directory.file("test.db"))?mode=rw")
        try local.open(key: .sample("secret"), flags: [.readWrite, .create, .uri])
        #expect(try local.tableExists("t") && !local.isReadOnly)
        let memory = Database(path: "file:anything?mode=memory")
        try memory.open(flags: [.readWrite, .create, .uri])
        try memory.executeStatements("CREATE TABLE m (a)")
        #expect(directory.names == ["test.db"])
    }

    @Test(arguments: [
        "file:x.db?key=secret", "file:x.db?hexkey=00", "file:x.db?KEY=s", "file:x.db?cache=shared", "file://host/x.db",
        "file:x%zz.db", "file:x%00.db", "x.db", "file:new.db?mode=rw",
    ])
    func uriWithKeyOrNonsenseIsRefused(uri: String) throws {
        let inDirectory = uri.replacing("file:x", with: "file:\(directory.path)/x")
            .replacing("file:new", with: "file:\(directory.path)/new")
        let other = Database(path: inDirectory)
        #expect { try other.open(flags: [.readWrite, .create, .uri]) } throws: {
            $0 is DatabaseError && !"\($0)".contains("secret")
        }
        #expect(directory.names == ["test.db"])
    }

    @Test func vfsIsChosenByName() throws {
        let named = Database(path: directory.file("vfs.db"), configuration: Configuration { $0.vfs = "unix" })
        try named.open(key: .sample("secret"))
        try named.executeStatements("CREATE TABLE t (a)")
        #expect(named.goodConnection)
        let unknown = Database(
            path: directory.file("other.db"),
            configuration: Configuration { $0.vfs = "no such thing" }
        )
        #expect { try unknown.open() } throws: { "\($0)".contains("no such thing") }
        #expect(directory.names == ["test.db", "vfs.db"])
    }

    @Test func urlOfFileIsItsPath() throws {
        let url = URL(fileURLWithPath: directory.file("with space.db"))
        let other = try Database(path: url.databasePath)
        try other.open(key: .sample("secret"))
        #expect(other.path == url.path && directory.names.contains("with space.db"))
        #expect(throws: DatabaseError.self) { try #require(URL(string: "https://example.org/a.db")).databasePath }
    }
}
