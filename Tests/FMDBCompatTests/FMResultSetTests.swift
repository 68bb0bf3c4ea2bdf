import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMResultSetTests {
    let db: FMDatabase

    init() {
        db = FMDatabase(path: nil)
        db.logsErrors = false
        db.open()
        db.executeStatements("CREATE TABLE t (a, B); INSERT INTO t VALUES ('x', 1), ('y', 2), ('z', NULL)")
    }

    private static let getters: [@Sendable (FMResultSet, String) -> Bool] = [
        { $0[$1] == nil }, { $0.string(forColumn: $1) == nil }, { $0.utf8String(forColumn: $1) == nil },
        { $0.date(forColumn: $1) == nil }, { $0.data(forColumn: $1) == nil }, { $0.dataNoCopy(forColumn: $1) == nil },
        { $0.object(forColumn: $1) == nil }, { $0.int(forColumn: $1) == 0 }, { $0.double(forColumn: $1) == 0 },
        { !$0.bool(forColumn: $1) }, { $0.type(forColumn: $1) == .null }, { $0.columnIsNull($1) },
    ]

    @Test func columnsAreReadByName() throws {
        let rows = try db.executeQuery("SELECT rowid, * FROM t WHERE a = 'x'", values: nil)
        #expect(rows.next() && rows.int(forColumn: "rowid") == 1 && rows.string(forColumn: "A") == "x")
        #expect(
            rows.long(forColumn: "b") == 1 && rows.longLongInt(forColumn: "b") == 1 && rows.double(forColumn: "b") == 1
        )
        #expect(rows.columnName(for: 0) == "rowid" && rows.columnName(for: 1) == "a" && rows.columnName(for: 9) == nil)
        #expect(rows.columnIndex(forName: "b") == 2 && rows.columnIndex(forName: "c") == -1 && rows.columnCount == 3)
        #expect(!rows.next() && rows.columnCount == 0)
    }

    @Test(arguments: getters.indices)
    func missingColumnReadsAsNull(getter: Int) throws {
        let rows = try db.executeQuery("SELECT * FROM t", values: nil)
        var count = 0
        while rows.next() {
            #expect(Self.getters[getter](rows, "no such column"))
            count += 1
        }
        #expect(count == 3 && !db.hadError())
    }

    @Test(arguments: [Int32(-1), 2, 999, .max, .min])
    func missingColumnIndexReadsAsNull(index: Int32) throws {
        let rows = try db.executeQuery("SELECT * FROM t", values: nil)
        #expect(rows.next())
        #expect(
            rows[index] == nil && rows.string(forColumnIndex: index) == nil && rows.date(forColumnIndex: index) == nil
        )
        #expect(rows.data(forColumnIndex: index) == nil && rows.utf8String(forColumnIndex: index) == nil)
        #expect(rows.dataNoCopy(forColumnIndex: index) == nil && rows.object(forColumnIndex: index) == nil)
        #expect(
            rows.int(forColumnIndex: index) == 0 && rows.columnIndexIsNull(index) && rows.columnName(for: index) == nil
        )
        #expect(!db.hadError())
    }

    @Test func dictionaryKeepsCaseOfNames() throws {
        let rows = try db.executeQuery("SELECT a AS lower, B AS UPPER FROM t", values: nil)
        #expect(rows.resultDictionary == nil && rows.next())
        let row = try #require(rows.resultDictionary)
        #expect(row["lower"] as? String == "x" && row["UPPER"] as? Int == 1 && row["upper"] == nil && row.count == 2)
    }

    @Test func queryCanRunInsideOfAnother() throws {
        let outer = try db.executeQuery("SELECT a FROM t", values: nil)
        var pairs: [String] = []
        while outer.next() {
            let name = outer.string(forColumn: "a") ?? ""
            #expect(db.executeUpdate("UPDATE t SET B = 7 WHERE a = ?", withArgumentsIn: [name]))
            let inner = try db.executeQuery("SELECT B FROM t WHERE a = ?", values: [name])
            while inner.next() { pairs.append(name + (inner.string(forColumn: "b") ?? "")) }
        }
        #expect(pairs == ["x7", "y7", "z7"] && !db.hasOpenResultSets)
    }

    @Test func nullsAndValuesOfEveryTypeAreRead() throws {
        #expect(db.executeStatements("CREATE TABLE n (i INTEGER, f DOUBLE, s TEXT, d BLOB)"))
        for values: [Any] in [[NSNull(), NSNull(), NSNull(), NSNull()], [4_294_967_297, 4.4, "text", Data([1])]] {
            #expect(db.executeUpdate("INSERT INTO n VALUES (?, ?, ?, ?)", withArgumentsIn: values))
        }
        let rows = try db.executeQuery("SELECT * FROM n", values: nil)
        #expect(rows.next())
        for column: Int32 in [0, 1, 2, 3, 12] { #expect(rows.columnIndexIsNull(column)) }
        #expect(
            rows.string(forColumnIndex: -2) == nil && rows.int(forColumn: "i") == 0 && rows.data(forColumn: "d") == nil
        )
        #expect(rows.next() && !rows.columnIsNull("i") && rows.double(forColumn: "f") == 4.4)
        #expect(rows.bool(forColumn: "i") && rows.long(forColumn: "i") == 4_294_967_297)
        #expect(rows.longLongInt(forColumnIndex: 0) == 4_294_967_297 && rows.int(forColumn: "i") == 1, "cut to 32 bits")
    }

    @Test(arguments: [false, true])
    func columnNamesMayContainPeriods(withArguments: Bool) throws {
        let sql = "SELECT a AS 't4.a', B FROM t WHERE B = 1"
        let found = withArguments ? db.executeQuery(sql, withArgumentsIn: []) : try db.executeQuery(sql, values: nil)
        let rows = try #require(found)
        #expect(rows.next() && rows.string(forColumn: "t4.a") == "x" && rows.string(forColumn: "b") == "1")
        let text = try #require(rows.utf8String(forColumn: "t4.a"))
        #expect(String(cString: text) == "x")
    }

    @Test func columnMapIsAvailableBeforeFirstRow() throws {
        let rows = try db.executeQuery("SELECT 1 AS a, 2 AS B, 3 AS c, 4 AS d", values: nil)
        #expect(rows.columnNameToIndexMap == ["a": 0, "b": 1, "c": 2, "d": 3])
        #expect(rows.columnIndex(forName: "D") == 3)
    }

    @Test(arguments: [false, true])
    func columnsFollowTheSchema(looksFirst: Bool) throws {
        let prepared = db.prepare("SELECT * FROM t WHERE a = ?")
        #expect(prepared.bind(with: ["x"]) && prepared.next() && prepared.int(forColumn: "b") == 1)
        while prepared.next() {}
        let cached = try db.executeQuery("SELECT * FROM t WHERE a = ?", values: ["x"])
        #expect(cached.next() && cached.columnCount == 2)
        cached.close()
        #expect(
            db.executeStatements(
                "CREATE TABLE new AS SELECT B, a, 5 AS c FROM t; DROP TABLE t; ALTER TABLE new RENAME TO t"
            )
        )
        if looksFirst { #expect(prepared.columnNameToIndexMap == ["b": 0, "a": 1, "c": 2]) }
        #expect(prepared.bind(with: ["x"]))
        for rows in [prepared, try db.executeQuery("SELECT * FROM t WHERE a = ?", values: ["x"])] {
            if looksFirst {
                #expect(rows.columnIndex(forName: "b") == 0 && rows.columnIndex(forName: "C") == 2)
                #expect(rows.columnNameToIndexMap == ["b": 0, "a": 1, "c": 2] && rows.columnCount == 3)
                #expect(rows.columnName(for: 1) == "a" && rows.int(forColumn: "b") == 0)
            }
            #expect(rows.next() && !db.hadError())
            #expect(
                rows.int(forColumn: "b") == 1 && rows.string(forColumn: "a") == "x" && rows.int(forColumn: "c") == 5
            )
            #expect(rows.resultDictionary?["B"] as? Int == 1 && rows.resultDictionary?.count == 3)
            #expect(!rows.next() && !db.hadError())
        }
    }

    @Test func errorOfLookingFirstIsNoEnd() throws {
        let rows = try db.executeQuery("SELECT * FROM t", values: nil)
        #expect(db.executeStatements("DROP TABLE t"))
        #expect(rows.columnCount == 0 && rows.columnIndex(forName: "a") == -1)
        #expect(!rows.next() && db.hadError() && db.lastErrorCode() == 1)
    }

    @Test func insertedIDIsSQLites() {
        db.executeStatements("CREATE TABLE p (id INTEGER PRIMARY KEY, m UNIQUE ON CONFLICT IGNORE)")
        for mail in ["Ada", "Bob", "Ada"] {
            #expect(db.executeUpdate("INSERT INTO p (m) VALUES (?)", withArgumentsIn: [mail]))
        }
        #expect(db.lastInsertRowId == 2 && db.changes == 0)
    }

    @Test func closedResultSetsGiveNoRows() throws {
        let rows = try db.executeQuery("SELECT * FROM t", values: nil)
        let prepared = db.prepare("SELECT * FROM t")
        #expect(rows.next() && db.hasOpenResultSets)
        db.closeOpenResultSets()
        #expect(!rows.next() && !prepared.next() && !db.hasOpenResultSets)
        #expect(!prepared.bind(with: [1]))
    }

    @Test func rowsGoOnWithoutTheirDatabase() throws {
        func orphaned() throws -> FMResultSet {
            let other = FMDatabase(path: nil)
            other.open()
            other.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            return try other.executeQuery("SELECT a FROM t", values: nil)
        }
        let rows = try orphaned()
        #expect(rows.parentDB == nil)
        #expect(rows.next() && rows.int(forColumnIndex: 0) == 1 && rows.next() && rows.int(forColumnIndex: 0) == 2)
        #expect(!rows.next() && rows.object(forColumnIndex: 0) == nil)
    }

    @Test func preparedStatementRebindsByName() throws {
        let insert = db.prepare("INSERT INTO t VALUES (:a, :b)")
        for number in 1...3 {
            #expect(insert.bind(with: ["a": "dictionary", "b": number, "surplus": 0]) && insert.step())
        }
        let query = db.prepare("SELECT count(*) FROM t WHERE a = :a AND B <= :b")
        for number in 1...3 {
            #expect(query.bind(with: ["a": "dictionary", "b": number]) && query.next())
            #expect(query.int(forColumnIndex: 0) == Int32(number) && !query.next())
        }
        #expect(db.hasOpenResultSets, "they are the caller's to close")
        insert.close()
        query.close()
        #expect(!db.hasOpenResultSets)
    }

    @Test func preparedStatementRebindsByPosition() throws {
        let insert = db.prepare("INSERT INTO t VALUES (?, ?)")
        #expect(!insert.bind(with: [1]) && db.hadError())
        for number in 1...3 { #expect(insert.bind(with: ["array", number]) && insert.step()) }
        let query = db.prepare("SELECT B FROM t WHERE a = ? AND B < ?")
        for (limit, count) in [(2, 1), (3, 2)] {
            #expect(query.bind(with: ["array", limit]))
            for _ in 0..<count { #expect(query.next()) }
            #expect(!query.next())
        }
        let wrong = db.prepare("SELECT nothing")
        #expect(db.hadError() && !wrong.next() && !wrong.bind(with: [Any]()))
    }

    @Test func endOfRowsIsNoError() throws {
        let rows = try db.executeQuery("SELECT a FROM t WHERE a = 'x'", values: nil)
        #expect(try rows.nextWithError())
        #expect(try !rows.nextWithError())
        #expect(!db.hadError())
    }

    @Test func exclusiveLockThrowsBusy() throws {
        let directory = try TemporaryDirectory()
        let file = FMDatabase(path: directory.file("test.db"))
        file.logsErrors = false
        #expect(
            file.open() && file.setKey(.sampleKey("secret"))
                && file.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        )
        let rows = try file.executeQuery("SELECT a FROM t", values: nil)
        file.maxBusyRetryTimeInterval = 0.02
        let other = FMDatabase(path: directory.file("test.db"))
        #expect(other.open() && other.setKey(.sampleKey("secret")) && other.beginExclusiveTransaction())
        #expect { try rows.nextWithError() } throws: { ($0 as NSError).code == 5 }
        #expect(file.lastErrorCode() == 5 && other.rollback())
    }

    @Test func steppingAfterEndIsMisuse() throws {
        let rows = try db.executeQuery("SELECT a FROM t", values: nil)
        while rows.next() {}
        #expect { try rows.nextWithError() } throws: { ($0 as NSError).code == 21 }
        #expect(!rows.next() && !rows.step())
    }

    @Test func columnTypesMatchValuesIncludingEmptyBlob() throws {
        let rows = try db.executeQuery(
            "SELECT ?, ?, ?, ?, ?, ? AS empty",
            values: [1, 1.5, "text", Data([1]), NSNull(), Data()]
        )
        #expect(rows.next())
        #expect((0..<5).map { rows.type(forColumnIndex: $0) } == [.integer, .float, .text, .blob, .null])
        #expect(rows.type(forColumn: "empty") == .blob && rows.data(forColumn: "empty") == Data())
        #expect(rows["empty"] as? Data == Data() && !rows.columnIsNull("empty"))
    }
}
