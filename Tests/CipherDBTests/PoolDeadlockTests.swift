import CipherDB
import Foundation
import TestSupport
import Testing

/// Blocks inside of blocks, and circles of them.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct PoolDeadlockTests {
    let directory: TemporaryDirectory
    let pool: DatabasePool

    init() throws {
        directory = try TemporaryDirectory()
        pool = try DatabasePool(
            path: directory.file("test.db"),
            key: .sample("secret"),
            configuration: Configuration { $0.maximumReaders = 1 }
        )
        try pool.write { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    }

    /// FMDB's pool checks out connections of which each may write, in rollback mode. A block that writes and calls for another
    /// connection to read with then waits for its own lock, for as long as the busy handler has patience.
    @Test func readInWriteDoesNotDeadlock() throws {
        func connection() throws -> Database {
            let database = Database(path: directory.file("equal.db"))
            try database.open(key: .sample("secret"))
            return database
        }
        let outer = try connection()
        try outer.executeStatements("CREATE TABLE t (a)")
        let inner = try connection()
        let attempts = Counter()
        // Patience without end would be a test without end: a thousand attempts stand for it.
        inner.setBusyHandler {
            attempts.raise(to: $0); return $0 < 1000
        }
        try outer.inTransaction(.exclusive) { _ -> Void in
            #expect(throws: DatabaseError.self) { _ = try inner.int(forQuery: "SELECT count(*) FROM t") }
        }
        #expect(attempts.value == 1000)

        try pool.inTransaction(.exclusive) { database in
            try database.executeUpdate("INSERT INTO t VALUES (2)")
            // What was committed before.
            #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
        }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 2)
    }

    @Test func nestedReadKeepsSnapshot() throws {
        try pool.read { outer in
            let before = try outer.int(forQuery: "SELECT count(*) FROM t")
            let writer = Thread { [pool] in try? pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") } }
            writer.start()
            while !writer.isFinished { Thread.sleep(forTimeInterval: 0.001) }
            // The only reader is in use: another would never come.
            let inner = try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
            let after = try outer.int(forQuery: "SELECT count(*) FROM t")
            #expect(before == 1 && inner == 1 && after == 1)
        }
    }

    @Test func nestedWriteIsRefused() throws {
        func tryAll() {
            #expect(isMisuse { try pool.write { _ in } })
            #expect(isMisuse { try pool.inDatabase { _ in } })
            #expect(isMisuse { try pool.inTransaction { _ in } })
            #expect(isMisuse { try pool.inTransaction { _, _ in } })
            #expect(isMisuse { try pool.inSavePoint { _, _ in } })
            #expect(isMisuse { try pool.checkpoint() })
            #expect(isMisuse { try pool.close() })
            #expect(isMisuse { try pool.rekey(.sample("new")) })
        }
        try pool.read { _ in tryAll() }
        try pool.write { _ in tryAll() }
        try pool.write { _ in try pool.read { _ in tryAll() } }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
    }

    /// One thread has the writer and wants a reader, the other has the only reader and wants the writer.
    @Test func circleOfTwoThreadsEnds() throws {
        let hasWriter = Gate()
        let hasReader = Gate()
        let refusals = Counter()
        let first = Thread { [pool] in
            try? pool.write { _ in
                hasWriter.open()
                hasReader.wait()
                _ = try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
            }
        }
        let second = Thread { [pool] in
            try? pool.read { _ in
                hasReader.open()
                hasWriter.wait()
                do {
                    try pool.write { _ in }
                } catch {
                    refusals.add()
                }
            }
        }
        first.start()
        second.start()
        while !first.isFinished || !second.isFinished { Thread.sleep(forTimeInterval: 0.001) }
        #expect(refusals.value == 1)
        #expect(pool.readerCounts == (1, 0, 0))
    }

    @Test func nestedPoolsDoNotDeadlock() throws {
        let other = try DatabasePool(path: directory.file("other.db"), key: .sample("other"))
        let queue = try DatabaseQueue(path: directory.file("queue.db"), key: .sample("queue"))
        try pool.write { _ in
            try other.write { _ in
                try queue.inTransaction { database in
                    try database.executeStatements("CREATE TABLE q (a)")
                    #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
                }
            }
        }
        try other.read { _ in try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (3)") } }
        #expect(try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 2)
    }
}
