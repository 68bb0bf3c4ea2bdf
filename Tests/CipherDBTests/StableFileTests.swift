import CipherDB
import CipherSystem
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@Suite struct StableFileTests {
    let directory: TemporaryDirectory
    let path: String
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .sample("stable")
    }

    private func queue(_ mode: JournalMode) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(
            path: path,
            key: key,
            configuration: Configuration {
                $0.journalMode = mode
                $0.busyTimeout = .zero
            }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        return queue
    }

    private func hold(_ path: String? = nil) throws -> StableFile {
        try StableFile(
            UnkeyedFile(
                path: path ?? self.path,
                configuration: Configuration { $0.busyTimeout = .zero },
                flags: .readWrite
            )
        )
    }

    /// The rows of the state, as another database at `copy` has them.
    private func rows(_ state: StableFile, _ query: SQL = "SELECT count(*) FROM people") throws -> Int? {
        let copy = directory.file("copy.db")
        defer { try? FileManager.default.removeItem(atPath: copy) }
        _ = try directory.write(state.read(Int(state.size()), at: 0), to: "copy.db")
        let queue = try DatabaseQueue(path: copy, key: key)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.int(forQuery: query) }
    }

    @Test func stateOfWALStaysWhileOthersWrite() throws {
        let queue = try queue(.wal)
        defer { try? queue.close() }
        let state = try hold()
        #expect(try rows(state) == 600)
        for _ in 0..<3 {
            try queue.inDatabase { try $0.executeUpdate("DELETE FROM people WHERE id % 2 = 0") }
            // It may do nothing, and must not touch the file.
            _ = try? queue.inDatabase { try $0.checkpoint(.truncate) }
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET id = id * 2") }
        }
        #expect(try rows(state) == 600)
        state.release()
        #expect(try queue.inDatabase { try $0.checkpoint(.truncate) }.logFrameCount == 0)
        let later = try hold()
        defer { later.release() }
        #expect(try rows(later) == 0)
    }

    @Test func checkpointsLeaveStateUnchanged() throws {
        // The pages are in the database, and the WAL has few of them.
        try queue(.wal).close()
        let queue = try anotherQueue()
        defer { try? queue.close() }
        let state = try hold()
        #expect(try rows(state) == 599)
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people") }
        _ = try? queue.inDatabase { try $0.checkpoint(.passive) }
        #expect(try rows(state) == 599)
        state.release()
    }

    @Test func logIsNotRestartedUnderState() throws {
        let queue = try queue(.wal)
        defer { try? queue.close() }
        // All frames are in the database: a writer may begin the log again.
        _ = try queue.inDatabase { try $0.checkpoint(.passive) }
        let state = try hold()
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET name = 'x', note = randomblob(200)") }
        #expect(try rows(state, "SELECT count(*) FROM people WHERE name <> 'x'") == 600)
        state.release()
    }

    @Test func uncommittedFramesAreNotInState() throws {
        let queue = try queue(.wal)
        defer { try? queue.close() }
        try queue.inDatabase { database in
            try database.executeStatements("PRAGMA cache_size = 1; BEGIN; DELETE FROM people")
            let state = try hold()
            #expect(try rows(state) == 600)
            state.release()
            try database.rollback()
        }
    }

    @Test func writersWaitInRollbackMode() throws {
        let queue = try queue(.delete)
        defer { try? queue.close() }
        let state = try hold()
        #expect(throws: DatabaseError.self) {
            try queue.inDatabase { try $0.executeUpdate("DELETE FROM people") }
        }
        #expect(try rows(state) == 600)
        state.release()
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people") }
    }

    @Test func lockedDatabaseIsBusy() throws {
        let queue = try queue(.delete)
        defer { try? queue.close() }
        try queue.inDatabase { database in
            try database.executeStatements("BEGIN EXCLUSIVE")
            #expect(throws: DatabaseError.self) { try hold() }
            try database.rollback()
        }
        try hold().release()
    }

    @Test func newLogMakesStateStale() throws {
        try queue(.wal).close()
        #expect(directory.names == ["test.db"])
        let state = try hold()
        #expect(!state.isStale)
        let queue = try anotherQueue()
        #expect(state.isStale)
        state.release()
        try queue.close()
    }

    private func anotherQueue() throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people WHERE id = 1") }
        return queue
    }

    @Test func logWithoutIndexIsReadToLastCommit() throws {
        let queue = try queue(.wal)
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people WHERE id <= 100") }
        // What a crash of the machine leaves: the index is gone.
        let crashed = directory.file("crashed.db")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: crashed + suffix)
        }
        try queue.close()
        let state = try hold(crashed)
        #expect(try rows(state) == 500)
        state.release()
    }

    @Test func journalOfCrashNeedsKey() throws {
        let queue = try queue(.delete)
        let crashed = directory.file("crashed.db")
        try queue.inDatabase { database in
            try database.executeStatements("PRAGMA cache_size = 1; BEGIN; DELETE FROM people")
            for suffix in ["", "-journal"] {
                try FileManager.default.copyItem(atPath: path + suffix, toPath: crashed + suffix)
            }
            try database.rollback()
        }
        try queue.close()
        let error = #expect(throws: DatabaseError.self) { try hold(crashed) }
        #expect(error?.code == .corrupt)
    }
}
