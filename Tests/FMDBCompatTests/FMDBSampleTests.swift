import FMDBCompat
import Foundation
import TestSupport
import Testing

/// What FMDB's documentation shows, typed as its users type it: only the import is another.
@Suite(.atTheEnds)
struct FMDBSampleTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func databaseOpenedByURLReturnsInsertedRows() throws {
        let fileURL = URL(fileURLWithPath: directory.path).appendingPathComponent("test.sqlite")
        let database = FMDatabase(url: fileURL)
        guard database.open() else {
            Issue.record("Unable to open database")
            return
        }
        var lines: [String] = []
        do {
            try database.executeUpdate("create table test(x text, y text, z text)", values: nil)
            try database.executeUpdate("insert into test (x, y, z) values (?, ?, ?)", values: ["a", "b", "c"])
            try database.executeUpdate("insert into test (x, y, z) values (?, ?, ?)", values: ["e", "f", "g"])

            let rs = try database.executeQuery("select x, y, z from test", values: nil)
            while rs.next() {
                if let x = rs.string(forColumn: "x"), let y = rs.string(forColumn: "y"),
                    let z = rs.string(forColumn: "z")
                {
                    lines.append("x = \(x); y = \(y); z = \(z)")
                }
            }
        } catch {
            Issue.record("failed: \(error.localizedDescription)")
        }
        database.close()
        #expect(lines == ["x = a; y = b; z = c", "x = e; y = f; z = g"])
        #expect(database.databaseURL == fileURL)
    }

    @Test func keyedDatabaseHasNoSQLiteHeader() {
        let db = FMDatabase(path: directory.file("tmp.db"))
        guard db.open() else {
            Issue.record("Unable to open datbase")
            return
        }
        db.setKey("sup3rs3cr3t")
        db.executeStatements("create table secrets (text text)")
        db.close()
        #expect((try? FileState(directory.file("tmp.db")).bytes.prefix(6)) != Data("SQLite".utf8))
    }

    @Test func sqlcipherExportEncryptsPlaintextDatabase() throws {
        let plaintextDb = FMDatabase(path: directory.file("unencrypted.db"))
        guard plaintextDb.open() else {
            Issue.record("Unable to open database")
            return
        }
        plaintextDb.executeStatements("create table t (a); insert into t values (5)")
        let encryptedDbPath = directory.file("encrypted.db")
        try plaintextDb.executeUpdate(
            "ATTACH DATABASE ? AS encrypted KEY ?",
            values: [encryptedDbPath, "encryptedPass"]
        )
        plaintextDb.executeStatements("SELECT sqlcipher_export('encrypted');")
        plaintextDb.executeStatements("DETACH DATABASE encrypted;")
        plaintextDb.close()

        let encryptedDb = FMDatabase(path: encryptedDbPath)
        #expect(encryptedDb.open() && encryptedDb.setKey("encryptedPass"))
        #expect(encryptedDb.intForQuery("select a from t") == 5)
    }

    @Test(arguments: [false, true])
    func queueTransactionCanRollBack(whoopsSomethingWrongHappened: Bool) {
        let queue = FMDatabaseQueue(path: directory.file("queue.db"))!
        queue.inDatabase { db in
            do {
                try db.executeUpdate("CREATE TABLE myTable (a)", values: nil)
            } catch {
                print(error)
            }
        }
        queue.inTransaction { db, rollback in
            do {
                try db.executeUpdate("INSERT INTO myTable VALUES (?)", values: [1])
                try db.executeUpdate("INSERT INTO myTable VALUES (?)", values: [2])
                try db.executeUpdate("INSERT INTO myTable VALUES (?)", values: [3])

                if whoopsSomethingWrongHappened {
                    rollback.pointee = true
                    return
                }
            } catch {
                rollback.pointee = true
                print(error)
            }
        }
        queue.inDatabase { db in
            let rs = db.executeQuery("SELECT count(*) AS n FROM myTable", withArgumentsIn: [])
            #expect(rs?.next() == true)
            #expect(rs?.int(forColumn: "n") == (whoopsSomethingWrongHappened ? 0 : 3))
            rs?.close()
        }
    }

    @Test func boundValuesAndNSNullRoundTrip() throws {
        let db = FMDatabase(path: nil)
        #expect(db.open())
        try db.executeUpdate(
            "CREATE TABLE authors (identifier integer, name text, date double, comment text)",
            values: nil
        )
        let identifier = 42
        let name = "Liam O'Flaherty (\"the famous Irish author\")"
        let date = Date()
        let comment: String? = nil
        do {
            try db.executeUpdate(
                "INSERT INTO authors (identifier, name, date, comment) VALUES (?, ?, ?, ?)",
                values: [identifier, name, date, comment ?? NSNull()]
            )
        } catch {
            Issue.record("error = \(error)")
        }
        let arguments = ["identifier": 43, "name": name, "date": date, "comment": comment ?? NSNull()] as [String: Any]
        #expect(
            db.executeUpdate(
                "INSERT INTO authors (identifier, name, date, comment) VALUES (:identifier, :name, :date, :comment)",
                withParameterDictionary: arguments
            )
        )
        let rs = try db.executeQuery("SELECT * FROM authors ORDER BY identifier", values: nil)
        for expected in [42, 43] {
            #expect(rs.next())
            #expect(rs.int(forColumn: "identifier") == Int32(expected) && rs.string(forColumn: "name") == name)
            #expect(abs(rs.date(forColumn: "date")!.timeIntervalSince(date)) < 0.001)
            #expect(rs.columnIsNull("comment") && rs["comment"] is NSNull && rs[0] as? Int == expected)
            #expect(rs.type(forColumnIndex: 1) == .text && rs.data(forColumnIndex: 3) == nil)
        }
        #expect(!rs.next())
    }

    @Test func customFunctionRemovesDiacritics() throws {
        let db = FMDatabase(path: nil)
        #expect(db.open())
        db.makeFunctionNamed("RemoveDiacritics", arguments: 1) { context, argc, argv in
            guard db.valueType(argv[0]) == .text || db.valueType(argv[0]) == .null else {
                db.resultError("Expected string parameter", context: context)
                return
            }

            if let string = db.valueString(argv[0])?.folding(options: .diacriticInsensitive, locale: nil) {
                db.resultString(string, context: context)
            } else {
                db.resultNull(context: context)
            }
        }
        #expect(db.stringForQuery("SELECT RemoveDiacritics('José')") == "Jose")
        #expect(db.stringForQuery("SELECT RemoveDiacritics(NULL)") == nil)
        db.logsErrors = false
        #expect(db.stringForQuery("SELECT RemoveDiacritics(5)") == nil)
        #expect(db.lastErrorMessage() == "Expected string parameter")
    }

    @Test func poolRunsMultipleStatements() {
        let pool = FMDatabasePool(path: directory.file("pool.db"))
        pool.inDatabase { db in
            let sql = """
                create table bulktest1 (id integer primary key autoincrement, x text);
                create table bulktest2 (id integer primary key autoincrement, y text);
                insert into bulktest1 (x) values ('one');
                insert into bulktest2 (y) values ('two');
                """
            #expect(db.executeStatements(sql))
            let success = db.executeStatements("select count(*) as count from bulktest1;") { dictionary in
                #expect(dictionary["count"] as? String == "1")
                return 0
            }
            #expect(success)
        }
        #expect(pool.countOfOpenDatabases == 1)
    }

    /// The code of Documentation/FMDB.md is the code here.
    @Test func fmdbDocumentCodeRuns() throws {
        let path = directory.file("document.db")
        FMDatabaseQueue(path: path)?.inDatabase { $0.executeStatements("CREATE TABLE foo (bar)") }
        let queue = FMDatabaseQueue(path: path)
        queue?.inTransaction { db, rollback in
            do {
                try db.executeUpdate("INSERT INTO foo (bar) VALUES (?)", values: [1])
            } catch {
                rollback.pointee = true
            }
        }
        queue?.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM foo") == 1) }
        let here = try String(contentsOfFile: #filePath, encoding: .utf8)
        let document = try String(contentsOfFile: Program.packageDirectory + "/Documentation/FMDB.md", encoding: .utf8)
        let code = try #require(
            document.split(separator: "```swift\n").dropFirst().first?.components(separatedBy: "```").first
        )
        for line in code.split(separator: "\n") {
            #expect(here.contains(line.trimmingCharacters(in: .whitespaces)), "\(line)")
        }
    }
}
