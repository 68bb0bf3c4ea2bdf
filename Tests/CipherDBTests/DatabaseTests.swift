import CipherDB
import Foundation
import TestSupport
import Testing

@Suite struct DatabaseTests {
    private func memory() throws -> Database {
        let database = Database(path: nil)
        try database.open()
        return database
    }

    @Test func vacuumCanBeRunAnyNumberOfTimes() throws {
        let directory = try TemporaryDirectory()
        let key = try DatabaseKey.sample("key")
        let database = Database(path: directory.file("test.db"))
        try database.open(key: key)
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        for _ in 0..<3 { try database.executeUpdate("VACUUM") }
        let statement = try database.prepare("VACUUM")
        for _ in 0..<3 { try statement.executeUpdate() }
        for _ in 0..<3 { try database.executeStatements("VACUUM") }
        #expect(try database.int(forQuery: "SELECT a FROM t") == 1)
        database.close()
        let queue = try DatabaseQueue(path: directory.file("test.db"), key: key)
        for _ in 0..<3 { try queue.inDatabase { try $0.executeUpdate("VACUUM") } }
        try queue.close()
        let pool = try DatabasePool(path: directory.file("test.db"), key: key)
        for _ in 0..<3 { try pool.inDatabase { try $0.executeUpdate("VACUUM") } }
        try pool.close()
    }

    @Test func valuesOfEveryKindComeBack() throws {
        let database = try memory()
        try database.executeStatements("CREATE TABLE t (a)")
        let values: [DatabaseValue] = [
            .null, .integer(0), .integer(.min), .integer(.max), .real(-1.5), .real(.infinity), .text(""), .text("a\0b"),
            .text("naïve 密码 🔑"), .blob(Data()), .blob(Data([0, 255, 0])),
        ]
        for value in values { try database.executeUpdate("INSERT INTO t VALUES (?)", value) }
        let rows = try database.executeQuery("SELECT a FROM t ORDER BY rowid")
        var found: [DatabaseValue] = []
        while try rows.next() { found.append(try rows["a"]) }
        #expect(found == values)
    }

    @Test func swiftTypesComeBackAsTheyWere() throws {
        let database = try memory()
        let date = Date(timeIntervalSince1970: 1_234_567_890.5)
        let rows = try database.executeQuery(
            "SELECT ? AS int, ? AS bool, ? AS double, ? AS string, ? AS data, ? AS date, ? AS none",
            Int32(-7),
            true,
            2.5,
            "text",
            Data([1, 2]),
            date,
            nil as Int?
        )
        #expect(try rows.next())
        #expect(try rows.int(forColumn: "int") == -7 && rows.int(forColumnIndex: 0) == -7)
        #expect(try rows.bool(forColumn: "bool") == true && rows.bool(forColumnIndex: 1) == true)
        #expect(try rows.double(forColumn: "double") == 2.5 && rows.double(forColumnIndex: 2) == 2.5)
        #expect(try rows.string(forColumn: "string") == "text" && rows.string(forColumnIndex: 3) == "text")
        #expect(try rows.data(forColumn: "data") == Data([1, 2]) && rows.data(forColumnIndex: 4) == Data([1, 2]))
        #expect(try rows.date(forColumn: "date") == date && rows.date(forColumnIndex: 5) == date)
        #expect(try rows.columnIsNull("none") && rows.columnIndexIsNull(6) && !rows.columnIsNull("int"))
        #expect(try rows.int(forColumn: "none") == nil && rows.string(forColumn: "none") == nil)
        let typed: (Int8, Double, String?, UInt64?) = try (rows["int"], rows["int"], rows["none"], rows["none"])
        #expect(typed == (-7, -7, nil, nil))
        #expect(try rows.columnIndex(forName: "STRING") == 3)
        #expect(rows.columnNames == ["int", "bool", "double", "string", "data", "date", "none"])
    }

    @Test func wrongKindNamesColumnNotValue() throws {
        let database = try memory()
        let rows = try database.executeQuery("SELECT 'hunter2' AS text, 300 AS number, NULL AS none, x'ff' AS bytes")
        #expect(try rows.next())
        func message(_ body: () throws -> Void) -> String {
            do {
                try body()
                return "no error"
            } catch {
                #expect((error as? DatabaseError)?.code == .mismatch)
                return "\(error)"
            }
        }
        let text = message { let _: Int = try rows["text"] }
        #expect(text.contains("text") && text.contains("Int") && !text.hasPrefix("hunter2"))
        #expect(message { let _: Int8 = try rows["number"] }.contains("Int8"))
        #expect(message { let _: String = try rows["none"] }.contains("null"))
        #expect(message { let _: String = try rows["bytes"] }.contains("blob"))
        #expect(message { let _: Date = try rows["text"] }.contains("holds text that is no date"))
    }

    @Test func textThatIsNotUTF8IsError() throws {
        let database = try memory()
        let rows = try database.executeQuery("SELECT CAST(x'ff41' AS TEXT)")
        #expect(try rows.next())
        #expect(throws: DatabaseError.self) { let _: String = try rows[0] }
        #expect(try rows.data(forColumnIndex: 0) == Data([0xff, 0x41]))
    }

    @Test func columnsThatAreNotThereAreNamed() throws {
        let database = try memory()
        let rows = try database.executeQuery("SELECT 1 AS one")
        #expect(throws: DatabaseError.self) { try rows.int(forColumnIndex: 0) }
        #expect(try rows.next())
        for index in [-1, 1, 999] {
            #expect(throws: DatabaseError.self) { try rows.int(forColumnIndex: index) }
        }
        do {
            _ = try rows.int(forColumn: "two")
            Issue.record("no error")
        } catch let error as DatabaseError {
            #expect(error.code == .range && error.message.contains("two"))
        }
    }

    @Test(arguments: [0, 1, 3])
    func anotherNumberOfValuesThanParametersRunsNothing(count: Int) throws {
        let database = try memory()
        try database.executeStatements("CREATE TABLE t (a, b)")
        for _ in 0..<3 {
            do {
                try database.executeUpdate(
                    "INSERT INTO t VALUES (?, ?)",
                    values: StatementValues(Array(repeating: 1, count: count))
                )
                Issue.record("no error")
            } catch let error as DatabaseError {
                #expect(error.code == .range && error.message.contains("2 parameters, and \(count)"))
            }
            #expect(throws: DatabaseError.self) {
                _ = try database.executeQuery("SELECT ?, ?", values: StatementValues(Array(repeating: 1, count: count)))
            }
        }
        // The cached statement is as good as new after that.
        try database.executeUpdate("INSERT INTO t VALUES (?, ?)", 1, 2)
        #expect(try database.first("SELECT count(*) FROM t") == 1)
    }

    @Test func namedParametersBindByName() throws {
        let database = try memory()
        let rows = try database.executeQuery(
            "SELECT :a || @b || $c || :a",
            values: ["a": "x", "b": "y", "c": nil ?? "z"]
        )
        #expect(try rows.next())
        #expect(try rows.string(forColumnIndex: 0) == "xyzx")
    }

    @Test func namesTooManyOrTooFewAreNamed() throws {
        let database = try memory()
        func message(_ sql: String, _ values: [String: (any ColumnEncodable)?]) -> String {
            do {
                try database.executeUpdate(SQL(unsafe: sql), values: StatementValues(values))
                return "no error"
            } catch {
                return "\(error)"
            }
        }
        #expect(message("SELECT :a, :b", ["a": 1]).contains(":b"))
        #expect(message("SELECT :a", ["a": 1, "surplus": 2]).contains("surplus"))
        #expect(message("SELECT ?, :a", ["a": 1]).contains("parameter 1 has no name"))
        #expect(message("SELECT :a", ["a": nil]) == "no error")
    }

    @Test func unsignedIntegerThatDoesNotFitIsRefused() throws {
        let database = try memory()
        try database.executeUpdate("SELECT ?", UInt64(Int64.max))
        #expect(throws: DatabaseError.self) { try database.executeUpdate("SELECT ?", UInt64.max) }
    }

    @Test func secondStatementIsNotDroppedButRefused() throws {
        let database = try memory()
        try database.executeStatements("CREATE TABLE t (a)")
        #expect(throws: DatabaseError.self) {
            try database.executeUpdate("INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)")
        }
        #expect(throws: DatabaseError.self) {
            try database.executeUpdate("INSERT INTO t VALUES (1); DELETE FROM nothing")
        }
        #expect(try database.first("SELECT count(*) FROM t") == 0)
        try database.executeUpdate("INSERT INTO t VALUES (1); -- a comment\n /* and another */ ;;")
        #expect(try database.first("SELECT count(*) FROM t") == 1)
    }

    @Test(arguments: ["", "  ", ";", "-- nothing", "SELECT\0 1", "SELEC 1", "SELECT * FROM nothing"])
    func emptyAndMalformedSQLIsRefused(sql: String) throws {
        let database = try memory()
        #expect(throws: DatabaseError.self) { try database.executeUpdate(SQL(unsafe: sql)) }
        #expect(throws: DatabaseError.self) { _ = try database.executeQuery(SQL(unsafe: sql)) }
    }

    @Test func updateThatReturnsRowsRunsToItsEnd() throws {
        let database = try memory()
        try database.executeUpdate("PRAGMA user_version = 7")
        try database.executeUpdate("PRAGMA user_version")
        try database.executeUpdate("WITH n (i) AS (VALUES (1), (2), (3)) SELECT i FROM n")
    }

    @Test func constraintsHaveExtendedCodes() throws {
        let database = try memory()
        try database.executeStatements("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
        do {
            try database.executeUpdate("INSERT INTO t VALUES (?)", 1)
            Issue.record("no error")
        } catch let error as DatabaseError {
            #expect(
                error.code.primary == .constraint && error.code.rawValue == 2067 && error.code.primary == .constraint
            )
            #expect(error.message.contains("t.a") && error.sql == "INSERT INTO t VALUES (?)")
        }
    }

    @Test func foreignKeysAreEnforcedUnlessSwitchedOff() throws {
        let schema = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a)"
        let strict = try memory()
        try strict.executeStatements(SQL(unsafe: schema))
        #expect(throws: DatabaseError.self) { try strict.executeUpdate("INSERT INTO b VALUES (1)") }
        let lax = Database(path: nil, configuration: Configuration { $0.enforcesForeignKeys = false })
        try lax.open()
        try lax.executeStatements(SQL(unsafe: schema))
        try lax.executeUpdate("INSERT INTO b VALUES (1)")
    }

    @Test func closedDatabaseThrows() throws {
        let database = try memory()
        let statement = try database.prepare("SELECT 1")
        let rows = try database.executeQuery("SELECT 1")
        #expect(try rows.next())
        database.close()
        database.close()
        #expect(!database.isOpen)
        for body in [
            { try database.executeUpdate("SELECT 1") }, { _ = try rows.next() },
            { _ = try rows.int(forColumnIndex: 0) },
            { try statement.executeUpdate() }, { _ = try statement.executeQuery() },
            { try database.beginTransaction() },
        ] {
            #expect(throws: DatabaseError.self) { try body() }
        }
        #expect(throws: DatabaseError.self) { try database.executeStatements("SELECT 1") }
        #expect(database.lastInsertRowID == 0 && database.changes == 0 && !database.isInTransaction)
    }

    @Test func releasedDatabaseIsClosed() throws {
        weak var database: Database?
        func use() throws {
            let used = try memory()
            database = used
            for _ in 0..<2 {
                try used.executeUpdate("SELECT 1")
                _ = try used.executeQuery("SELECT 1").next()
                #expect(try used.first("SELECT 1") == 1)
            }
        }
        try use()
        #expect(database == nil)
    }

    @Test func statementsThatOutliveTheirDatabaseVariableStillWork() throws {
        let statement = try memory().prepare("SELECT ? + 1")
        let rows = try statement.executeQuery(41)
        #expect(try rows.next())
        #expect(try rows.int(forColumnIndex: 0) == 42)
    }

    @Test(arguments: ["/nowhere/at/all.db", "/dev", "/dev/null", "a\0b"])
    func pathsThatCannotBeDatabaseAreNamed(path: String) throws {
        let database = Database(path: path)
        do {
            try database.open()
            Issue.record("opened")
        } catch let error as DatabaseError {
            #expect(error.code == .cannotOpen)
            #expect(path.contains("\0") || error.message.contains(path))
        }
    }

    @Test func pipeIsRefusedAndNotWaitedFor() throws {
        let directory = try TemporaryDirectory()
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(throws: DatabaseError.self) { try Database(path: directory.file("pipe")).open() }
    }

    @Test func missingFileIsNotCreatedWithoutFlag() throws {
        let directory = try TemporaryDirectory()
        for flags in [OpenFlags.readOnly, .readWrite] {
            #expect(throws: DatabaseError.self) { try Database(path: directory.file("none.db")).open(flags: flags) }
        }
        #expect(directory.names.isEmpty)
    }

    @Test func pathThatLooksLikeURIIsFile() throws {
        let directory = try TemporaryDirectory()
        // Relative to the working directory such a path would be a URI with a key in it, for SQLCipher 4.
        let name = "file:\(UUID().uuidString).db?key=other"
        let queue = try DatabaseQueue(path: name, key: .sample("secret"))
        defer { try? FileManager.default.removeItem(atPath: name) }
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.close()
        try FileManager.default.copyItem(atPath: name, toPath: directory.file("copy.db"))
        _ = try DatabaseQueue(path: directory.file("copy.db"), key: .sample("secret"))
    }

    @Test func readOnlyConnectionReadsAndDoesNotWrite() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("test.db")
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        let reader = try DatabaseQueue(path: path, key: .sample("secret"), flags: .readOnly)
        let count: Int = try reader.inDatabase { try $0.first("SELECT count(*) FROM t") }
        #expect(count == 1)
        #expect(try reader.inDatabase { try $0.isReadOnly })
        do {
            try reader.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
            Issue.record("written")
        } catch let error as DatabaseError {
            #expect(error.code.primary == .readOnly)
        }
    }

    @Test func keyIsNoMatterOfPrepareDatabase() throws {
        let directory = try TemporaryDirectory()
        var configuration = Configuration { $0.prepareDatabase = { try $0.setKey("x") } }
        #expect { try DatabaseQueue(path: directory.file("a.db"), configuration: configuration) } throws: {
            ($0 as? KeyError)?.code == .keyMissing
                && "\($0)".contains("to the call that opens it, not in prepareDatabase")
        }
        configuration.allowsPlaintext = true
        #expect { try DatabaseQueue(path: directory.file("a.db"), configuration: configuration) } throws: {
            "\($0)".contains("by the call that opens it")
        }
    }

    @Test func prepareDatabaseRunsFirst() throws {
        let directory = try TemporaryDirectory()
        let configuration = Configuration {
            $0.prepareDatabase = { try $0.executeStatements("CREATE TEMP TABLE mine (a)") }
        }
        let queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: configuration
        )
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO mine VALUES (1)") }
        let connection = try queue.openConnection()
        #expect(try connection.first("SELECT count(*) FROM mine") == 0)
        struct Refused: Error {}
        #expect(throws: Refused.self) {
            _ = try DatabaseQueue(
                path: nil,
                configuration: Configuration { $0.prepareDatabase = { _ in throw Refused() } }
            )
        }
    }

    @Test func busyIsThrownAfterTimeout() throws {
        let directory = try TemporaryDirectory()
        let configuration = Configuration { $0.busyTimeout = .milliseconds(50) }
        let queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: configuration
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        let other = try queue.openConnection()
        try other.beginTransaction(.exclusive)
        do {
            try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
            Issue.record("written")
        } catch let error as DatabaseError {
            #expect(error.code.primary == .busy)
        }
        // Opening waits for the lock too, and then says what held it up.
        #expect(throws: DatabaseError.self) { _ = try queue.openConnection() }
        try other.commit()
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
    }

    @Test func busyDatabaseIsWaitedFor() throws {
        let directory = try TemporaryDirectory()
        let configuration = Configuration { $0.busyTimeout = .seconds(60) }
        let queue = try DatabaseQueue(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: configuration
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        let other = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        let holding = Gate()
        let holder = Thread {
            try? other.inTransaction(.exclusive) { _ in
                holding.open()
                Thread.sleep(forTimeInterval: 0.2)
            }
        }
        holder.start()
        holding.wait()
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
    }

    @Test func everyJournalModeIsSetOrRefused() throws {
        let directory = try TemporaryDirectory()
        for mode in [JournalMode.delete, .truncate, .persist, .wal] {
            let queue = try DatabaseQueue(
                path: directory.file("\(mode).db"),
                key: .sample("secret"),
                configuration: Configuration { $0.journalMode = mode }
            )
            let found: String = try queue.inDatabase { try $0.first("PRAGMA journal_mode") }
            #expect(found == mode.rawValue)
        }
    }
}
