import CipherDB
import CipherPages
import Foundation
import SQLiteFormat
import TestSupport
import Testing

@Suite struct RekeyTests {
    let directory: TemporaryDirectory
    let path: String
    static let modes: [JournalMode] = [.delete, .wal]

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func make(_ mode: JournalMode, key: DatabaseKey? = nil) throws -> DatabaseQueue {
        let configuration = Configuration {
            $0.journalMode = mode
            $0.busyTimeout = .milliseconds(100)
        }
        let queue = try DatabaseQueue(path: path, key: key ?? .sample("old"), configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        return queue
    }

    private func answer(_ key: DatabaseKey) throws -> String {
        let queue = try DatabaseQueue(path: path, key: key)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.first(SampleFile.question) }
    }

    @Test(arguments: modes)
    func onlyNewKeyOpensAfterRekey(mode: JournalMode) throws {
        let (old, new): (DatabaseKey, DatabaseKey) =
            try mode == .delete
            ? (.passphrase("old"), .passphrase("new")) : (.sample("old"), .sample("new"))
        let queue = try make(mode, key: old)
        let salt = try FileState(path).bytes.prefix(16)
        try queue.rekey(new)
        #expect(try queue.inDatabase { try $0.first(SampleFile.question) } as String == SampleFile.answer)
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO people (name) VALUES ('later')") }
        _ = try queue.openConnection()
        try queue.close()
        expect(throws: KeyError.wrongKey) { try answer(old) }
        _ = try answer(new)
        #expect(try FileState(path).bytes.prefix(16) == salt, "the salt stays")
    }

    /// The new key would be that of a file which no program finds, or the file of the name would not open.
    @Test(arguments: modes)
    func movedFileIsNotRekeyed(mode: JournalMode) throws {
        try make(mode).close()
        let (moved, database) = (directory.file("moved.db"), Database(path: path))
        try database.open(key: .sample("old"))
        let before = try FileState(path)
        try FileManager.default.moveItem(atPath: path, toPath: moved)
        for isReplaced in [false, true] {
            if isReplaced { try FileManager.default.copyItem(atPath: moved, toPath: path) }
            #expect { try database.rekey(.sample("new")) } throws: {
                ($0 as? DatabaseError)?.code == .cannotOpen && "\($0)".contains("removed or replaced")
            }
            #expect(database.isOpen)
            #expect(try FileState(moved) == before)
        }
        database.close()
        #expect(try answer(.sample("old")) == SampleFile.answer)
    }

    @Test(arguments: modes)
    func noPageIsUnderOldKeyAfterRekey(mode: JournalMode) throws {
        let queue = try make(mode)
        let format = try #require(try queue.inDatabase { $0.cipherFormat })
        try queue.rekey(.sample("new"))
        // Before the queue closes: what is in the file now is what a thief would find.
        let bytes = try FileState(path).bytes
        let copy = try FileBytes(path: directory.write(bytes, to: "copy"))
        let salt = Array(bytes.prefix(16))
        let old = try PageScan(
            database: copy,
            log: nil,
            key: DatabaseKey.sample("old").derive(salt: salt, format: format),
            format: format
        ).run()
        #expect(old.damaged.count == old.pages)
        let new = try PageScan(
            database: copy,
            log: nil,
            key: DatabaseKey.sample("new").derive(salt: salt, format: format),
            format: format
        ).run()
        #expect(new.damaged.isEmpty && new.pages > 20)
        let log = try? FileState(path + "-wal").bytes
        #expect(log?.isEmpty ?? true)
    }

    @Test(
        .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
        arguments: Extent.isComplete ? SampleKey.all : [0, 4, 5, 6].map { SampleKey.all[$0] }
    )
    func shellOpensRekeyedFile(key: SampleKey) throws {
        let queue = try make(.delete)
        let format = try #require(try queue.inDatabase { $0.cipherFormat })
        guard key.description != "raw with salt" else {
            #expect(throws: RekeyError.self) { try queue.rekey(key.key) }
            return
        }
        try queue.rekey(key.key)
        try queue.close()
        for shell in StockShell.all where shell.format >= format.version {
            let rows = try shell.run(
                path,
                key: key.pragma,
                settings: shell.settings(forFormat: format.version),
                SampleFile.query + "PRAGMA integrity_check;"
            )
            #expect(rows == [SampleFile.answer, "ok"])
        }
    }

    @Test func anotherFormatStaysUnchanged() throws {
        let formats = Engine.current.formats.filter { $0.version > 1 }
        for format in formats {
            try? FileManager.default.removeItem(atPath: path)
            let queue = try DatabaseQueue(
                path: path,
                key: .sample("old"),
                configuration: Configuration { $0.format = format }
            )
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            try queue.rekey(.sample("new"))
            try queue.close()
            let again = try DatabaseQueue(
                path: path,
                key: .sample("new"),
                configuration: Configuration { $0.format = format }
            )
            #expect(try again.inDatabase { try $0.first(SampleFile.question) } as String == SampleFile.answer)
        }
    }

    @Test func sameKeyIsRefused() throws {
        let queue = try make(.delete)
        do {
            try queue.rekey(.sample("old"))
            Issue.record("not refused")
        } catch RekeyError.sameKey {}
        #expect(try queue.inDatabase { try $0.first(SampleFile.question) } as String == SampleFile.answer)
    }

    @Test func otherSaltIsRefused() throws {
        let queue = try make(.delete)
        do {
            try queue.rekey(.rawWithSalt(SecretBytes.random(count: 48)))
            Issue.record("not refused")
        } catch RekeyError.saltDiffers {}
        let salt = try Array(FileState(path).bytes.prefix(16))
        let bytes = SecretBytesBuilder.random32() + salt
        try queue.rekey(.rawWithSalt(SecretBytes(copying: bytes)))
        #expect(try answer(.raw(SecretBytes(copying: Array(bytes[..<32])))) == SampleFile.answer)
    }

    private func expectNotStarted(_ database: Database, _ word: String) {
        do {
            try database.rekey(.sampleKey("new"))
            Issue.record("started")
        } catch let error as RekeyError {
            #expect("\(error)".contains(word) && error.path == database.path ?? "")
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test func rekeyIsRefusedWithOpenWork() throws {
        _ = try make(.delete)
        let database = Database(path: path)
        try database.open(key: .sample("old"))
        try database.inTransaction { expectNotStarted($0, "transaction") }
        let rows = try database.executeQuery("SELECT * FROM people")
        _ = try rows.next()
        expectNotStarted(database, "result set")
        rows.close()
        try database.executeStatements("CREATE TEMP TABLE mine (a)")
        expectNotStarted(database, "temporary")
        try database.executeStatements("DROP TABLE mine; ATTACH ':memory:' AS other")
        expectNotStarted(database, "other is attached")
        try database.executeStatements("DETACH other")
        try database.rekey(.sampleKey("new"))
        #expect(try database.first(SampleFile.question) == SampleFile.answer)
    }

    @Test(arguments: modes) func readOnlyConnectionCannotRekey(mode: JournalMode) throws {
        try make(mode).close()
        let before = try FileState(path)
        let database = Database(path: path)
        try database.open(key: .sample("old"), flags: .readOnly)
        expectNotStarted(database, "read-only")
        database.close()
        #expect(try FileState(path) == before)
        #expect(try answer(.sample("old")) == SampleFile.answer)
    }

    @Test(arguments: modes, [TransactionKind.deferred, .immediate])
    func foreignLockStopsRekey(mode: JournalMode, kind: TransactionKind) throws {
        let queue = try make(mode)
        let other = try queue.openConnection()
        try other.beginTransaction(kind)
        _ = try other.first(SampleFile.question) as String
        let before = try FileState(path)
        do {
            try queue.rekey(.sample("new"))
            Issue.record("rekeyed under another connection's lock")
        } catch let error as DatabaseError {
            #expect(error.code.primary == .busy)
        }
        #expect(try FileState(path) == before)
        #expect(try other.first(SampleFile.question) == SampleFile.answer)
        try other.rollback()
        other.close()
        // The queue goes on under the old key, and its locks are gone.
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO people (name) VALUES ('later')") }
        #expect(try answer(.sample("old")) != SampleFile.answer)
        try queue.rekey(.sample("new"))
    }

    @Test(arguments: modes)
    func unreadablePageKeepsOldKey(mode: JournalMode) throws {
        try make(mode).close()
        let database = Database(path: path)
        try database.open(key: .sample("old"))
        let size = try #require(database.cipherFormat?.pageSize)
        // The engine answers OK to such a rekey, and undoes it.
        try flipByte(of: path, at: 9 * size + 40)
        do {
            try database.rekey(.sampleKey("new"))
            Issue.record("a damaged file was rekeyed")
        } catch let error as RekeyError {
            guard error.code == .oldKeyInForce else { throw error }
            #expect("\(error)".contains("damaged: page 10"))
        }
        #expect(database.isOpen)
        #expect(try database.first("SELECT name FROM people WHERE id = 1") == "Person-1-plaintextmarker")
        try flipByte(of: path, at: 9 * size + 40)
        #expect(try answer(.sample("old")) == SampleFile.answer)
    }

    @Test func databaseWithoutEncryptionCannotBeRekeyed() throws {
        let plain = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plain.open()
        try plain.executeStatements("CREATE TABLE t (a)")
        expectNotStarted(plain, "not encrypted")
        let memory = Database(path: nil)
        try memory.open()
        expectNotStarted(memory, "not encrypted")
    }

    @Test func waitingBlocksGoOnAfterRekey() async throws {
        let queue = try make(.wal)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in 0..<50 {
                group.addTask {
                    try await queue.inTransaction {
                        try $0.executeUpdate("INSERT INTO people (name) VALUES (?)", "\(value)")
                    }
                }
                if value == 25 { group.addTask { try await queue.rekey(.sample("new")) } }
            }
            try await group.waitForAll()
        }
        let count: Int = try await queue.inDatabase { try $0.first("SELECT count(*) FROM people") }
        #expect(count == 650)
    }
}

private enum SecretBytesBuilder {
    static func random32() -> [UInt8] { (0..<32).map { _ in UInt8.random(in: 0...255) } }
}
