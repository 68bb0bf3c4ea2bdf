import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

/// What may wait does so on no thread of Swift's cooperative pool, on which these tests run.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct TaskThreadTests {
    let directory: TemporaryDirectory
    let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        key = try .random()
    }

    private var path: String { directory.file("test.db") }

    /// A database as its file's name says: a queue with a WAL, or a pool, with something in its log.
    enum Kind: CaseIterable, Sendable {
        case queue, pool

        func open(_ path: String, _ key: DatabaseKey) async throws -> any DatabaseWriter {
            let configuration = Configuration {
                $0.journalMode = .wal
                $0.maximumReaders = 1
                // Longer than the tests that occupy the pool.
                $0.readerWaitingLimit = .seconds(60 * Extent.minutesOfAHang)
                $0.writerWaitingLimit = .seconds(60 * Extent.minutesOfAHang)
            }
            let database: any DatabaseWriter =
                switch self {
                case .queue: try await DatabaseQueue(path: path, key: key, configuration: configuration)
                case .pool: try await DatabasePool(path: path, key: key, configuration: configuration)
                }
            try await database.write {
                try $0.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
            }
            _ = try await database.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
            return database
        }

        func open(
            _ path: String,
            _ keyring: UnlockedKeyring,
            _ configuration: Configuration
        ) async throws -> any DatabaseWriter {
            switch self {
            case .queue: try await DatabaseQueue(path: path, key: keyring, configuration: configuration)
            case .pool: try await DatabasePool(path: path, key: keyring, configuration: configuration)
            }
        }

        func open(_ path: String, _ keyring: Keyring, _ secret: KeyringSecret) async throws -> any DatabaseWriter {
            switch self {
            case .queue: try await DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
            case .pool: try await DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret))
            }
        }

        func open(_ url: URL, _ key: DatabaseKey) async throws -> any DatabaseWriter {
            switch self {
            case .queue: try await DatabaseQueue(path: url.databasePath, key: key)
            case .pool: try await DatabasePool(path: url.databasePath, key: key)
            }
        }
    }

    struct Call: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Whether it cannot end while another block has the database.
        let takesTurn: Bool
        let run: @Sendable (any DatabaseWriter, TemporaryDirectory) async throws -> Void

        init(
            _ name: String,
            takesTurn: Bool = true,
            _ run: @escaping @Sendable (any DatabaseWriter, TemporaryDirectory) async throws -> Void
        ) {
            testDescription = name
            self.takesTurn = takesTurn
            self.run = run
        }
    }

    private static let insert = "INSERT INTO t VALUES (2)"

    /// The asynchronous calls of a queue and a pool.
    private static let calls = [
        Call("read") { database, _ in _ = try await database.read { try $0.int(forQuery: "SELECT count(*) FROM t") } },
        Call("write") { database, _ in try await database.write { try $0.executeUpdate(SQL(unsafe: insert)) } },
        Call("inDatabase") { database, _ in try await database.inDatabase { try $0.executeUpdate(SQL(unsafe: insert)) }
        },
        Call("inTransaction") { database, _ in
            try await database.inTransaction(.exclusive) { try $0.executeUpdate(SQL(unsafe: insert)) }
            try await database.inTransaction { database, rollback in
                try database.executeUpdate(SQL(unsafe: insert))
                rollback = true
            }
        },
        Call("inSavePoint") { database, _ in
            try await database.inSavePoint { try $0.executeUpdate(SQL(unsafe: insert)) }
            try await database.inSavePoint { database, rollback in
                try database.executeUpdate(SQL(unsafe: insert))
                rollback = true
            }
        },
        Call("migrate") { database, _ in
            try await database.migrate([Migration("first") { try $0.executeStatements("CREATE TABLE u (a)") }])
        },
        Call("checkpoint") { database, _ in _ = try await database.checkpoint(.truncate) },
        Call("vacuum") { database, _ in try await database.vacuum() },
        Call("integrityCheck") { database, _ in _ = try await database.integrityCheck() },
        Call("backup") { database, directory in try await database.backup(to: directory.file("copy.db")) },
        Call("rekey") { database, _ in try await database.rekey(.random()) },
        Call("checkForForeignChanges") { database, _ in _ = try await database.checkForForeignChanges() },
        Call("observe") { database, _ in
            let observation = Task {
                for try await _ in database.observe({ try $0.int(forQuery: "SELECT count(*) FROM t") }) { return }
            }
            try await observation.value
        },
        Call("close") { database, _ in try await database.close() },
        Call("continuous backup", takesTurn: false) { database, directory in
            let isStored = Gate()
            let backup = ContinuousBackup(of: database, to: BackupRepository(directory.file("backups"))) { _ in
                isStored.open()
            }
            let running = Task { try await backup.run() }
            try await isStored.waited()
            running.cancel()
            try await running.value
        },
    ]

    @Test(arguments: Kind.allCases, calls) func callUsesNoFileOnPool(kind: Kind, call: Call) async throws {
        try await FileUse.noted(in: directory.path) { use in
            let database = try await kind.open(path, key)
            try await call.run(database, directory)
            try await database.close()
            #expect(!use.calls.isEmpty && use.ofPool.isEmpty)
        }
    }

    @Test(arguments: Kind.allCases) func poolOfThreadsIsSeen(kind: Kind) async throws {
        // What the others would find: the synchronous call is one that blocks.
        func blocking(_ database: any DatabaseWriter) throws { try database.close() }
        try await FileUse.noted(in: directory.path) { use in
            try blocking(try await kind.open(path, key))
            #expect(use.ofPool.isEmpty == !Platform.isOfPool)
        }
    }

    @Test(arguments: Kind.allCases) func openingUsesNoFileOnPool(kind: Kind) async throws {
        try await FileUse.noted(in: directory.path) { use in
            try await Self.open(kind, in: directory)
            #expect(!use.calls.isEmpty && use.ofPool.isEmpty)
        }
    }

    /// Opens a database in each form, with a rotation.
    private static func open(_ kind: Kind, in directory: TemporaryDirectory) async throws {
        let (path, secret) = (directory.file("test.db"), try secret())
        let keyring = Keyring(besideDatabase: path)
        let unlocked = try await keyring.create(with: secret)
        let first = try await kind.open(path, unlocked, Configuration { $0.journalMode = .delete })
        try await first.write { try $0.executeStatements("CREATE TABLE t (a)") }
        try await first.rotateKey(of: unlocked)
        try await first.close()
        try await kind.open(path, keyring, secret).close()
        try await kind.open(URL(fileURLWithPath: path), unlocked.databaseKey()).close()
        await expect(throws: KeyError.wrongKey) { _ = try await kind.open(path, .random()) }
    }

    @Test func keyringUsesNoFileOnPool() async throws {
        try await FileUse.noted(in: directory.path) { use in
            try await Self.useKeyring(in: directory)
            #expect(!use.calls.isEmpty && use.ofPool.isEmpty)
        }
    }

    /// Makes each call of a keyring.
    private static func useKeyring(in directory: TemporaryDirectory) async throws {
        let (first, second) = (try secret(), try secret())
        let keyring = Keyring(path: directory.file("keyring"))
        try await keyring.create(with: first)
        let unlocked = try await keyring.unlock(first)
        _ = try await unlocked.add(second, label: "second")
        try await unlocked.change(slot: 2, to: secret(), label: "second")
        try await unlocked.change(label: "second", to: second)
        try await keyring.change(second, to: secret())
        let code = try RecoveryCode.random()
        _ = try await unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
        try await unlocked.remove(slot: 2)
        _ = try await unlocked.add(second, label: "second")
        try await unlocked.remove(label: "second")
        try await unlocked.forgetOlderKeys()
        try await unlocked.backUp(to: directory.file("keyring.backup"))
        _ = (try await keyring.content(), try await keyring.content().slots)
        _ = (try await unlocked.content(), try await unlocked.content().slots, try await unlocked.databaseKey())
        try await keyring.erase()
        let backup = try await Keyring(path: directory.file("keyring.backup")).unlock(first)
        try await backup.restore(to: keyring)
    }

    private static func secret() throws -> KeyringSecret { try .keyFile(.random(count: 32)) }

    // MARK: What is dropped

    /// How a task lets go of a database that was not closed.
    enum Drop: CaseIterable, Sendable {
        case variable, result, actor, observation

        func run(_ open: @escaping @Sendable () async throws -> any DatabaseWriter) async throws {
            switch self {
            case .variable: _ = try await open()
            // Nobody asks for it: it is destroyed when the task is over, on a thread that has none.
            case .result:
                let isOpen = Gate()
                Task.detached {
                    defer { isOpen.open() }
                    return try await open()
                }
                try await isOpen.waited()
            case .actor: await Owner(try await open()).use()
            case .observation:
                let database = try await open()
                let changes = Task {
                    for try await _ in database.observe({ try $0.int(forQuery: "SELECT count(*) FROM t") }) {}
                }
                changes.cancel()
                _ = await changes.result
            }
        }
    }

    actor Owner {
        let database: any DatabaseWriter
        init(_ database: any DatabaseWriter) { self.database = database }
        func use() async { await Task.yield() }
    }

    @Test(arguments: Kind.allCases, Drop.allCases)
    func droppedDatabaseIsClosedElsewhere(kind: Kind, drop: Drop) async throws {
        try await FileUse.noted(in: directory.path) { use in
            try await drop.run { [path, key] in try await kind.open(path, key) }
            // The last connection copies the log and removes it.
            try await eventually { !FileManager.default.fileExists(atPath: path + "-wal") }
            #expect(use.ofPool.isEmpty)
        }
    }

    @Test(arguments: Kind.allCases) func databaseDroppedOutsideOfTasksIsClosed(kind: Kind) async throws {
        let opened = Lock<(any DatabaseWriter)?>(try await kind.open(path, key))
        let isThere = await withCheckedContinuation { continuation in
            Thread { [path] in
                _ = opened.withLock { $0.take() }
                continuation.resume(returning: FileManager.default.fileExists(atPath: path + "-wal"))
            }.start()
        }
        #expect(!isThere)
    }

    // MARK: While others wait

    /// As many wait at once: more than the pool has threads.
    private static let waiting = Platform.processorCount + 2

    /// Runs `body` as often as that at once. `slow` opens when each has begun and a task among them has had its turn ten times.
    ///
    /// - Parameter limit: Seconds until `slow` opens nevertheless, instead of a test that hangs; others may occupy the pool for long.
    /// - Returns: How many had come to their end before it opened; nil where the tasks did not go on.
    private static func goOn(
        until slow: Gate,
        limit: Double = Double(30 * Extent.minutesOfAHang),
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Int? {
        let (begun, ended, isLate) = (Counter(), Counter(), Lock(false))
        defer { slow.open() }
        Thread {
            let end = ContinuousClock.now + .seconds(limit)
            while !slow.passed, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.005) }
            guard !slow.passed else { return }
            isLate.withLock { $0 = true }
            slow.open()
        }.start()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<waiting {
                group.addTask {
                    begun.add()
                    try await body(number)
                    ended.add()
                }
            }
            while begun.value < waiting, !slow.passed { try await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<10 { await Task.yield() }
            let early = ended.value
            slow.open()
            try await group.waitForAll()
            return isLate.withLock { $0 } ? nil : early
        }
    }

    /// As many directories, in that of this test.
    private func directories() throws -> [TemporaryDirectory] {
        try (0..<Self.waiting).map { _ in try TemporaryDirectory(in: directory.path) }
    }

    /// Runs `body` in a directory of its own each time; files can be used when the tasks have gone on.
    private func goOnWhileFilesAreSlow(
        of directories: [TemporaryDirectory],
        _ body: @escaping @Sendable (Int, TemporaryDirectory) async throws -> Void
    ) async throws {
        let slow = Gate()
        try await FileUse.noted(in: directory.path) { call in
            // Locks, and the WAL's index, are used under a mutex of all databases, for which other tests may wait.
            if !call.isLock, !call.path.hasSuffix("-shm") { slow.wait() }
        } _: { use in
            let early = try await Self.goOn(until: slow) { try await body($0, directories[$0]) }
            #expect(early != nil && !use.calls.isEmpty)
        }
    }

    @Test func callThatBlocksIsFound() async throws {
        let slow = Gate()
        let early = try await Self.goOn(until: slow, limit: 0.2) { _ in slow.wait() }
        #expect(early == nil)
    }

    @Test(arguments: Kind.allCases, calls) func tasksGoOnWhileTurnIsAwaited(kind: Kind, call: Call) async throws {
        let (slow, directories) = (Gate(), try directories())
        var databases: [any DatabaseWriter] = []
        var held: [HeldBlock] = []
        for directory in directories {
            let database = try await kind.open(directory.file("test.db"), key)
            databases.append(database)
            held.append(try await HeldBlock { hold in try? database.inDatabase { _ in hold() } })
            // That of its one reader.
            if kind == .pool { held.append(try await HeldBlock { hold in try? database.read { _ in hold() } }) }
        }
        let letGo = Task { [held] in
            try await slow.waited()
            for block in held { try await block.end() }
        }
        let early = try await Self.goOn(until: slow) { [databases] in try await call.run(databases[$0], directories[$0])
        }
        #expect(call.takesTurn ? early == 0 : early != nil)
        try await letGo.value
    }

    @Test(arguments: Kind.allCases, calls) func tasksGoOnWhileCallIsSlow(kind: Kind, call: Call) async throws {
        let directories = try directories()
        var databases: [any DatabaseWriter] = []
        for directory in directories { databases.append(try await kind.open(directory.file("test.db"), key)) }
        try await goOnWhileFilesAreSlow(of: directories) { [databases] in
            try await call.run(databases[$0], $1)
            try await databases[$0].close()
        }
    }

    @Test(arguments: Kind.allCases) func tasksGoOnWhileOpeningIsSlow(kind: Kind) async throws {
        try await goOnWhileFilesAreSlow(of: directories()) { try await Self.open(kind, in: $1) }
    }

    @Test func tasksGoOnWhileKeyringIsSlow() async throws {
        try await goOnWhileFilesAreSlow(of: directories()) { try await Self.useKeyring(in: $1) }
    }

    @Test(arguments: Kind.allCases, Drop.allCases)
    func tasksGoOnWhileDroppedDatabaseIsSlow(kind: Kind, drop: Drop) async throws {
        try await goOnWhileFilesAreSlow(of: directories()) { [key] _, directory in
            let path = directory.file("test.db")
            try await drop.run { try await kind.open(path, key) }
            try await eventually { !FileManager.default.fileExists(atPath: path + "-wal") }
        }
    }
}
