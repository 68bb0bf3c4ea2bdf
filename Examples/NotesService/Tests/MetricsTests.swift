import CipherDB
import Foundation
import Metrics
import MetricsTestKit
import Testing

@Suite struct MetricsTests {
    private let metrics = Backends.metrics
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func times(_ label: String, _ access: String) throws -> [Int64] {
        try metrics.expectTimer(label, [("database", scratch.name), ("access", access)]).values
    }

    @Test func statementsAreTimed() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { try $0.executeUpdate("CREATE TABLE notes (text)") }
        let writes = try times("cipherdb.statement.duration", "write").count
        try queue.inDatabase { database in
            for number in 0..<10 { try database.executeUpdate("INSERT INTO notes VALUES (?)", number) }
        }
        #expect(try times("cipherdb.statement.duration", "write").count == writes + 10)
        let reads = try times("cipherdb.statement.duration", "read").count
        try queue.inDatabase { database in
            let rows = try database.executeQuery("SELECT text FROM notes")
            while try rows.next() { Thread.sleep(forTimeInterval: 0.001) }
        }
        let newReads = try times("cipherdb.statement.duration", "read").dropFirst(reads)
        #expect(newReads.count == 1)
        #expect(try #require(newReads.first) > 10_000_000)
    }

    @Test func waitsForConnectionAreTimed() async throws {
        let pool = try await DatabasePool(
            path: scratch.path,
            key: .random(),
            configuration: Configuration { $0.maximumReaders = 1 }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask { try await pool.read { _ in Thread.sleep(forTimeInterval: 0.02) } }
                group.addTask { try await pool.write { _ in Thread.sleep(forTimeInterval: 0.02) } }
            }
            try await group.waitForAll()
        }
        // The third waits for two others.
        for access in ["read", "write"] {
            let waits = try times("cipherdb.connection.wait", access)
            #expect(waits.count >= 3)
            #expect(try #require(waits.max()) > 30_000_000)
        }
    }

    @Test func statementCacheIsCounted() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { database in
            for _ in 0..<5 { _ = try database.int(forQuery: "SELECT 42") }
            let statistics = database.statementCacheStatistics
            let hits = try metrics.expectCounter("cipherdb.statement_cache.hits", [("database", scratch.name)])
            let misses = try metrics.expectCounter("cipherdb.statement_cache.misses", [("database", scratch.name)])
            #expect(hits.totalValue >= 4)
            #expect(hits.totalValue == Int64(statistics.hits))
            #expect(misses.totalValue == Int64(statistics.misses))
        }
    }

    @Test func failuresAreCountedByCode() throws {
        let (key, other) = (try DatabaseKey.random(), Database(path: scratch.path))
        let impatient = Configuration { $0.busyTimeout = .milliseconds(1) }
        let queue = try DatabaseQueue(path: scratch.path, key: key, configuration: impatient)
        try other.open(key: key)
        try other.beginTransaction()
        for _ in 0..<20 { #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.beginTransaction() } } }
        let count = { [metrics, scratch] in
            try metrics.expectCounter("cipherdb.failures", [("database", scratch.name), ("code", $0)]).totalValue
        }
        #expect(try count("busy") == 20)
        #expect(try count("full") == 0)
    }

    @Test func connectionsOfOneNameShareTheirMetrics() throws {
        func timers() -> Int { metrics.timers.filter { $0.dimensions.contains { $0.1 == scratch.name } }.count }
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        let one = timers()
        for _ in 0..<10 { try queue.openConnection().close() }
        #expect(one > 0 && timers() == one)
    }

    @Test func databaseThatIsRefusedHasNoMetrics() {
        let path = "file:\(scratch.path)?key=tr0ub4dor"
        #expect(throws: (any Error).self) { try DatabaseQueue(path: path, key: .random(), flags: [.readWrite, .uri]) }
        _ = Database(path: path)
        #expect(!metrics.timers.contains { $0.dimensions.contains { $0.1.contains("tr0ub4dor") } })
    }

    @Test func derivationIsTimed() throws {
        func derivations() -> Int { metrics.timers(label: "cipherdb.key_derivation.duration").flatMap(\.values).count }
        let before = derivations()
        try DatabaseQueue(path: scratch.path, key: .passphrase("correct horse battery staple")).close()
        #expect(derivations() > before)
    }
}
