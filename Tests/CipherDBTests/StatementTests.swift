import Foundation
import TestSupport
import Testing

@testable import CipherDB

@Suite struct StatementTests {
    @Test(.enabled(if: Engine.current.has(.returning), "INSERT … RETURNING came with SQLite 3.35"))
    func failedCommitOfReturningInsertIsReported() throws {
        let directory = try TemporaryDirectory()
        let (writer, reader) = (Database(path: directory.file("test.db")), Database(path: directory.file("test.db")))
        for database in [writer, reader] { try database.open(key: .sample("secret")) }
        try writer.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        writer.busyTimeout = .milliseconds(10)
        let reading = try reader.executeQuery("SELECT a FROM t")
        #expect(try reading.next())
        let isBusy: @Sendable (any Error) -> Bool = { ($0 as? DatabaseError)?.code.primary == .busy }
        let insert = "INSERT INTO t VALUES (2) RETURNING a"
        #expect(performing: { try writer.int(forQuery: SQL(unsafe: insert)) }, throws: isBusy)
        let rows = try writer.executeQuery(SQL(unsafe: insert))
        #expect(try rows.next())
        rows.close()
        #expect(performing: { try writer.executeQuery("SELECT 1") }, throws: isBusy)
        // Told to who runs a prepared statement again, and not swallowed by who only looks.
        let statement = try writer.prepare(SQL(unsafe: insert))
        for _ in 0..<2 {
            let rows = try statement.executeQuery()
            #expect(try rows.next())
            rows.close()
            #expect(writer.goodConnection)
            #expect(performing: { try statement.executeQuery() }, throws: isBusy)
        }
        reading.close()
        #expect(try writer.int(forQuery: "SELECT count(*) FROM t") == 1)
        #expect(try writer.int(forQuery: SQL(unsafe: insert)) == 2)
        #expect(try reader.int(forQuery: "SELECT count(*) FROM t") == 2)
    }

    let database: Database

    init() throws {
        database = Database(path: nil, configuration: Configuration { $0.statementCacheCapacity = 3 })
        try database.open()
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
    }

    @Test func statementRunsAgainWithOtherValues() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (?)")
        for value in 10..<20 { try insert.executeUpdate(value) }
        #expect(try database.first("SELECT sum(a) FROM t") == 6 + 145)
        let named = try database.prepare("SELECT count(*) FROM t WHERE a >= :least")
        let rows = try named.executeQuery(values: ["least": 15])
        #expect(try rows.next())
        #expect(try rows.int(forColumnIndex: 0) == 5)
        #expect(insert.parameterCount == 1 && !insert.isReadOnly && insert.columnNames.isEmpty)
        #expect(named.isReadOnly && named.columnNames == ["count(*)"])
    }

    @Test func rerunningStatementEndsResultSet() throws {
        let statement = try database.prepare("SELECT a FROM t")
        let first = try statement.executeQuery()
        #expect(try first.next())
        let second = try statement.executeQuery()
        #expect(throws: DatabaseError.self) { try first.next() }
        #expect(throws: DatabaseError.self) { try first.int(forColumnIndex: 0) }
        first.close()
        var count = 0
        while try second.next() { count += 1 }
        #expect(count == 3)
    }

    /// A value that does something when it is bound.
    private struct Acting: ColumnEncodable {
        let act: @Sendable () throws -> Void
        var databaseValue: DatabaseValue { .integer(1) }

        func bind(to parameter: Parameter) throws {
            try parameter.bind(1 as Int64)
            try act()
        }
    }

    /// The inner run would take the values of the outer one with it, which would store NULL.
    @Test func valueCannotRunItsOwnStatement() throws {
        let insert = Smuggled(try database.prepare("INSERT INTO t VALUES (?)"))
        let query = Smuggled(try database.prepare("SELECT ?"))
        let isMisuse: (any Error) -> Bool = { ($0 as? DatabaseError)?.code == .misuse }
        let again = Acting { try insert.value.executeUpdate(7) }
        #expect(performing: { try insert.value.executeUpdate(again) }, throws: isMisuse)
        #expect(performing: { try insert.value.executeUpdate(values: [again]) }, throws: isMisuse)
        let queryAgain = Acting { _ = try query.value.executeQuery(42) }
        #expect(performing: { try query.value.executeQuery(queryAgain) }, throws: isMisuse)
        #expect(performing: { try query.value.value(queryAgain) as Int? }, throws: isMisuse)
        try insert.value.executeUpdate(Acting { try? insert.value.executeUpdate(7) })
        let database = Smuggled(self.database)
        try self.database.executeUpdate("INSERT INTO t VALUES (?)", Acting { database.value.closeOpenResultSets() })
        #expect(try self.database.fetchAll(Int.self, "SELECT a FROM t") == [1, 2, 3, 1, 1])
        #expect(try query.value.value(5) as Int? == 5)
    }

    @Test func statementInUseIsNotReused() throws {
        let outer = try database.executeQuery("SELECT a FROM t WHERE a > ?", 0)
        let inner = try database.executeQuery("SELECT a FROM t WHERE a > ?", 2)
        #expect(outer.statement !== inner.statement)
        #expect(try outer.next() && inner.next())
        #expect(try outer.int(forColumnIndex: 0) == 1 && inner.int(forColumnIndex: 0) == 3)
    }

    @Test func finishedStatementIsUsedAgain() throws {
        let first = try database.executeQuery("SELECT a FROM t")
        while try first.next() {}
        let second = try database.executeQuery("SELECT a FROM t")
        #expect(first.statement === second.statement)
    }

    @Test func cacheEvictsLeastRecentlyUsed() throws {
        for number in 0..<10 { try database.executeUpdate(SQL(unsafe: "SELECT \(number)")) }
        #expect(database.cache.statistics.count == 3)
        #expect(database.takeCached(.string("SELECT 6")) == nil)
        #expect(database.takeCached(.literal("SELECT 7")) != nil)
    }

    @Test func cachedStatementKeepsNoValues() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (?)")
        try insert.executeUpdate("a secret")
        // Stepped without binding: what is stored is what the statement still remembers.
        _ = try insert.prepared.step()
        #expect(try database.first("SELECT a FROM t ORDER BY rowid DESC LIMIT 1") == DatabaseValue.null)
    }

    @Test func valueEndsItsExecution() throws {
        let statement = try database.prepare("SELECT a FROM t WHERE a >= ? ORDER BY a")
        #expect(try statement.value(2) == 2 && !database.hasOpenResultSets)
        #expect(try statement.value(9) as Int? == nil)
        #expect(try statement.value(values: [3]) == "3")
        #expect(throws: DatabaseError.self) { try statement.value(1, 2) as Int? }
        #expect(throws: DatabaseError.self) { try statement.value(1) as UUID? }
        #expect(!database.hasOpenResultSets)
    }

    /// The cache finds a statement by the length and a few bytes of its SQL, and then compares all of it.
    @Test func similarStatementsAreKeptApart() throws {
        for _ in 0..<2 {
            #expect(try database.string(forQuery: "SELECT 'abxdefgh' WHERE 1") == "abxdefgh")
            #expect(try database.string(forQuery: "SELECT 'abydefgh' WHERE 1") == "abydefgh")
            #expect(try database.string(forQuery: SQL(unsafe: "SELECT 'abzdefgh' WHERE 1")) == "abzdefgh")
        }
        #expect(database.statementCacheStatistics.hits == 3)
    }

    struct Decoded: Decodable, RowDecodable {
        struct Record: Decodable { let a: Int }
        let a: Int, b: String, c: Record
    }

    @Test func decodedRowsKeepNoConnection() throws {
        weak var connection: Connection?
        weak var statement: PreparedStatement?
        do {
            let database = Database(path: nil)
            try database.open()
            connection = database.connection
            let prepared = try database.prepare("SELECT 1 AS a, 'x' AS b, 2 AS \"c.a\"")
            statement = prepared.prepared
            let rows = try prepared.executeQuery()
            #expect(try rows.fetchAll(Decoded.self).count == 1)
            database.close()
        }
        #expect(connection == nil && statement == nil)
    }

    @Test func afterEndReadingThrows() throws {
        let rows = try database.executeQuery("SELECT a FROM t LIMIT 1")
        #expect(try rows.next())
        #expect(try !rows.next())
        #expect(throws: DatabaseError.self) { try rows.next() }
        #expect(throws: DatabaseError.self) { try rows.int(forColumnIndex: 0) }
    }

    @Test func errorIsNotTakenForEnd() throws {
        let rows = try database.executeQuery("SELECT abs(a) FROM (SELECT 1 AS a UNION ALL SELECT -9223372036854775808)")
        #expect(throws: DatabaseError.self) {
            while try rows.next() {}
        }
    }

    @Test func failedStatementRunsAgain() throws {
        try database.executeStatements("CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1)")
        let insert = try database.prepare("INSERT INTO u VALUES (?)")
        for _ in 0..<3 { #expect(throws: DatabaseError.self) { try insert.executeUpdate(1) } }
        try insert.executeUpdate(2)
        try insert.executeUpdate(3)
        #expect(try database.first("SELECT count(*) FROM u") == 3)
    }

    @Test func firstOfDuplicateColumnsIsFound() throws {
        let rows = try database.executeQuery("SELECT 1 AS a, 2 AS A, 3 AS b")
        #expect(try rows.next())
        #expect(try rows.int(forColumn: "A") == 1 && rows.int(forColumnIndex: 1) == 2)
    }

    @Test func statementSurvivesFailedBinding() throws {
        let insert = try database.prepare("INSERT INTO t VALUES (:a)")
        for _ in 0..<3 {
            #expect(throws: DatabaseError.self) { try insert.executeUpdate(1, 2) }
            #expect(throws: DatabaseError.self) { try insert.executeUpdate(UInt64.max) }
            #expect(throws: DatabaseError.self) { try insert.executeUpdate(values: ["b": 1]) }
            try insert.executeUpdate(7)
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = 7") == 3)
        database.close()
        #expect(throws: DatabaseError.self) { try insert.executeUpdate(7) }
    }

    @Test func oversizedBlobIsRefused() throws {
        try database.setLimit(.length, to: 100)
        let insert = try database.prepare("INSERT INTO t VALUES (?)")
        for value: any ColumnEncodable in [Data(count: 101), String(repeating: "x", count: 101)] {
            #expect { try insert.executeUpdate(value) } throws: { ($0 as? DatabaseError)?.code == .tooBig }
        }
        try insert.executeUpdate(Data(count: 90))
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 4)
    }

    @Test func integersKeepTheir64Bits() throws {
        for value in [Int.max, .min, 1 << 32, -1 << 40] {
            let rows = try database.executeQuery("SELECT ? AS n", value)
            #expect(try rows.next())
            #expect(try rows.int(forColumn: "n") == value && rows.bool(forColumn: "n") == true)
        }
    }
}
