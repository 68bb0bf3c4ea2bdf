import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// What a program has of its files while the system has it suspended.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct SuspensionTests {
    let directory: TemporaryDirectory
    let path: String
    static let endless: SQL = "WITH RECURSIVE n(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n) SELECT count(*) FROM n"

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func pool(_ configuration: Configuration = Configuration()) throws -> DatabasePool {
        let pool = try DatabasePool(path: path, key: .sample("old"), configuration: configuration)
        try pool.write { try $0.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)") }
        return pool
    }

    private static func count(_ database: Database) throws -> Int? {
        try database.int(forQuery: "SELECT count(*) FROM t")
    }

    private func files() throws -> [FileStatus] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .map { try Platform.status(of: directory.file($0)) }
    }

    /// How many files of the directory this process has open.
    private func openFiles() throws -> Int {
        try files().count { Platform.descriptor(on: $0.identity) != nil }
    }

    /// How many locks this process has on files in the directory (proc_locks(5)).
    private func locks() throws -> Int {
        let files = try files().map { $0.identity[1] }
        return try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").count { line in
            line.split(separator: " ").contains("\(getpid())") && files.contains { line.contains(":\($0) ") }
        }
    }

    private func refuses(
        _ code: ResultCode,
        at location: SourceLocation = #_sourceLocation,
        _ body: () throws -> some Any
    ) {
        #expect(sourceLocation: location, performing: { _ = try body() }, throws: { code ~= $0 })
    }

    private func refuses(
        _ code: ResultCode,
        at location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> some Any
    ) async {
        await #expect(sourceLocation: location, performing: { _ = try await body() }, throws: { code ~= $0 })
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/locks"), "this system has no /proc/locks"))
    func suspendedPoolHasNoLocks() throws {
        let pool = try pool()
        #expect(try pool.read(Self.count) == 1)
        // In WAL mode also an idle connection has some.
        #expect(try locks() > 0 && openFiles() > 0)
        try pool.suspend()
        #expect(try locks() == 0 && openFiles() == 0)
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"), "the log was copied")
        #expect(pool.readerCounts.open == 0)
        refuses(.aborted) { try pool.read(Self.count) }
        refuses(.aborted) { try pool.write(Self.count) }
        #expect(try locks() == 0 && openFiles() == 0)
        pool.resume()
        #expect(try pool.read(Self.count) == 1)
        try pool.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        #expect(try pool.read(Self.count) == 2)
        try pool.close()
    }

    @Test func resumingDerivesNothing() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let queue = try DatabaseQueue(path: directory.file("test.db"), key: .passphrase("a passphrase"))
            try queue.suspend()
            queue.resume()
            let format = try queue.inDatabase { $0.cipherFormat }
            try queue.close()
            exit(format != nil && KeyDerivation.passphraseCount == 1 ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func limitStaysAndRemovedPlaintextIsNotMadeAnew() throws {
        let queue = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        _ = try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (a)")
            try database.setLimit(.sqlLength, to: 100)
        }
        try queue.suspend()
        queue.resume()
        #expect(try queue.inDatabase { try $0.limit(.sqlLength) } == 100)
        try queue.suspend()
        try FileManager.default.removeItem(atPath: path)
        queue.resume()
        #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.int(forQuery: "SELECT 1") } }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func resumingBeforeTurnEndsSuspension() async throws {
        let pool = try pool()
        let block = try await HeldBlock { hold in try? pool.write { _ in hold() } }
        let suspending = Task { try await pool.suspend() }
        try await eventually { pool.writer.log.isSuspended.load(ordering: .relaxed) }
        await #expect { try await pool.read { try Self.count($0) } } throws: {
            ($0 as? DatabaseError)?.code == .aborted
        }
        pool.resume()
        // What begins now is not interrupted while the suspension still waits for its turn.
        let until = ContinuousClock.now + .milliseconds(200)
        while ContinuousClock.now < until { #expect(try await pool.read { try Self.count($0) } == 1) }
        try await block.end()
        try await suspending.value
        #expect(try await pool.write { try Self.count($0) } == 1)
        try await pool.close()
    }

    @Test func runningStatementsAreInterrupted() async throws {
        let pool = try pool()
        let (writes, reads) = (Gate(), Gate())
        // This one goes on after an interruption.
        let written = Task {
            try await pool.write { database in
                try database.executeUpdate("INSERT INTO t VALUES (2)")
                writes.open()
                for _ in 0..<3 { _ = try? database.int(forQuery: Self.endless) }
                _ = try database.int(forQuery: Self.endless)
            }
        }
        let read = Task {
            try await pool.read {
                _ = try Self.count($0)
                reads.open()
                return try $0.int(forQuery: Self.endless)
            }
        }
        try await writes.waited()
        try await reads.waited()
        try await pool.suspend()
        #expect(try openFiles() == 0)
        await refuses(.interrupted) { try await written.value }
        await refuses(.interrupted) { try await read.value }
        pool.resume()
        #expect(try await pool.read(Self.count) == 1, "the transaction was rolled back")
    }

    @Test func waitingBlockIsRefused() async throws {
        let queue = try await DatabaseQueue(path: path, key: .sample("old"))
        let block = try await HeldBlock { hold in try? queue.inDatabase { _ in hold() } }
        let suspended = Task { try await queue.suspend() }
        try await eventually { queue.log.isSuspended.load(ordering: .relaxed) }
        let late = Task { try await queue.inDatabase { try $0.int(forQuery: "SELECT 1") } }
        try await eventually { queue.turns.waiting == 2 }
        try await block.end()
        try await suspended.value
        await refuses(.aborted) { try await late.value }
        #expect(try openFiles() == 0)
    }

    @Test func waitingReadOpensNoReader() async throws {
        let pool = try pool(
            Configuration {
                $0.maximumReaders = 1
                $0.readerWaitingLimit = .seconds(60 * Extent.minutesOfAHang)
            }
        )
        let block = try await HeldBlock { hold in try? pool.read { _ in hold() } }
        // It waits for the only reader when the suspension begins, which closes that.
        let late = Task { try await pool.read { try Self.count($0) } }
        try await eventually { pool.readerCounts.waiting == 1 }
        let suspended = Task { try await pool.suspend() }
        try await eventually { pool.writer.log.isSuspended.load(ordering: .relaxed) }
        try await block.end()
        try await suspended.value
        _ = await late.result
        #expect(try openFiles() == 0)
        try await pool.close()
    }

    @Test func suspensionWithinBlockIsRefused() throws {
        let pool = try pool()
        try pool.write { _ in
            refuses(.misuse) { try pool.suspend() }
        }
        try pool.read { _ in
            refuses(.misuse) { try pool.suspend() }
        }
        #expect(try pool.read(Self.count) == 1)
        let wrapped = WrappedWriter(pool) { _ in }
        refuses(.misuse) { try wrapped.suspend() }
    }

    @Test func othersMayChangeEverythingMeanwhile() throws {
        let pool = try pool()
        try pool.suspend()
        let other = try DatabaseQueue(path: path, key: .sample("old"))
        try other.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        pool.resume()
        #expect(try pool.read(Self.count) == 2)
        try pool.suspend()
        try other.rekey(.sample("new"))
        try other.close()
        pool.resume()
        expect(throws: KeyError.wrongKey) { try pool.read(Self.count) }
        expect(throws: KeyError.wrongKey) { try pool.write(Self.count) }
        let again = try DatabaseQueue(path: path, key: .sample("new"))
        try again.rekey(.sample("old"))
        try again.close()
        #expect(try pool.write(Self.count) == 2, "a file that cannot be opened is tried again")
    }

    @Test func observationOutlivesSuspension() async throws {
        let pool = try pool()
        var values = pool.observe(Self.count).makeAsyncIterator()
        #expect(try await values.next() == 1)
        try await pool.suspend()
        let other = try await DatabaseQueue(path: path, key: .sample("old"))
        try await other.write { try $0.executeUpdate("INSERT INTO t VALUES (2)") }
        try await other.close()
        pool.resume()
        #expect(try await values.next() == 2)
        // One that reads while it is refused waits for the end of that.
        try await pool.suspend()
        let refused = Task {
            var values = pool.observe(Self.count).makeAsyncIterator()
            return try await values.next()
        }
        try await eventually { pool.writer.log.listeners == 1 }
        pool.resume()
        #expect(try await refused.value == 2)
    }

    /// The example of the article about apps.
    @Test @MainActor func listOnMainActorFollows() async throws {
        let pool = try await DatabasePool(path: path, key: .sample("old"))
        try await pool.write { try $0.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)") }
        let list = AppCode.NoteList()
        let following = Task { await list.follow(pool) }
        try await pool.write { try $0.insert(into: "notes", ["text": "one"]) }
        while list.notes.count < 1 { try await Task.sleep(for: .milliseconds(1)) }
        try await pool.suspend()
        pool.resume()
        try await pool.write { try $0.insert(into: "notes", ["text": "two"]) }
        while list.notes.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(list.notes.map(\.text) == ["one", "two"] && list.failure == nil)
        following.cancel()
        await following.value
        #expect(list.failure == nil)
    }

    @Test func keyOfKeyringStaysItsOwn() throws {
        let keyring = Keyring(path: directory.file("keyring"))
        let secret = try KeyringSecret.external(SecretBytes(copying: [UInt8](repeating: 9, count: 32)))
        let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
        try queue.suspend()
        queue.resume()
        expect(throws: RekeyError.notStarted) { try queue.rekey(.sample("new")) }
        try queue.rotateKey(of: keyring.unlock(secret))
        #expect(try queue.read { try $0.int(forQuery: "SELECT count(*) FROM cipherdb_keyring") } == 1)
    }

    @Test func memoryAndPlaintextGoOn() throws {
        let memory = try DatabaseQueue(path: nil)
        try memory.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try memory.suspend()
        #expect(try memory.read(Self.count) == 0)
        let plain = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plain.suspend()
        #expect(try openFiles() == 0)
        plain.resume()
        try plain.write { try $0.executeStatements("CREATE TABLE t (a)") }
        #expect(try plain.read(Self.count) == 0)
    }

    @Test func closedStaysClosed() throws {
        let pool = try pool()
        try pool.suspend()
        try pool.close()
        pool.resume()
        refuses(.misuse) { try pool.read(Self.count) }
        #expect(try openFiles() == 0)
        try pool.suspend()
        refuses(.misuse) { try pool.write(Self.count) }
    }
}
