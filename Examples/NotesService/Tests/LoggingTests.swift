import CipherDB
import Foundation
import InMemoryLogging
import Logging
import Testing

@Suite struct LoggingTests {
    private let scratch: Scratch
    private let log = InMemoryLogHandler()
    private let configuration: Configuration

    init() throws {
        scratch = try Scratch()
        let log = log
        var logger = Logger(label: "test", factory: { _ in log })
        logger.logLevel = .trace
        configuration = Configuration { $0.logger = logger }
    }

    private var text: String { log.entries.map { "\($0.message) \($0.metadata)" }.joined(separator: "\n") }

    @Test func openingUseAndClosingAreLogged() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random(), configuration: configuration)
        try queue.migrate([Migration("notes") { try $0.executeUpdate("CREATE TABLE notes (text)") }])
        try queue.rekey(.random())
        try queue.close()
        let told = log.entries.filter { $0.level > .trace }
        #expect(
            told.map { "\($0.message)" } == ["opened", "migrated", "opened", "the key was changed", "closed"]
        )
        #expect(told.allSatisfy { $0.metadata["database"] == "\(scratch.path)" })
        #expect(told[1].metadata["step"] == "notes")
    }

    @Test func statementsAreLoggedWithoutValues() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random(), configuration: configuration)
        try queue.inDatabase { database in
            try database.executeUpdate("CREATE TABLE notes (text UNIQUE)")
            try database.executeUpdate("INSERT INTO notes VALUES (?)", "secret milk")
            let word = "secret milk"
            #expect(try database.int(forQuery: "SELECT count(*) FROM notes WHERE text = \(word)") == 1)
            #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO notes VALUES (?)", word) }
        }
        #expect(text.contains("SELECT count(*) FROM notes WHERE text = ?"))
        #expect(!text.contains("milk"))
    }

    @Test func noKeyIsLogged() throws {
        var free = configuration
        free.unsafeAllowsAllSQL = true
        let queue = try DatabaseQueue(path: scratch.path, key: .passphrase("tr0ub4dor"), configuration: free)
        let other = scratch.directory + "/other.db"
        try queue.inDatabase { database in
            try database.executeUpdate("CREATE TABLE notes (text)")
            try? database.executeStatements(SQL(unsafe: "ATTACH '\(other)' AS other KEY 'tr0ub4dor'"))
            try? database.executeStatements("PRAGMA key = 'tr0ub4dor'")
            try? database.executeStatements("DETACH other")
        }
        try queue.rekey(.passphrase("tr0ub4dor too"))
        #expect(!text.contains("tr0ub4dor"))
        #expect(text.contains("opened"))
    }

    @Test func failuresAreLoggedOnceWithTheirCause() throws {
        let (key, other) = (try DatabaseKey.random(), Database(path: scratch.path))
        var impatient = configuration
        impatient.busyTimeout = .milliseconds(1)
        let queue = try DatabaseQueue(path: scratch.path, key: key, configuration: impatient)
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE notes (text)") }
        try other.open(key: key)
        try other.beginTransaction()
        for _ in 0..<50 {
            #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.executeUpdate("INSERT INTO notes VALUES (\("secret milk"))") }
            }
        }
        let failures = log.entries.filter { $0.level == .error }
        #expect(failures.count == 1)
        let failure = try #require(failures.first)
        #expect(failure.metadata["code"] == "busy (5)" && failure.metadata["failures"] == "1")
        #expect("\(failure.metadata["cause"] as Any)".contains("\(scratch.path): database is locked: waited "))
        #expect(!text.contains("milk"))
    }

    @Test func damagedPageIsLogged() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { database in
            try database.executeUpdate("CREATE TABLE notes (text)")
            for _ in 0..<100 { try database.executeUpdate("INSERT INTO notes VALUES (randomblob(1000))") }
        }
        let key = try DatabaseKey.random()
        try queue.rekey(key)
        try queue.close()
        let file = try #require(FileHandle(forUpdatingAtPath: scratch.path))
        try file.seek(toOffset: 4096 * 3 + 100)
        try file.write(contentsOf: Data([1, 2, 3, 4]))
        try file.close()
        let database = Database(path: scratch.path, configuration: configuration)
        #expect(throws: (any Error).self) {
            try database.open(key: key)
            _ = try database.int(forQuery: "SELECT sum(length(text)) FROM notes")
        }
        #expect(log.entries.contains { $0.level == .error && "\($0.message)".contains("damaged page") })
    }

    @Test func parametersOfURIAreNotLogged() throws {
        let path = "file:\(scratch.path)?mode=rwc#key=tr0ub4dor"
        let queue = try DatabaseQueue(
            path: path,
            key: .random(),
            configuration: configuration,
            flags: [.readWrite, .create, .uri]
        )
        try queue.close()
        #expect(log.entries.count > 1)
        #expect(!text.contains("tr0ub4dor") && !text.contains("mode=rwc"))
    }

    @Test func statementThatLooksLikeLibrarysIsLogged() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random(), configuration: configuration)
        _ = try queue.read { try $0.int(forQuery: "/* CipherDB */ SELECT 42") }
        #expect(text.contains("SELECT 42"))
    }

    /// Writes to a database what it is told, as a careless program might.
    private struct Handler: LogHandler {
        let queue: WeakQueue
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            _ = try? queue.queue?.inDatabase { try $0.int(forQuery: "SELECT 1") }
        }
    }

    private final class WeakQueue: @unchecked Sendable {
        // It holds because it is set before the queue is used by another thread.
        weak var queue: DatabaseQueue?
    }

    @Test func loggerThatUsesQueueDoesNotHang() throws {
        let reference = WeakQueue()
        var logger = Logger(label: "test", factory: { _ in Handler(queue: reference) })
        logger.logLevel = .trace
        let queue = try DatabaseQueue(
            path: scratch.path,
            key: .random(),
            configuration: Configuration { $0.logger = logger }
        )
        reference.queue = queue
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE notes (text)") }
        try queue.close()
    }

    @Test func withoutLoggerNothingIsLogged() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.close()
        #expect(log.entries.isEmpty)
    }
}
