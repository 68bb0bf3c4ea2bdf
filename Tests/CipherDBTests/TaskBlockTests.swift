import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// A block of an asynchronous call runs in the caller's task.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct TaskBlockTests {
    @TaskLocal static var name = "none"

    /// The calls that take a block.
    enum Call: CaseIterable, Sendable {
        case read, write, inDatabase, inTransaction, inTransactionWithFlag, inSavePoint, inSavePointWithFlag

        func run(_ database: some DatabaseWriter, _ body: @Sendable (Database) throws -> String) async throws -> String
        {
            switch self {
            case .read: try await database.read(body)
            case .write: try await database.write(body)
            case .inDatabase: try await database.inDatabase(body)
            case .inTransaction: try await database.inTransaction(.deferred, body)
            case .inTransactionWithFlag: try await database.inTransaction { database, _ in try body(database) }
            case .inSavePoint: try await database.inSavePoint(body)
            case .inSavePointWithFlag: try await database.inSavePoint { database, _ in try body(database) }
            }
        }
    }

    enum Kind: CaseIterable, Sendable {
        case queue, pool
    }

    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func database(_ kind: Kind) throws -> any DatabaseWriter {
        let database: any DatabaseWriter =
            switch kind {
            case .queue: try DatabaseQueue(path: directory.file("test.db"), key: .random())
            case .pool: try DatabasePool(path: directory.file("test.db"), key: .random())
            }
        try database.write { try $0.executeStatements("CREATE TABLE t (a)") }
        return database
    }

    private func count(_ database: some DatabaseReader) throws -> Int? {
        try database.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
    }

    private static let endless: SQL =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"

    /// A task whose block runs a statement that does not end by itself.
    private func endless(
        _ call: Call,
        _ database: any DatabaseWriter
    ) async throws -> Task<String, any Error> {
        let started = Gate()
        let task = Task {
            try await call.run(database) { database in
                started.open()
                return try database.string(forQuery: Self.endless) ?? ""
            }
        }
        try await started.waited()
        return task
    }

    @Test(arguments: Kind.allCases, Call.allCases)
    func blockSeesTaskLocalValuesOfItsCaller(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        let seen = try await Self.$name.withValue("caller") { try await call.run(database) { _ in Self.name } }
        #expect(seen == "caller")
    }

    @Test(arguments: Kind.allCases, Call.allCases)
    func blockThatLooksForCancellationEnds(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        let started = Gate()
        let task = Task {
            try await call.run(database) { database in
                if call != .read { try database.executeUpdate("INSERT INTO t VALUES (1)") }
                started.open()
                while true { try Task.checkCancellation() }
            }
        }
        try await started.waited()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count(database) == (call == .inDatabase ? 1 : 0))
    }

    @Test(arguments: Kind.allCases, Call.allCases)
    func statementOfCancelledTaskEndsInCancellation(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        let task = try await endless(call, database)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count(database) == 0)
    }

    @Test(arguments: Kind.allCases, Call.allCases)
    func blockOfCancelledTaskDoesNotBegin(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        let began = Counter()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await call.run(database) { _ in
                began.add()
                return ""
            }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(began.value == 0)
    }

    @Test(arguments: Kind.allCases, Call.allCases)
    func interruptionIsErrorOfDatabase(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        let task = try await endless(call, database)
        let interruption = Task {
            while !Task.isCancelled {
                database.interrupt()
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        await #expect { try await task.value } throws: { ($0 as? DatabaseError)?.code.primary == .interrupted }
        interruption.cancel()
    }

    @Test func migrationOfCancelledTaskIsUndone() async throws {
        let database = try database(.queue)
        let started = Gate()
        let steps = [
            Migration("first") { try $0.executeStatements("INSERT INTO t VALUES (1)") },
            Migration("endless") { database in
                try database.executeStatements("INSERT INTO t VALUES (2)")
                started.open()
                _ = try database.int(forQuery: Self.endless)
            },
        ]
        let task = Task { try await database.migrate(steps) }
        try await started.waited()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try count(database) == 1)
        #expect(try await database.inDatabase { try $0.completedMigrations.map(\.name) } == ["first"])
    }

    /// A full-text index keeps a statement of its own active until the transaction ends.
    @Test(
        .enabled(if: Engine.current.has(.fts5), "this engine has no FTS5"),
        arguments: Kind.allCases,
        Call.allCases.filter { $0 != .read }
    )
    func cancelledFullTextChangeIsUndone(kind: Kind, call: Call) async throws {
        let database = try database(kind)
        try await database.write { database in
            try database.executeStatements("CREATE TABLE text (id INTEGER PRIMARY KEY, a)")
            try database.createFullTextIndex("found", on: "text", columns: ["a"])
            for number in 0..<100 { try database.executeUpdate("INSERT INTO text (a) VALUES (\("word \(number)"))") }
        }
        let began = Gate()
        let task = Task {
            try await call.run(database) { database in
                try database.executeUpdate("DELETE FROM text WHERE a <> 'word 7'")
                began.open()
                return try database.string(forQuery: Self.endless) ?? ""
            }
        }
        try await began.waited()
        try await Task.sleep(for: .milliseconds(20))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let kept = call == .inDatabase ? 1 : 100
        #expect(try await database.read { try $0.int(forQuery: "SELECT count(*) FROM text") } == kept)
        try await database.write { database in
            let pattern = try #require(FTS5Pattern(matchingAllTokensIn: "word 7"))
            #expect(try database.int(forQuery: "SELECT count(*) FROM found WHERE found MATCH \(pattern)") == 1)
            try database.executeUpdate("DELETE FROM text")
            try database.executeUpdate("INSERT INTO found (found) VALUES ('integrity-check')")
        }
        try await database.close()
    }
}
