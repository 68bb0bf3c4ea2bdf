import CipherKeys
import CipherPages
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherDB

/// Executions that read a damaged page and end without a check of it, or are checked elsewhere.
final class UncheckedStepTests: RawKeyFixture {
    private static let row = String(repeating: "a", count: 10_000)

    /// A database whose last page has the end of the last value, changed in one byte.
    override init() throws {
        try super.init()
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE u (x); CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
            for id in 1...2 { try database.executeUpdate("INSERT INTO t VALUES (?, ?)", id, Self.row) }
        }
        try queue.close()
        try flipByte(of: path, at: FileState(path).bytes.count - 100)
    }

    /// Whether every value that a query returns is the one that was stored.
    private func returnsNoZeros(_ database: Database) -> Bool {
        do {
            return try database.fetchAll(String.self, "SELECT a FROM t").allSatisfy { $0 == Self.row }
        } catch {
            return true
        }
    }

    /// What is used by one thread after the other.
    private final class Used: @unchecked Sendable {
        // It holds because the second thread begins when the first waits for it.
        var rows: ResultSet?
        var blob: Blob?
        var answer: String?
        var bytes: Data?
    }

    private func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
        let gate = Gate()
        Thread {
            body()
            gate.open()
        }.start()
        gate.wait()
    }

    @Test func nextThreadSeesDamage() throws {
        let database = try open()
        let used = Used()
        used.rows = try database.executeQuery("SELECT a FROM t")
        let rows = try #require(used.rows)
        Platform.countInThread()
        #expect(try rows.next())
        // With the damaged page the other thread has met as many wrong MACs as this one.
        let count = Platform.threadCount & 0xffff_ffff
        onAnotherThread {
            while Platform.threadCount & 0xffff_ffff < count - 1 { Platform.countInThread() }
            guard let rows = used.rows else { return }
            do {
                let isOnRow: Bool = try rows.next()
                used.answer = isOnRow ? try rows.string(forColumnIndex: 0) : nil
            } catch {}
        }
        #expect(used.answer == nil)
    }

    @Test func blobOnAnotherThreadSeesDamage() throws {
        let database = try open()
        let used = Used()
        used.blob = try database.openBlob(inTable: "t", column: "a", row: 2)
        onAnotherThread { used.bytes = try? used.blob?.read(at: 9990, count: 10) }
        #expect(used.bytes == nil)
    }

    @Test(arguments: [nil, TransactionKind.deferred, .immediate])
    func interruptedStatementLeavesNoZeros(transaction: TransactionKind?) throws {
        let database = try open()
        let interrupter = try #require(database.interrupter)
        try database.makeFunction(named: "stop") { _ in
            interrupter.interrupt()
            return 1
        }
        if let transaction { try database.beginTransaction(transaction) }
        #expect(throws: (any Error).self) {
            try database.fetchAll(Int.self, "SELECT stop(substr(a, -5)) FROM t UNION ALL SELECT id FROM t")
        }
        #expect(returnsNoZeros(database) && returnsNoZeros(database))
    }

    @Test func statementEndedByItsFunctionLeavesNoZeros() throws {
        let database = try open()
        let used = Used()
        try database.makeFunction(named: "finish") { _ in
            used.rows?.close()
            return 1
        }
        used.rows = try database.executeQuery("SELECT finish(substr(a, -5)) FROM t WHERE id = 2")
        _ = try? used.rows?.next()
        #expect(returnsNoZeros(database) && returnsNoZeros(database))
    }

    @Test(arguments: [
        "DELETE FROM t WHERE hex(substr(CAST(a AS BLOB), -1)) = '62'",
        "UPDATE t SET id = 5 WHERE substr(a, -1) <> 'a' AND substr(a, -1) <> char(0) AND id = 2",
        "INSERT INTO u SELECT 1 FROM t WHERE hex(substr(CAST(a AS BLOB), -1)) = '62'",
    ])
    func writeThatMatchesNothingSeesDamage(sql: String) throws {
        let database = try open()
        #expect(throws: (any Error).self) { try database.executeUpdate(SQL(unsafe: sql)) }
        #expect(returnsNoZeros(database))
    }

    @Test(arguments: [false, true]) func failedBlobWriteLeavesNoZeros(inTransaction: Bool) throws {
        let database = try open()
        if inTransaction { try database.beginTransaction(.deferred) }
        #expect(throws: (any Error).self) {
            let blob = try database.openBlob(inTable: "t", column: "a", row: 2, writable: true)
            try blob.write(Data([0x62]), at: 9_990)
            try blob.close()
        }
        #expect(returnsNoZeros(database))
    }

    /// A module that reads pages of another schema.
    @Test func statisticsOfDamagedAttachedDatabaseFail() throws {
        let other = Database(path: directory.file("other.db"))
        try other.open(key: key)
        guard (try? other.int(forQuery: "SELECT count(*) FROM dbstat")) != nil else { return }
        let pageSize = try #require(other.cipherFormat?.pageSize)
        let root = try #require(try open().int(forQuery: "SELECT rootpage FROM sqlite_master WHERE name = 't'"))
        try flipByte(of: path, at: root * pageSize - 100)
        try other.attach(path, as: "o", key: key)
        #expect(throws: (any Error).self) {
            try other.int(forQuery: "SELECT count(*) FROM dbstat WHERE schema = 'o'")
        }
    }

    /// The engine would take it for a page that is not written yet: 3.4.1 always, the others with auto-vacuum.
    @Test(arguments: ["NONE", "FULL"], [1, 2]) func zeroPageIsDamage(autoVacuum: String, rows: Int) throws {
        let path = directory.file("zero.db")
        let database = Database(path: path)
        try database.open(key: key)
        try database.executeStatements("PRAGMA auto_vacuum = \(raw: autoVacuum); VACUUM")
        try database.executeStatements("CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE u (a)")
        try database.executeUpdate("INSERT INTO t VALUES (1, ?)", Self.row)
        let pageSize = try #require(database.cipherFormat?.pageSize)
        let last = try #require(try database.int(forQuery: "PRAGMA page_count"))
        for id in 2..<(rows + 1) { try database.executeUpdate("INSERT INTO t VALUES (?, ?)", id, Self.row) }
        database.close()
        var bytes = try FileState(path).bytes
        bytes.replaceSubrange((last - 1) * pageSize..<last * pageSize, with: [UInt8](repeating: 0, count: pageSize))
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        let isThatPage = { (error: KeyError) in error.damagedPages == [last] }
        let query: SQL = "SELECT a FROM t WHERE id = 1"
        for isWriting in [false, true] {
            try database.open(key: key)
            if isWriting {
                try database.beginTransaction()
                try database.executeStatements("INSERT INTO u VALUES (1)")
            }
            expect(throws: KeyError.damaged, where: isThatPage) { try database.string(forQuery: query) }
            database.close()
        }
        try database.open(key: key)
        expect(throws: KeyError.damaged, where: isThatPage) { try database.backup(to: directory.file("copy.db")) }
        database.close()
        let file = DatabaseFile(path: path)
        expect(throws: KeyError.damaged, where: isThatPage) { try file.copy(key: key, to: directory.file("copy.db")) }
        #expect(try file.verify(key: key, checksStructure: false).damagedPages == [last])
    }

    /// With auto-vacuum the engine may read one that it adds, before it is written.
    @Test(arguments: ["DELETE", "WAL"]) func zerosOfNewPageAreAccepted(journal: String) throws {
        let other = directory.file("new.db")
        let zeros = [UInt8](repeating: 0, count: 4096)
        func accepts(_ number: Int, _ database: Database) throws -> Bool {
            let contexts = try #require(database.connection?.keptContexts)
            return zeros.withUnsafeBytes { zeros in
                withUnsafeBytes(of: UInt32(number).littleEndian) { !contexts.areRefusedZeros(zeros, $0) }
            }
        }
        let database = try open(other)
        try database.executeStatements("PRAGMA journal_mode = \(raw: journal); PRAGMA cache_size = 1")
        try database.executeStatements("CREATE TABLE t (a)")
        try database.checkpoint(.truncate)
        try database.beginTransaction()
        let count = try #require(try database.int(forQuery: "PRAGMA page_count"))
        #expect(try !accepts(count, database) && accepts(count + 1, database))
        // More than the cache has room for, so that some of it is written before the commit.
        for _ in 1...50 { try database.executeUpdate("INSERT INTO t VALUES (zeroblob(1000))") }
        #expect(try !accepts(count, database) && accepts(count + 1, database))
        try database.commit()
        database.close()
        let queue = try DatabaseQueue(path: other, key: key)
        #expect(try queue.read { try !accepts(10_000, $0) }, "a reader adds none")
        try queue.close()
    }
}
