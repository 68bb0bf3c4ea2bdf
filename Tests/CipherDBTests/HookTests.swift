import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@Suite struct HookTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
        try database.executeStatements("CREATE TABLE t (a UNIQUE)")
    }

    @Test func everyRowChangeIsReported() throws {
        let changes = Lock<[RowChange]>([])
        database.setUpdateHook { change in changes.withLock { $0.append(change) } }
        try database.executeUpdate("INSERT INTO t (rowid, a) VALUES (5, 'x')")
        try database.executeUpdate("UPDATE t SET a = 'y'")
        try database.executeUpdate("DELETE FROM t WHERE a = 'y'")
        try database.executeUpdate("CREATE TEMP TABLE s (b)")
        try database.executeUpdate("INSERT INTO s VALUES (1)")
        let seen = changes.withLock { $0 }
        #expect(seen.map(\.kind) == [.insert, .update, .delete, .insert])
        #expect(seen.map(\.rowID) == [5, 5, 5, 1])
        #expect(seen.map { "\($0.schema).\($0.table)" } == ["main.t", "main.t", "main.t", "temp.s"])
        database.setUpdateHook(nil)
        try database.executeUpdate("INSERT INTO t VALUES ('z')")
        #expect(changes.withLock { $0.count } == 4)
    }

    @Test func commitsAndRollbacksAreReported() throws {
        let events = Lock<[String]>([])
        database.setCommitHook {
            events.withLock { $0.append("commit") }
            return true
        }
        database.setRollbackHook { events.withLock { $0.append("rollback") } }
        try database.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        try database.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (2)")
            rollback = true
        }
        #expect(events.withLock { $0 } == ["commit", "rollback"])
    }

    @Test func commitHookCanRollBack() throws {
        database.setCommitHook { false }
        #expect { try database.executeUpdate("INSERT INTO t VALUES (1)") } throws: {
            ($0 as? DatabaseError)?.code.primary == .constraint
        }
        #expect(!database.isInTransaction)
        database.setCommitHook(nil)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 0)
        try database.executeUpdate("INSERT INTO t VALUES (1)")
    }

    @Test(arguments: ["update", "commit", "trace", "initial", "step", "collation"])
    func hookClosingDatabaseFailsStatement(kind: String) throws {
        let reach = Reach()
        reach.database = database
        let close: @Sendable () -> Void = { reach.database?.close() }
        try database.executeUpdate("INSERT INTO t VALUES ('b'), ('a')")
        switch kind {
        case "update": database.setUpdateHook { _ in close() }
        case "commit":
            database.setCommitHook {
                close()
                return true
            }
        case "trace": database.setTrace { _ in close() }
        case "collation":
            try database.makeCollation(named: "c") { left, right in
                close()
                return left < right ? .orderedAscending : .orderedDescending
            }
        default:
            try database.makeAggregate(named: "agg", arguments: 1) {
                if kind == "initial" { close() }
                return 0
            } step: { _, _ in
                if kind == "step" { close() }
            } result: {
                $0
            }
        }
        #expect(throws: DatabaseError.self) {
            switch kind {
            case "collation": _ = try database.string(forQuery: "SELECT a FROM t ORDER BY a COLLATE c")
            case "initial", "step": _ = try database.int(forQuery: "SELECT agg(a) FROM t")
            default: try database.executeUpdate("INSERT INTO t VALUES ('c')")
            }
            // A trace tells of the end, too.
            _ = try database.int(forQuery: "SELECT 1")
        }
        #expect(!database.isOpen)
    }

    /// What it closes ends behind the statement, whose changes are stored.
    @Test func commitThatClosesSucceeds() throws {
        let directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        let reach = Reach()
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (a)")
            reach.database = database
            database.setCommitHook {
                reach.database?.close()
                return true
            }
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            #expect(!database.isOpen)
            #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO t VALUES (2)") }
        }
        reach.database = nil
        try queue.close()
        let again = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        #expect(try again.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
    }

    /// The transaction began all the same, and its block ends it.
    @Test(arguments: ["BEGIN", "SAVEPOINT", "COMMIT", "RELEASE"])
    func hookEndsStatementsOfTransaction(word: String) throws {
        let reach = Reach()
        reach.database = database
        database.setTrace {
            if case .began(let sql) = $0, sql.hasPrefix(word) { reach.database?.closeOpenResultSets() }
        }
        try database.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (1)") }
        try database.inSavePoint { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(!database.isInTransaction)
        database.setTrace(nil)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 2)
    }

    @Test(arguments: ["close", "end"]) func statementIsEndedInsideOfItsReset(by way: String) throws {
        let reach = Reach()
        reach.database = database
        let calls = Lock(0)
        database.setTrace { event in
            guard case .ended = event else { return }
            calls.withLock { $0 += 1 }
            if way == "close" { reach.database?.close() } else { reach.database?.closeOpenResultSets() }
        }
        try database.executeUpdate("INSERT INTO t VALUES (1), (2)")
        calls.withLock { $0 = 0 }
        if way == "close" { try database.open() }
        let rows = try? database.executeQuery("SELECT 1 UNION ALL SELECT 2")
        _ = try rows?.next()
        rows?.close()
        #expect(calls.withLock { $0 } == 1)
        reach.database = nil
    }

    /// Neither its row nor its handle goes meanwhile.
    @Test(arguments: ["close", "end", "next", "again"]) func lentBytesStay(until way: String) throws {
        let statement = try database.prepare("SELECT zeroblob(100000) UNION ALL SELECT randomblob(100000)")
        let rows = try statement.executeQuery()
        #expect(try rows.next())
        try rows.withBytes(forColumnIndex: 0) { bytes in
            switch way {
            case "close": database.close()
            case "end": database.closeOpenResultSets()
            case "next": #expect(throws: DatabaseError.self) { try rows.next() }
            default: #expect(throws: DatabaseError.self) { try statement.executeQuery() }
            }
            #expect(bytes.count == 100_000 && bytes.allSatisfy { $0 == 0 })
        }
        #expect(database.isOpen == (way != "close"))
        if way == "again" {
            #expect(try rows.next() && !rows.next())
        } else {
            #expect(throws: DatabaseError.self) { try rows.next() }
        }
    }

    @Test func handleStaysWhileItIsUsed() throws {
        try database.withUnsafeHandle { _ in database.close() }
        #expect(!database.isOpen)
    }

    /// On an encrypted file, which has more that ends with its connection.
    @Test(arguments: ["authorizer", "tokenizer", "ended", "vacuum", "blob", "bytes"])
    func closureThatClosesLeavesNothingOpen(kind: String) throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("test.db")
        let key = try DatabaseKey.sample("secret")
        do {
            let database = Database(path: path)
            try database.open(key: key)
            try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('a'), ('b')")
            let reach = Reach()
            try database.makeTokenizer(named: "closing") { _, _ in
                reach.database?.close()
                return []
            }
            let table: SQL = Engine.current.has(.fts5) ? "fts5(a, tokenize = 'closing')" : "fts4(a, tokenize=closing)"
            try database.executeUpdate("CREATE VIRTUAL TABLE f USING \(sql: table)")
            switch kind {
            case "authorizer":
                database.setAuthorizer { _ in
                    reach.database?.close()
                    return .allow
                }
            case "ended": database.setTrace { if case .ended = $0 { reach.database?.close() } }
            case "vacuum":
                database.setTrace { if case .began(let sql) = $0, sql == "VACUUM" { reach.database?.close() } }
            case "blob":
                database.setCommitHook {
                    reach.database?.close()
                    return true
                }
            default: break
            }
            reach.database = database
            let rows = ["ended", "bytes"].contains(kind) ? try database.executeQuery("SELECT a FROM t") : nil
            let isRefused: Bool
            do {
                switch kind {
                case "tokenizer": try database.executeUpdate("INSERT INTO f VALUES ('some words')")
                case "authorizer": _ = try database.int(forQuery: "SELECT count(*) FROM t WHERE a > 'a'")
                case "vacuum": try database.vacuum()
                case "blob":
                    let blob = try database.openBlob(inTable: "t", column: "a", row: 1, writable: true)
                    try blob.write(Data("x".utf8), at: 0)
                    try blob.close()
                case "bytes":
                    #expect(try rows?.next() == true)
                    try rows?.withBytes(forColumnIndex: 0) { bytes in
                        database.close()
                        let error = #expect(throws: DatabaseError.self) { try rows?.next() }
                        #expect(error?.message.contains("reads the bytes") == true)
                        #expect(bytes.first == UInt8(ascii: "a"))
                    }
                default:
                    _ = try rows?.next()
                    rows?.close()
                }
                isRefused = false
            } catch is DatabaseError {
                isRefused = true
            }
            #expect(isRefused || ["tokenizer", "ended", "blob", "bytes"].contains(kind))
            #expect(!database.isOpen)
            #expect(throws: DatabaseError.self) { try database.executeUpdate("DELETE FROM t") }
            reach.database = nil
        }
        #expect(try Platform.descriptor(on: Platform.status(of: path).identity) == nil)
        let again = Database(path: path)
        try again.open(key: key)
        try again.executeUpdate("INSERT INTO t VALUES ('c')")
        #expect(try again.int(forQuery: "SELECT count(*) FROM t") == 3)
    }
}

private final class Reach: @unchecked Sendable {
    // It holds because closures run on the thread that uses the database.
    var database: Database?
}
