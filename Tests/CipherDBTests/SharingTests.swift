import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// What a queue and a pool have in common, and what takes either.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct SharingTests {
    enum Kind: CaseIterable, Sendable {
        case queue, pool, queueInMemory, poolInMemory
    }

    let directory: TemporaryDirectory
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        key = try .random()
    }

    private func database(_ kind: Kind) throws -> any DatabaseWriter {
        let database: any DatabaseWriter =
            switch kind {
            case .queue: try DatabaseQueue(path: directory.file("test.db"), key: key)
            case .pool: try DatabasePool(path: directory.file("test.db"), key: key)
            case .queueInMemory: try DatabaseQueue(path: nil)
            case .poolInMemory: try DatabasePool(path: nil)
            }
        try database.write { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        return database
    }

    private func problems(_ reader: some DatabaseReader) throws -> [String] {
        try reader.integrityCheck()
    }

    private func count(_ reader: some DatabaseReader) throws -> Int? {
        try reader.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
    }

    @Test(arguments: Kind.allCases) func readingBlockCannotWrite(kind: Kind) async throws {
        let database = try database(kind)
        #expect { try database.read { try $0.executeUpdate("INSERT INTO t VALUES (2)") } } throws: {
            let error = $0 as? DatabaseError
            return error?.code == .readOnly && error?.message.contains("use write") == true
        }
        await #expect { try await database.read { try $0.executeUpdate("DELETE FROM t") } } throws: {
            ($0 as? DatabaseError)?.code.primary == .readOnly
        }
        #expect { try database.read { try $0.executeStatements("PRAGMA query_only = OFF") } } throws: {
            ($0 as? DatabaseError)?.code.primary == .notAuthorized
        }
        #expect(try count(database) == 1)
        try await database.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(try count(database) == 2, "the block after it writes")
    }

    @Test(arguments: Kind.allCases) func soundDatabaseHasNoProblems(kind: Kind) async throws {
        let database = try database(kind)
        #expect(try problems(database) == [])
        #expect(try await database.integrityCheck() == [])
    }

    @Test func readOnlyFileIsNotBlamedOnBlock() throws {
        try database(.queue).close()
        let queue = try DatabaseQueue(path: directory.file("test.db"), key: key, flags: .readOnly)
        #expect { try queue.read { try $0.executeUpdate("INSERT INTO t VALUES (2)") } } throws: {
            let error = $0 as? DatabaseError
            return error?.code == .readOnly && error?.message.contains("use write") == false
        }
    }

    @Test(arguments: Kind.allCases) func vacuumLeavesNoFreePages(kind: Kind) throws {
        let database = try database(kind)
        try database.write { try $0.executeStatements("CREATE TABLE u (a); DROP TABLE u") }
        func freePages() throws -> Int? { try database.read { try $0.int(forQuery: "PRAGMA freelist_count") } }
        #expect(try freePages() == 1)
        #expect(throws: DatabaseError.self, "not in a transaction") { try database.write { try $0.vacuum() } }
        try database.vacuum()
        #expect(try freePages() == 0)
    }

    @Test(arguments: Kind.allCases) func vacuumHasAsynchronousVersion(kind: Kind) async throws {
        let database = try database(kind)
        try await database.write { try $0.executeStatements("CREATE TABLE u (a); DROP TABLE u") }
        try await database.vacuum()
        #expect(try await database.read { try $0.int(forQuery: "PRAGMA freelist_count") } == 0)
    }

    @Test(arguments: Kind.allCases) func nestedReadSeesSameSnapshot(kind: Kind) throws {
        let database = try database(kind)
        let counts = try database.read { outer in
            let first = try outer.int(forQuery: "SELECT count(*) FROM t")
            return [first, try database.read { try $0.int(forQuery: "SELECT count(*) FROM t") }]
        }
        #expect(counts == [1, 1])
    }

    @Test(arguments: [Kind.queue, .queueInMemory, .poolInMemory])
    func readInWriteIsRefused(kind: Kind) throws {
        let database = try database(kind)
        #expect { try database.write { _ in try database.read { _ in } } } throws: {
            ($0 as? DatabaseError)?.code == .misuse
        }
    }

    @Test func readingBlockRestoresQueryOnly() throws {
        let database = try database(.queue)
        try database.inDatabase { try $0.executeStatements("PRAGMA query_only = ON") }
        #expect(try count(database) == 1)
        #expect(throws: DatabaseError.self) { try database.write { try $0.executeUpdate("DELETE FROM t") } }
        try database.inDatabase { try $0.executeStatements("PRAGMA query_only = OFF") }
        try database.write { try $0.executeUpdate("DELETE FROM t") }
        #expect(try count(database) == 0)
    }

    @Test(arguments: Kind.allCases) func closingTwiceDoesNothing(kind: Kind) async throws {
        let database = try database(kind)
        func closeAndWait() throws { try database.close() }
        try closeAndWait()
        try await database.close()
        try closeAndWait()
        #expect(throws: DatabaseError.self) { try database.read { _ in } }
        await #expect(throws: DatabaseError.self) { try await database.write { _ in } }
    }

    @Test(arguments: Kind.allCases) func pathIsNilInMemoryOnly(kind: Kind) throws {
        let path = try database(kind).path
        #expect((path == nil) == (kind == .queueInMemory || kind == .poolInMemory))
    }

    @Test(arguments: Kind.allCases) func asyncCallsMatchSyncCalls(kind: Kind) async throws {
        let database = try database(kind)
        let steps = [Migration("b") { try $0.executeStatements("ALTER TABLE t ADD COLUMN b") }]
        #expect(try await database.migrate(steps) == ["b"])
        #expect(try await database.migrate(steps).isEmpty)
        try await database.inTransaction(.exclusive) { try $0.executeUpdate("INSERT INTO t VALUES (2, 2)") }
        try await database.inTransaction { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (3, 3)")
            rollback = true
        }
        try await database.inSavePoint { try $0.executeUpdate("INSERT INTO t VALUES (4, 4)") }
        try await database.inSavePoint { database, rollback in
            try database.executeUpdate("INSERT INTO t VALUES (5, 5)")
            rollback = true
        }
        #expect(try await database.read { try $0.fetchAll(Int.self, "SELECT a FROM t ORDER BY a") } == [1, 2, 4])
        _ = try await database.checkpoint(.passive)
        #expect(try await !database.checkForForeignChanges())
    }

    @Test func openingDoesNotBlockTask() async throws {
        let path = directory.file("test.db")
        let queue = try await DatabaseQueue(path: path, key: .sample("secret"))
        try await queue.write { try $0.executeStatements("CREATE TABLE t (a)") }
        try await queue.close()
        let pool = try await DatabasePool(path: path, key: .sample("secret"))
        #expect(try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
        try await pool.close()
        await expect(throws: KeyError.wrongKey) { try await DatabaseQueue(path: path, key: .sample("wrong")) }
        let keyring = Keyring(besideDatabase: directory.file("other.db"))
        let secret = try KeyringSecret.keyFile(.random(count: 32))
        let unlocked = try await keyring.create(with: secret)
        let first = try await DatabasePool(path: directory.file("other.db"), key: unlocked)
        try await first.write { try $0.executeStatements("CREATE TABLE t (a)") }
        try await first.close()
        let second = try await DatabaseQueue(
            path: directory.file("other.db"),
            key: .keyring(keyring, unlockedBy: secret)
        )
        #expect(try await second.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
    }

    @Test func cancelledTaskOpensNothing() async throws {
        let path = directory.file("test.db")
        let key = try DatabaseKey.sample("secret")
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            _ = try await DatabaseQueue(path: path, key: key)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: [Kind.queue, .pool]) func backupOpensWithItsKey(kind: Kind) async throws {
        let database = try database(kind)
        func waiting(_ path: String, _ key: DatabaseKey?) throws { try database.backup(to: path, key: key) }
        try waiting(directory.file("same.db"), nil)
        let other = try DatabaseKey.random()
        let steps = Counter()
        try await database.backup(to: directory.file("other.db"), key: other, pagesPerStep: 1) { _ in steps.add() }
        #expect(steps.value > 1)
        #expect(throws: DatabaseError.self) { try waiting(directory.file("other.db"), nil) }
        let copy = try await DatabaseQueue(path: directory.file("other.db"), key: other)
        #expect(try await copy.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
        let same = try await DatabaseQueue(path: directory.file("same.db"), key: key)
        #expect(try await same.read { try $0.int(forQuery: "SELECT count(*) FROM t") } == 1)
        for name in ["same.db", "other.db"] {
            let mode = try FileManager.default.attributesOfItem(atPath: directory.file(name))[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
    }

    @Test func backupThatEndsLeavesNoFile() async throws {
        struct Stop: Error {}
        let database = try database(.pool)
        await #expect(throws: Stop.self) {
            try await database.backup(to: directory.file("copy.db"), pagesPerStep: 1) { _ in throw Stop() }
        }
        let task = Task {
            try await database.backup(to: directory.file("copy.db"), pagesPerStep: 1) { _ in
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!directory.names.contains { $0.hasPrefix("copy.db") })
    }

    @Test func callsOfKeyringDoNotBlockTask() async throws {
        let keyring = Keyring(path: directory.file("keyring"))
        let (first, second) = (
            try KeyringSecret.keyFile(.random(count: 32)), try KeyringSecret.keyFile(.random(count: 32))
        )
        try await keyring.create(with: first)
        let unlocked = try await keyring.unlock(first)
        #expect(try await unlocked.add(second) == 2)
        let third = try KeyringSecret.keyFile(.random(count: 32))
        try await unlocked.change(slot: 2, to: third)
        try await keyring.change(third, to: second)
        #expect(try await keyring.content().slots.count == 2)
        let code = try RecoveryCode.random()
        #expect(try await unlocked.add(code, typedBack: RecoveryCode(typed: code.text())) == 3)
        try await unlocked.remove(slot: 2)
        try await unlocked.forgetOlderKeys()
        try await unlocked.backUp(to: directory.file("backup"))
        #expect(try await unlocked.content().slots.count == 2)
        let key = try await unlocked.databaseKey()
        try await keyring.erase()
        try await Keyring(path: directory.file("backup")).unlock(first).restore(to: keyring)
        #expect(try await keyring.unlock(.recoveryCode(code)).databaseKey() == key)
    }
}
