import CSQLCipher
import CipherKeys
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// A checkpoint and a commit that restarts the WAL meet, where the WAL-reset bug of SQLite needs it (sqlite.org/wal.html). Other connections
/// get their turns by the file methods that the engine calls in a checkpoint.
@Suite(.serialized) struct WALResetTests {
    let directory: TemporaryDirectory
    let path: String
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .sample("reset")
    }

    // MARK: Where they meet

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    private struct Meeting {
        var methods = sqlite3_io_methods()
        var atLock: (() -> Void)?
        var afterHeader: (() -> Void)?
    }

    // The suite is serialized, and the engine calls on the thread of the checkpoint.
    nonisolated(unsafe) private static var meeting = Meeting()

    /// Calls `atLock` when the next checkpoint of a schema's file asks for its lock, and `afterHeader` when it has read the header of the
    /// WAL's index, which is not yet in force; each once.
    private func meet(
        _ handle: OpaquePointer,
        _ schema: String,
        atLock: @escaping () -> Void,
        afterHeader: @escaping () -> Void = {}
    ) throws {
        var pointer: File?
        try #require(sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &pointer) == SQLITE_OK)
        let file = try #require(pointer)
        var methods = try #require(file.pointee.pMethods)
        Self.meeting = Meeting(methods: methods.pointee, atLock: atLock, afterHeader: afterHeader)
        if !CheckpointGuard.isGuarded(methods) {
            // Never given back: the engine uses them until the file is closed.
            let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            own.initialize(to: methods.pointee)
            methods = UnsafePointer(own)
            file.pointee.pMethods = methods
        }
        let changed = UnsafeMutablePointer(mutating: methods)
        changed.pointee.xShmLock = { file, slot, count, flags in
            if slot == EngineFile.WALLock.checkpoint.rawValue, flags & SQLITE_SHM_LOCK != 0 {
                WALResetTests.call(\.atLock)
            }
            return WALResetTests.meeting.methods.xShmLock(file, slot, count, flags)
        }
        changed.pointee.xUnfetch = { file, offset, page in
            WALResetTests.call(\.afterHeader)
            return WALResetTests.meeting.methods.xUnfetch(file, offset, page)
        }
    }

    private static func call(_ part: WritableKeyPath<Meeting, (() -> Void)?>) {
        let body = meeting[keyPath: part]
        meeting[keyPath: part] = nil
        body?()
    }

    // MARK: Who meet

    private func open(_ path: String? = nil, _ key: DatabaseKey?) throws -> Database {
        let database = Database(
            path: path ?? self.path,
            configuration: Configuration {
                $0.journalMode = .wal
                $0.busyTimeout = .zero
                $0.allowsPlaintext = key == nil
            }
        )
        if let key { try database.open(key: key) } else { try database.open() }
        return database
    }

    private func insert(_ database: Database, _ count: Int) throws {
        for _ in 0..<count { try database.executeUpdate("INSERT INTO t VALUES (randomblob(3000))") }
    }

    /// Another connection, whose commits checkpoint nothing.
    private func writer(_ key: DatabaseKey?) throws -> Database {
        let writer = try open(nil, key)
        try writer.executeStatements("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)")
        return writer
    }

    /// Lets a checkpoint of `handle` meet a commit of another connection that restarts the WAL; returns how many committed rows are lost.
    private func rowsLost(
        _ handle: OpaquePointer,
        _ writer: Database,
        in schema: String = "main",
        key: DatabaseKey?,
        _ checkpoint: () throws -> Void
    ) throws -> Int {
        var committed = 0
        func commit(_ count: Int) throws {
            try insert(writer, count)
            committed += count
        }
        try meet(handle, schema) {
            // All frames are in the database then: the next commit restarts the WAL.
            #expect(throws: Never.self) {
                try commit(40)
                let counts = try writer.checkpoint(.full)
                #expect(counts.logFrameCount == counts.checkpointCount)
            }
        } afterHeader: {
            // A checkpoint that is not passive keeps writers out.
            #expect(throws: Never.self) { do { try commit(1) } catch DatabaseError.busy {} }
        }
        try checkpoint()
        #expect(Self.meeting.atLock == nil && Self.meeting.afterHeader == nil, "they did not meet")
        try commit(30)
        _ = try writer.checkpoint(.full)
        try commit(30)
        _ = try writer.checkpoint(.full)
        let reader = try open(nil, key)
        defer { reader.close() }
        let rows = (try? reader.int(forQuery: "SELECT count(*) FROM t WHERE length(a) = 3000")) ?? 0
        let isSound = (try? reader.string(forQuery: "PRAGMA integrity_check")) == "ok"
        #expect(isSound || rows < committed)
        return committed - rows
    }

    // MARK: Without CipherDB

    /// The engine alone, so that it is known whether what follows meets the bug.
    @Test func engineLosesRowsWhereItHasBug() throws {
        let writer = try writer(nil)
        defer { writer.close() }
        var handle: OpaquePointer?
        try #require(sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
        defer { sqlite3_close(handle) }
        let connection = try #require(handle)
        #expect(sqlite3_exec(connection, "SELECT * FROM t", nil, nil, nil) == SQLITE_OK)
        let lost = try rowsLost(connection, writer, key: nil) {
            #expect(sqlite3_wal_checkpoint_v2(connection, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil) == SQLITE_OK)
        }
        print("rows lost by a checkpoint of the engine alone: \(lost)")
        #expect((lost > 0) == Engine.current.hasWALResetBug)
    }

    @Test(arguments: [
        (3_015_002, true), (3_044_005, true), (3_044_006, false), (3_045_000, true), (3_046_001, true),
        (3_050_006, true),
        (3_050_007, false), (3_051_000, true), (3_051_002, true), (3_051_003, false), (3_053_004, false),
        (4_000_000, false),
    ])
    func versionsWithBug(version: Int32, hasBug: Bool) {
        #expect(CheckpointGuard.isNeeded(by: version) == hasBug)
    }

    // MARK: By CipherDB

    @Test(arguments: [CheckpointMode.passive, .full, .restart, .truncate])
    func checkpointLosesNothing(mode: CheckpointMode) throws {
        let writer = try writer(key)
        let database = try open(nil, key)
        let lost = try database.withUnsafeHandle { handle in
            try rowsLost(handle, writer, key: key) {
                do { _ = try database.checkpoint(mode) } catch DatabaseError.busy {}
            }
        }
        #expect(lost == 0)
        writer.close()
        database.close()
    }

    @Test func pragmaLosesNothing() throws {
        let writer = try writer(key)
        let queue = try DatabaseQueue(path: path, key: key)
        let lost = try queue.inDatabase { database in
            try database.withUnsafeHandle { handle in
                try rowsLost(handle, writer, key: key) { _ = try database.string(forQuery: "PRAGMA wal_checkpoint") }
            }
        }
        #expect(lost == 0)
        writer.close()
        try queue.close()
    }

    @Test func automaticCheckpointLosesNothing() throws {
        let writer = try writer(key)
        try writer.executeStatements("CREATE TABLE other (a)")
        let pool = try DatabasePool(path: path, key: key)
        let lost = try pool.inDatabase { database in
            try database.executeStatements("PRAGMA wal_autocheckpoint = 1")
            return try database.withUnsafeHandle { handle in
                try rowsLost(handle, writer, key: key) { try database.executeUpdate("INSERT INTO other VALUES (1)") }
            }
        }
        #expect(lost == 0)
        writer.close()
        try pool.close()
    }

    enum Attaching: CaseIterable, Sendable { case call, plaintext, sql, handle }

    @Test(arguments: Attaching.allCases)
    func checkpointOfAttachedDatabaseLosesNothing(way: Attaching) throws {
        let key = way == .call ? key : nil
        let writer = try writer(key)
        let database = try open(directory.file("main.db"), key)
        switch way {
        case .call: try database.attach(path, as: "other", key: self.key)
        case .plaintext: try database.attachPlaintext(path, as: "other")
        case .sql: try database.executeUpdate("ATTACH \(path) AS other")
        case .handle:
            try database.withUnsafeHandle { handle in
                #expect(sqlite3_exec(handle, "ATTACH '\(path)' AS other", nil, nil, nil) == SQLITE_OK)
            }
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM other.t") == 0)
        let lost = try database.withUnsafeHandle { handle in
            try rowsLost(handle, writer, in: "other", key: key) { _ = try database.checkpoint(name: "other") }
        }
        #expect(lost == 0)
        writer.close()
        try database.executeUpdate("DETACH other")
        database.close()
    }

    /// A header that was destroyed, as by a writer that was killed, is recovered from the WAL: its salts were not there before.
    /// SQLite 3.15 does not recover while it has the writer's lock.
    @Test(arguments: sqlite3_libversion_number() < 3_046_000 ? [CheckpointMode.passive] : [.passive, .full])
    func checkpointAfterRecoveryCopiesAll(mode: CheckpointMode) throws {
        let writer = try writer(key)
        let database = try open(nil, key)
        try insert(writer, 40)
        let counts = try database.withUnsafeHandle { handle in
            try meet(handle, "main") {
                var file: File?
                var region: UnsafeMutableRawPointer?
                sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
                _ = file?.pointee.pMethods.pointee.xShmMap(file, 0, WALIndexHeader.regionSize, 0, &region)
                region?.initializeMemory(as: UInt8.self, repeating: 0, count: 2 * WALIndexHeader.size)
            }
            return try database.checkpoint(mode)
        }
        #expect(counts.logFrameCount > 40 && counts.checkpointCount == counts.logFrameCount)
        writer.close()
        database.close()
    }
}
