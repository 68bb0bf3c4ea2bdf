import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

/// What other connections can do while a change of key waits for them.
@Suite struct RekeyWaitingTests {
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func open(_ mode: JournalMode, waiting: Duration = .zero) throws -> Database {
        let database = Database(
            path: path,
            configuration: Configuration {
                $0.journalMode = mode
                $0.busyTimeout = waiting
            }
        )
        try database.open(key: .sample("old"))
        return database
    }

    private func make(_ mode: JournalMode) throws -> Database {
        let database = try open(mode)
        try database.executeStatements(SampleFile.content)
        return database
    }

    @Test(arguments: [JournalMode.delete, .truncate, .persist])
    func writerCommitsWhileRekeyWaits(mode: JournalMode) throws {
        let database = try make(mode)
        let writer = try open(mode)
        try writer.beginTransaction(.immediate)
        try writer.executeUpdate("DELETE FROM people")
        let outcome = Outcome()
        let held = Held(writer)
        database.setBusyHandler { attempts in
            if attempts == 0 { outcome.run { try held.database.commit() } }
            return attempts < 3
        }
        try database.rekey(.sample("new"))
        #expect(outcome.errors == [])
        #expect(try database.int(forQuery: "SELECT count(*) FROM people") == 0)
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func openingIsNotBlockedByWaitingRekey(mode: JournalMode) throws {
        let database = try make(mode)
        let other = try open(mode)
        try other.beginTransaction(.immediate)
        try other.executeUpdate("DELETE FROM people WHERE id = 1")
        let outcome = Outcome()
        let held = Held(other)
        let path = path
        database.setBusyHandler { attempts in
            outcome.run {
                let third = Database(path: path, configuration: Configuration { $0.busyTimeout = .zero })
                try third.open(key: .sample("old"))
                _ = try third.int(forQuery: "SELECT count(*) FROM people")
                third.close()
            }
            if attempts == 1 {
                outcome.run { try held.database.commit() }
                held.database.close()
            }
            return attempts < 10
        }
        try database.rekey(.sample("new"))
        #expect(outcome.errors == [])
        #expect(outcome.calls > 2)
    }

    @Test(arguments: [JournalMode.delete, .wal]) func refusedChangeOfKeyKeepsNoLock(mode: JournalMode) throws {
        let database = try make(mode)
        let other = try open(mode)
        try other.beginTransaction(.immediate)
        #expect(throws: DatabaseError.self) { try database.rekey(.sample("new")) }
        try other.executeUpdate("DELETE FROM people")
        try other.commit()
        let third = try open(mode)
        try third.executeUpdate("INSERT INTO people (name) VALUES ('later')")
        #expect(try database.int(forQuery: "SELECT count(*) FROM people") == 1)
        try database.executeUpdate("INSERT INTO people (name) VALUES ('own')")
    }

    /// One after the other, in one run: what a statement waits for a lock, and what a change of key does.
    @Test(arguments: [JournalMode.delete, .wal]) func changeOfKeyWaitsOnce(mode: JournalMode) throws {
        let database = try make(mode)
        database.busyTimeout = .seconds(1)
        let other = try open(mode)
        try other.beginTransaction(.immediate)
        let clock = ContinuousClock()
        func ratio() -> Double {
            let statement = clock.measure {
                #expect(throws: DatabaseError.self) { try database.executeUpdate("DELETE FROM people") }
            }
            let change = clock.measure { #expect(throws: DatabaseError.self) { try database.rekey(.sample("new")) } }
            return change / statement
        }
        // A pause of the machine lengthens one of them; one that waits twice takes twice as long each time.
        #expect((0..<10).contains { _ in ratio() < 1.5 })
    }
}

/// The database of one test, used in the busy handler of another on the same thread.
private final class Held: @unchecked Sendable {
    // Only one thread ever uses it: that of the test, which waits in the handler.
    let database: Database
    init(_ database: Database) { self.database = database }
}

private final class Outcome: Sendable {
    private let results = Lock<(calls: Int, errors: [String])>((0, []))
    var calls: Int { results.withLock { $0.calls } }
    var errors: [String] { results.withLock { $0.errors } }

    func run(_ body: () throws -> Void) {
        var message: String?
        do { try body() } catch { message = "\(error)" }
        results.withLock {
            $0.calls += 1
            if let message { $0.errors.append(message) }
        }
    }
}
