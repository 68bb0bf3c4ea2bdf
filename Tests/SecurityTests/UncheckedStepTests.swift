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

    /// A page that stands in the WAL only; and one of the file, beside a journal that says how few pages there were.
    @Test(arguments: [false, true]) func sideFileHidesNoZeroPage(inLog: Bool) throws {
        let path = directory.file("zero.db")
        let database = try open(path) { $0.journalMode = .wal }
        try database.executeStatements("PRAGMA auto_vacuum = FULL; VACUUM; CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
        let pageSize = try #require(database.cipherFormat?.pageSize)
        try database.checkpoint(.truncate)
        try database.executeUpdate("INSERT INTO t VALUES (1, ?)", Self.row)
        let last = try #require(try database.int(forQuery: "PRAGMA page_count"))
        func zero(_ name: String, at offset: Int) throws {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: name))
            try file.seek(toOffset: UInt64(offset))
            try file.write(contentsOf: Data(count: pageSize))
            try file.close()
        }
        if inLog {
            let log = try FileState(path + "-wal").bytes
            let frames = stride(from: 32, to: log.count, by: 24 + pageSize)
            let frame = try #require(frames.first { log[$0..<($0 + 4)].elementsEqual([0, 0, 0, UInt8(last)]) })
            try zero(path + "-wal", at: frame + 24)
        } else {
            try database.checkpoint(.truncate)
            try zero(path, at: (last - 1) * pageSize)
            let size = [UInt8(pageSize >> 8), UInt8(pageSize & 0xff)]
            let counts: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0] + size
            let journal = Data([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7] + counts) + Data(count: 484)
            try journal.write(to: URL(fileURLWithPath: path + "-journal"))
        }
        try database.executeStatements("PRAGMA cache_size = 1; CREATE TABLE u (x)")
        try database.beginTransaction()
        try database.executeUpdate("INSERT INTO u VALUES (zeroblob(100000))")
        #expect(throws: (any Error).self) { try database.string(forQuery: "SELECT a FROM t WHERE id = 1") }
        #expect(throws: (any Error).self) { try database.string(forQuery: "SELECT a FROM t WHERE id = 1") }
    }

    /// With auto-vacuum, the engine reads pages that a transaction has added and not written yet.
    @Test(arguments: ["DELETE", "WAL", "MEMORY"]) func zerosOfNewPageAreAccepted(journal: String) throws {
        let database = try open(directory.file("new.db"))
        try database.executeStatements("PRAGMA auto_vacuum = FULL; VACUUM; CREATE TABLE z (a)")
        try database.executeStatements("PRAGMA journal_mode = \(raw: journal); PRAGMA cache_size = 5")
        for name in ["v", "w", "x"] {
            try database.executeStatements("CREATE TABLE \(raw: name) (a INTEGER PRIMARY KEY, b)")
            if name != "w" { try database.executeStatements("CREATE INDEX i\(raw: name) ON \(raw: name) (b)") }
        }
        try database.beginTransaction()
        try database.executeStatements("CREATE TABLE y (a INTEGER PRIMARY KEY, b)")
        for _ in 1...33 { try database.executeUpdate("INSERT INTO y (b) VALUES (randomblob(500))") }
        try database.executeStatements("DROP INDEX iv")
        try database.commit()
        #expect(try database.int(forQuery: "SELECT count(*) FROM y") == 33)
        #expect(try database.integrityCheck() == [])
    }

    /// It adds no page, and a page of its state may be behind the end of the newest one.
    @Test func readerAcceptsNoZeros() throws {
        let queue = try DatabaseQueue(path: directory.file("other.db"), key: key)
        func refuses(_ database: Database) throws -> Bool {
            let contexts = try #require(database.connection?.keptContexts)
            return [UInt8](repeating: 0, count: 4096).withUnsafeBytes { zeros in
                withUnsafeBytes(of: UInt32(10_000).littleEndian) { contexts.areRefusedZeros(zeros, $0) }
            }
        }
        #expect(try queue.read(refuses))
        #expect(try !queue.inDatabase(refuses))
        try queue.close()
    }
}
