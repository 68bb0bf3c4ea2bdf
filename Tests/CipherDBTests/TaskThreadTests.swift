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
            let configuration = Configuration { $0.journalMode = .wal }
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
        let run: @Sendable (any DatabaseWriter, TemporaryDirectory) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (any DatabaseWriter, TemporaryDirectory) async throws -> Void) {
            testDescription = name
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
        Call("continuous backup") { database, directory in
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
            let secret = try Self.secret()
            let keyring = Keyring(besideDatabase: path)
            let unlocked = try await keyring.create(with: secret)
            let first = try await kind.open(path, unlocked, Configuration { $0.journalMode = .delete })
            try await first.write { try $0.executeStatements("CREATE TABLE t (a)") }
            try await first.rotateKey(of: unlocked)
            try await first.close()
            try await kind.open(path, keyring, secret).close()
            try await kind.open(URL(fileURLWithPath: path), unlocked.databaseKey()).close()
            await expect(throws: KeyError.wrongKey) { _ = try await kind.open(path, .random()) }
            #expect(use.ofPool.isEmpty)
        }
    }

    @Test func keyringUsesNoFileOnPool() async throws {
        try await FileUse.noted(in: directory.path) { use in
            let (first, second) = (try Self.secret(), try Self.secret())
            let keyring = Keyring(path: directory.file("keyring"))
            try await keyring.create(with: first)
            let unlocked = try await keyring.unlock(first)
            _ = try await unlocked.add(second, label: "second")
            try await unlocked.change(slot: 2, to: Self.secret(), label: "second")
            try await unlocked.change(label: "second", to: second)
            try await keyring.change(second, to: Self.secret())
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
            #expect(!use.calls.isEmpty && use.ofPool.isEmpty)
        }
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

    /// More databases than the pool has threads wait for their files, until a task among the others has had its turn ten times.
    @Test(arguments: Kind.allCases) func tasksGoOnWhileFilesAreSlow(kind: Kind) async throws {
        let count = Platform.processorCount + 2
        var databases: [any DatabaseWriter] = []
        for number in 0..<count { databases.append(try await kind.open(directory.file("\(number).db"), key)) }
        let ticked = Gate()
        let waiting = Counter()
        let hasTicked = Lock(true)
        // Instead of a test that hangs; other tests may occupy the pool for long.
        let longest = 30 * Extent.minutesOfAHang
        Thread {
            Thread.sleep(forTimeInterval: Double(longest))
            if !ticked.passed { hasTicked.withLock { $0 = false } }
            ticked.open()
        }.start()
        try await FileUse.noted(in: directory.path) { call in
            // Locks, and the WAL's index, are used under a mutex of all databases.
            guard call.path.hasSuffix("-wal") else { return }
            if !ticked.passed { waiting.add() }
            ticked.wait()
        } _: { _ in
            let closing = Task { [databases] in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for database in databases { group.addTask { try await database.close() } }
                    try await group.waitForAll()
                }
            }
            try await eventually(within: .seconds(longest)) { waiting.value >= count }
            for _ in 0..<10 { await Task.yield() }
            ticked.open()
            try await closing.value
        }
        #expect(hasTicked.withLock { $0 })
    }
}
