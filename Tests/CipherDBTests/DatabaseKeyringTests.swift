import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

@Suite final class DatabaseKeyringTests: KeyringFixture {
    static let modes: [JournalMode] = [.delete, .wal]

    private func queue(_ change: (inout Configuration) -> Void = { _ in }) throws -> DatabaseQueue {
        try DatabaseQueue(
            path: path,
            key: .keyring(keyring, unlockedBy: secret),
            configuration: Configuration {
                $0.busyTimeout = .milliseconds(100)
                change(&$0)
            }
        )
    }

    /// Opens it by the keyring and reads all of it.
    private func answer() throws -> String? {
        let queue = try queue()
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.string(forQuery: SampleFile.question) }
    }

    @Test func databaseOpensWithAnySlotOfItsKeyring() throws {
        try make()
        try unlocked().add(.sample("another secret"))
        let pool = try DatabasePool(path: path, key: .keyring(keyring, unlockedBy: .sample("another secret")))
        #expect(try pool.read { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try pool.close()
        let database = Database(path: path)
        try database.open(key: .keyring(keyring, unlockedBy: secret))
        #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
        #expect(throws: KeyringError(.wrongSecret, path: keyring.path)) {
            try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: .sample("not one of them")))
        }
    }

    /// Also where the program does without the syncs of its own commits.
    @Test func rotationEndsWithPagesOnDisk() throws {
        try make()
        let disk = FailingDisk(directory.path)
        defer { disk.remove() }
        let queue = try queue { $0.vfs = disk.name }
        try queue.inDatabase { try $0.executeStatements("PRAGMA synchronous = OFF") }
        let before = try keyring.content().generation
        disk.keepImages { [keyring] in
            let content = try? keyring.content()
            return content.map { !$0.isRotationPending && $0.generation > before } == true ? [1] : []
        }
        try queue.rotateKey(of: unlocked())
        try queue.write { try $0.executeStatements("CREATE TABLE later (a)") }
        try queue.close()
        let image = try #require(disk.takeImages().first { !$0.promised.isEmpty })
        let name = URL(fileURLWithPath: path).lastPathComponent
        #expect(image.written[name] != nil && image.synced[name] == image.written[name])
    }

    @Test func keyringDatabaseIsAttached() throws {
        try make()
        let database = Database(path: directory.file("main.db"))
        try database.open(key: DatabaseKey.random())
        let key = ProvidedKey.locked(keyring, secret, slot: nil)
        try database.attach(path, as: "other", key: key)
        #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
        let none: DatabaseKey? = nil
        expect(throws: KeyError.keyMissing) { try database.attach(path, as: "again", key: none) }
        for sql in ["DELETE FROM other.cipherdb_keyring", "DROP TABLE other.cipherdb_keyring"] {
            #expect {
                try database.executeStatements(SQL(unsafe: sql))
            } throws: {
                ($0 as? DatabaseError)?.code == .notAuthorized
            }
        }
        try database.executeStatements("DETACH other")
        let queue = try queue()
        try queue.vacuum()
        try queue.close()
    }

    @Test func refusedAttachingMakesNothing() throws {
        let database = Database(path: directory.file("main.db"))
        try database.open(key: DatabaseKey.random())
        try database.executeStatements("CREATE TABLE t (a); ATTACH ':memory:' AS taken")
        let before = directory.names
        let new = directory.file("new.db")
        for name in ["main", "Temp", "Vacuum_1", "taken", "x\0y"] {
            #expect(throws: DatabaseError.self) { try database.attach(new, as: name, key: DatabaseKey.random()) }
        }
        #expect(throws: DatabaseError.self) { try database.attach("file:" + new, as: "o", key: DatabaseKey.random()) }
        try database.inTransaction { database in
            #expect(throws: DatabaseError.self) { try database.attach(new, as: "o", key: DatabaseKey.random()) }
        }
        #expect(directory.names == before)
        #expect(try database.connection?.schemas().sorted() == ["main", "taken"])
    }

    /// The keyring would open it no longer.
    @Test func keyringDatabaseIsNotRekeyed() throws {
        try make()
        let pool = try DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret))
        expect(throws: RekeyError.notStarted) { try pool.rekey(.sample("another")) }
        try pool.close()
        let queue = try queue()
        expect(throws: RekeyError.notStarted) { try queue.rekey(.sample("another")) }
        expect(throws: RekeyError.notStarted) { try queue.inDatabase { try $0.rekey("another") } }
        let unlocked = try unlocked()
        try queue.rotateKey(of: unlocked)
        expect(throws: RekeyError.notStarted) { try queue.rekey(.sample("another")) }
        try queue.close()
        #expect(try answer() == SampleFile.answer)
    }

    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
    func databaseIsStandardFileUnderRawKey() throws {
        try make()
        let digits = try unlocked().databaseKey().derive(salt: Array(repeating: 0, count: 16), format: .v4)
            .withPageKey { $0.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() }
        let shell = try #require(
            StockShell.all.first { $0.format == Engine.current.formats.first?.version }
        )
        #expect(try shell.run(path, key: "key = \"x'\(digits)'\"", SampleFile.query) == [SampleFile.answer])
    }

    @Test func changingPassphraseLeavesDatabaseUnchanged() throws {
        try make()
        let before = try FileState(path)
        let unlocked = try unlocked()
        let number = try unlocked.add(.sample("old"))
        try unlocked.change(slot: number, to: .sample("new"))
        #expect(try FileState(path) == before)
        let key = try keyring.unlock(.sample("new")).databaseKey()
        #expect(
            try DatabaseQueue(path: path, key: key).inDatabase { try $0.first(SampleFile.question) }
                == SampleFile.answer
        )
    }

    @Test func newDatabaseNeedsNewKeyring() throws {
        try make()
        try FileManager.default.removeItem(atPath: path)
        expect(throws: KeyringError.databaseMissing) { _ = try queue() }
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(throws: (any Error).self) {
            try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret), flags: .readWrite)
        }
    }

    @Test func foreignDatabaseIsNotThatOfKeyring() throws {
        try make()
        let other = directory.file("other.db")
        try DatabaseQueue(path: other, key: .sample("other")).close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: other, toPath: path)
        let before = try FileState(path)
        expect(throws: KeyringError.otherDatabase) { _ = try queue() }
        #expect(try FileState(path) == before)
        _ = try directory.write("SQLite format 3\0".utf8 + Array(repeating: 0, count: 4080), to: "test.db")
        expect(throws: KeyError.notEncrypted) { try queue() }
    }

    // MARK: Rotation

    @Test(arguments: modes)
    func rotationGivesAllSlotsNewKey(mode: JournalMode) throws {
        try make(mode)
        try unlocked().add(.sample("another secret"))
        let old = try unlocked().databaseKey()
        let queue = try queue()
        try queue.rotateKey(of: unlocked())
        #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try queue.close()
        expect(throws: KeyError.wrongKey) { try DatabaseQueue(path: path, key: old) }
        #expect(try answer() == SampleFile.answer)
        let new = try keyring.unlock(.sample("another secret")).databaseKey()
        #expect(
            try DatabaseQueue(path: path, key: new).inDatabase { try $0.first(SampleFile.question) }
                == SampleFile.answer
        )
        #expect(try !keyring.content().isRotationPending)
    }

    @Test func poolRotatesWhileItLives() async throws {
        try make()
        let pool = try await DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret))
        let old = try await unlocked().databaseKey()
        _ = try await pool.read { try $0.string(forQuery: SampleFile.question) }
        let unlocked = try unlocked()
        try await pool.rotateKey(of: unlocked)
        #expect(try await pool.read { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try await pool.close()
        #expect(try await !(unlocked.databaseKey() == old))
        #expect(try answer() == SampleFile.answer)
    }

    @Test func rotationThatCannotBeginLeavesNothingPending() throws {
        try make(.wal)
        let queue = try queue()
        let other = try self.queue()
        _ = try other.inDatabase { try $0.string(forQuery: SampleFile.question) }
        let before = try unlocked().databaseKey()
        #expect(throws: DatabaseError.self) { try queue.rotateKey(of: unlocked()) }
        try other.close()
        try queue.close()
        #expect(try answer() == SampleFile.answer)
        #expect(try unlocked().databaseKey() == before)
    }

    /// A backup that used it would keep the rotation from ending.
    @Test(arguments: [false, true]) func newKeyIsGivenOutAfterRotation(isPool: Bool) async throws {
        try make(.wal)
        let unlocked = try unlocked()
        let database: any DatabaseWriter =
            isPool
            ? try await DatabasePool(path: path, key: unlocked) : try await DatabaseQueue(path: path, key: unlocked)
        let old = try await unlocked.databaseKey()
        let early = Lock(0)
        try await FileUse.noted(in: directory.path) { _ in
            if (try? database.keyedFile().key.isOpened(by: old)) != true { early.withLock { $0 += 1 } }
        } _: { use in
            try await database.rotateKey(of: unlocked)
            #expect(!use.calls.isEmpty && early.withLock { $0 } == 0)
        }
        #expect(try database.keyedFile().key.isOpened(by: try await unlocked.databaseKey()))
        try await database.close()
    }

    @Test func rotationEndsOneThatOthersKeptFromEnding() throws {
        try make(.wal)
        let unlocked = try unlocked()
        // Set and read on this thread alone.
        nonisolated(unsafe) var other: Database?
        // When the connection is opened again a reader has the state before the last commit, which stays in the log.
        let queue = try queue {
            $0.prepareDatabase = { [path] _ in
                guard other == nil, let key = try unlocked.databaseKeys().next else { return }
                let (reader, writer) = (Database(path: path), Database(path: path))
                for database in [reader, writer] { try database.open(key: key) }
                try writer.executeUpdate("CREATE TABLE late (a)")
                try reader.beginTransaction(.deferred)
                _ = try reader.int(forQuery: "SELECT count(*) FROM late")
                try writer.executeUpdate("INSERT INTO late VALUES (1)")
                writer.close()
                other = reader
            }
        }
        expect(throws: RekeyError.checkpointPending) { try queue.rotateKey(of: unlocked) }
        #expect(try unlocked.content().isRotationPending)
        #expect { try queue.rotateKey(of: unlocked) } throws: { ($0 as? DatabaseError)?.code.primary == .busy }
        other?.close()
        try queue.rotateKey(of: unlocked)
        #expect(try !unlocked.content().isRotationPending && unlocked.content().olderKeyCount == 2)
        #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
        try queue.close()
        #expect(try answer() == SampleFile.answer)
    }

    @Test func rotationWaitsForCheckpointOfOthers() throws {
        try make(.wal)
        let unlocked = try unlocked()
        let queue = try queue {
            $0.busyTimeout = .seconds(60)
            $0.prepareDatabase = { [path] _ in
                guard let key = try unlocked.databaseKeys().next else { return }
                // Used here and then by the thread alone.
                nonisolated(unsafe) let other = Database(path: path)
                try other.open(key: key)
                nonisolated(unsafe) let file = try EngineFile(#require(other.connection))
                // As a backup does.
                try file.lock(.checkpoint, exclusively: true, LockWait(limit: .zero))
                Thread {
                    Thread.sleep(forTimeInterval: 0.1)
                    file.unlock(.checkpoint, exclusively: true)
                    other.close()
                }.start()
            }
        }
        try queue.rotateKey(of: unlocked)
        #expect(try !unlocked.content().isRotationPending)
        try queue.close()
        #expect(try answer() == SampleFile.answer)
    }

    @Test(arguments: modes) func rotationTakesBackOneThatWasKilled(mode: JournalMode) throws {
        try make(mode)
        let unlocked = try unlocked()
        let queue = try queue()
        let (old, _) = try beginRotation(false)
        try queue.inTransaction { database in
            expect(throws: RekeyError.notStarted) { try database.rotateKey(of: unlocked) }
        }
        try queue.rotateKey(of: unlocked)
        let content = try unlocked.content()
        #expect(!content.isRotationPending && content.olderKeyCount == 2)
        #expect(try !(unlocked.databaseKey() == old))
        try queue.close()
        #expect(try answer() == SampleFile.answer)
    }

    @Test func onlyDatabaseOfKeyringIsRotated() throws {
        try make()
        let other = try DatabaseQueue(path: directory.file("other.db"), key: .sample("other"))
        expect(throws: KeyringError.otherDatabase) { try other.rotateKey(of: unlocked()) }
        #expect(try !unlocked().content().isRotationPending)
    }

    /// What a kill leaves of a rotation, before the pages are rewritten or after it.
    private func beginRotation(_ isRekeyed: Bool) throws -> (old: DatabaseKey, next: DatabaseKey) {
        let old = try unlocked().databaseKey()
        let next = try unlocked().withLock { try $0.beginRotation() }
        if isRekeyed {
            let queue = try DatabaseQueue(path: path, key: old)
            try queue.rekey(next)
            try queue.close()
        }
        return (old, next)
    }

    @Test(arguments: modes, [false, true])
    func nextOpeningCompletesOrUndoesRotation(mode: JournalMode, isRekeyed: Bool) throws {
        try make(mode)
        let (old, next) = try beginRotation(isRekeyed)
        expect(throws: KeyringError.rotationPending) { _ = try unlocked().databaseKey() }
        #expect(try answer() == SampleFile.answer)
        let content = try unlocked().content()
        #expect(!content.isRotationPending && content.olderKeyCount == 1)
        #expect(try unlocked().databaseKey() == (isRekeyed ? next : old))
        #expect(try answer() == SampleFile.answer)
    }

    @Test(arguments: [false, true])
    func readerOpensWithFittingKeyDuringRotation(isRekeyed: Bool) throws {
        try make()
        _ = try beginRotation(isRekeyed)
        let reader = Database(path: path)
        try reader.open(key: .keyring(keyring, unlockedBy: secret), flags: .readOnly)
        #expect(try reader.string(forQuery: SampleFile.question) == SampleFile.answer)
        reader.close()
        let found = try unlocked().withLock { _ in try answer() }
        #expect(found == SampleFile.answer)
        #expect(try unlocked().content().isRotationPending)
    }

    /// Until the log is in the file, pages under the old key may stand there.
    @Test(arguments: [false, true])
    func rotationWaitsForReaderOfWAL(isRekeyed: Bool) throws {
        try make(.wal)
        let (old, next) = try beginRotation(isRekeyed)
        let reader = Database(path: path)
        try reader.open(key: isRekeyed ? next : old)
        try reader.executeUpdate("PRAGMA user_version = 7")
        try reader.beginTransaction(.deferred)
        #expect(try reader.int(forQuery: "PRAGMA user_version") == 7)
        #expect(try answer() == SampleFile.answer)
        #expect(try unlocked().content().isRotationPending)
        try reader.rollback()
        reader.close()
        #expect(try answer() == SampleFile.answer)
        #expect(try !unlocked().content().isRotationPending)
    }

    // MARK: Old copies

    @Test func oldKeyringCopyIsRefusedUnlessAccepted() throws {
        try make()
        try FileManager.default.copyItem(atPath: keyring.path, toPath: directory.file("old"))
        try unlocked().add(.sample("added later"))
        #expect(try answer() == SampleFile.answer)
        let generation = try keyring.content().generation
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.moveItem(atPath: directory.file("old"), toPath: keyring.path)
        expect(throws: KeyringError.outdated, where: { $0.generation == generation }) { _ = try queue() }
        try queue { $0.acceptsOldCopies = true }.close()
        #expect(try answer() == SampleFile.answer)
        #expect(try keyring.content().generation == generation + 1)
    }

    @Test func oldDatabaseCopyIsRefusedAfterRotation() throws {
        try make()
        try FileManager.default.copyItem(atPath: path, toPath: directory.file("old.db"))
        let queue = try queue()
        try queue.rotateKey(of: unlocked())
        try queue.close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: directory.file("old.db"), toPath: path)
        expect(throws: KeyringError.oldDatabase, where: { $0.retired!.timeIntervalSinceNow > -86400 }) {
            try self.queue()
        }
        #expect(try unlocked().content().olderKeyCount == 1)
        try self.queue { $0.acceptsOldCopies = true }.close()
        #expect(try answer() == SampleFile.answer)
    }

    /// What looks like a rotation that was cut off may be a copy of the database, which was rotated.
    @Test func openingCopyLosesNoKeyOfDatabase() throws {
        try make()
        try FileManager.default.copyItem(atPath: path, toPath: directory.file("copy.db"))
        let (_, next) = try beginRotation(true)
        let copy = try DatabaseQueue(path: directory.file("copy.db"), key: unlocked())
        try copy.close()
        #expect(try !unlocked().content().isRotationPending)
        expect(throws: KeyringError.oldDatabase) { try self.queue() }
        try self.queue { $0.acceptsOldCopies = true }.close()
        #expect(try answer() == SampleFile.answer)
        #expect(try unlocked().databaseKey() == next)
    }

    @Test func forgottenKeysOpenNoOldCopy() throws {
        try make()
        try FileManager.default.copyItem(atPath: path, toPath: directory.file("old.db"))
        let queue = try queue()
        try queue.rotateKey(of: unlocked())
        try queue.close()
        try unlocked().forgetOlderKeys()
        #expect(try answer() == SampleFile.answer)
        expect(throws: KeyringError.otherDatabase) {
            _ = try DatabaseQueue(path: directory.file("old.db"), key: unlocked())
        }
    }

    @Test func readingDuringRotationWritesNothing() throws {
        try make()
        _ = try unlocked().withLock { try $0.beginRotation() }
        let unlocked = try unlocked()
        for call in [FaultInjection.Call.open, .rename, .sync, .write] {
            let (outcome, _) = FaultInjection.with(
                FaultInjection.Order(prefix: keyring.path, call: call, after: 0, code: EROFS)
            ) {
                let database = Database(path: path)
                defer { database.close() }
                try database.open(key: unlocked)
                return try database.string(forQuery: SampleFile.question)
            }
            #expect(try outcome.get() == SampleFile.answer, "\(call)")
        }
    }

    @Test func refusedRotationLeavesNothingPending() throws {
        try make(.wal)
        let queue = try queue()
        let unlocked = try unlocked()
        try queue.inTransaction { database in
            _ = #expect(throws: RekeyError.self) { try database.rotateKey(of: unlocked) }
        }
        #expect(try !unlocked.content().isRotationPending)
        #expect(try unlocked.content().olderKeyCount == 0)
        let other = try self.queue()
        _ = try other.inDatabase { try $0.string(forQuery: SampleFile.question) }
        #expect(throws: DatabaseError.self) { try queue.rotateKey(of: unlocked) }
        #expect(try !unlocked.content().isRotationPending)
    }

    @Test func oldKeyringCopyIsNotWritten() throws {
        let weak = try PassphraseDerivation(unsafeWeak: .pbkdf2SHA512(iterations: 10))
        try make()
        try unlocked().add(.sample("weak"), derivation: weak)
        try FileManager.default.copyItem(atPath: keyring.path, toPath: directory.file("old"))
        try unlocked().add(.sample("later"))
        #expect(try answer() == SampleFile.answer)
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.moveItem(atPath: directory.file("old"), toPath: keyring.path)
        let before = try FileState(keyring.path)
        let opening = { [self] in try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: .sample("weak"))) }
        expect(throws: KeyringError.outdated) { try opening() }
        #expect(try FileState(keyring.path) == before)
    }

    @Test func keyringRecordSkipsEmptyAndBusyDatabases() throws {
        try keyring.create(with: secret)
        let queue = try queue()
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM sqlite_master") } == 0)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.inTransaction { database in
            try database.executeUpdate("DELETE FROM people WHERE id = 1")
            let other = try self.queue { $0.busyTimeout = .seconds(60) }
            #expect(try other.inDatabase { try $0.tableExists("cipherdb_keyring") } == false)
        }
        try queue.close()
        #expect(try self.queue().inDatabase { try $0.tableExists("cipherdb_keyring") })
    }

    @Test func openDatabaseIsNotReopened() throws {
        try make()
        let database = Database(path: path)
        try database.open(key: .keyring(keyring, unlockedBy: secret))
        #expect(throws: DatabaseError.self) { try database.open(key: .keyring(keyring, unlockedBy: secret)) }
        #expect(try database.string(forQuery: SampleFile.question) == SampleFile.answer)
    }
}
