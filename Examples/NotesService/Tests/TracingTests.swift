import CipherDB
import Foundation
import InMemoryTracing
import Testing
import Tracing

@Suite struct TracingTests {
    private let tracer = Backends.tracer
    private let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func span(_ sql: String) throws -> FinishedInMemorySpan {
        try #require(scratch.spans.last { $0.sql == sql })
    }

    @Test func blockIsSpanWithItsStatements() async throws {
        let pool = try await DatabasePool(path: scratch.path, key: .random())
        try await pool.write { try $0.executeUpdate("CREATE TABLE notes (text)") }
        let request = try await withSpan("request") { span in
            try await pool.write { try $0.executeUpdate("INSERT INTO notes VALUES ('in a task')") }
            _ = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM notes") }
            return span.context.inMemorySpanContext
        }
        for (block, sql) in [
            ("write", "INSERT INTO notes VALUES ('in a task')"), ("read", "SELECT count(*) FROM notes"),
        ] {
            let statement = try span(sql)
            let parent = try #require(scratch.spans.first { $0.spanID == statement.parentSpanID })
            #expect(parent.operationName == block)
            #expect(parent.parentSpanID == request?.spanID)
            #expect(statement.traceID == request?.traceID)
            #expect(statement.kind == .client)
            #expect(statement.operationName == sql.prefix(6))
        }
        #expect(scratch.spans.contains { $0.sql == "COMMIT" })
    }

    @Test func blockThatWaitsIsSpanToo() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        let id = try withSpan("job") { span in
            try queue.write { try $0.executeUpdate("CREATE TABLE jobs (name)") }
            _ = try queue.read { try $0.int(forQuery: "SELECT count(*) FROM jobs") }
            return span.context.inMemorySpanContext?.spanID
        }
        let blocks = scratch.spans.filter { $0.parentSpanID == id }
        #expect(blocks.map(\.operationName) == ["write", "read"])
        #expect(try span("SELECT count(*) FROM jobs").parentSpanID == blocks[1].spanID)
    }

    @Test func spansHaveSQLAndNoValues() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { database in
            try database.executeUpdate("CREATE TABLE notes (text UNIQUE)")
            let text = "secret milk"
            try database.executeUpdate("INSERT INTO notes VALUES (\(text))")
            #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO notes VALUES (\(text))") }
            #expect(throws: DatabaseError.self) { try database.int(forQuery: "SELECT json_extract(?, '$')", text) }
        }
        #expect(try span("INSERT INTO notes VALUES (?)").sql != nil)
        for span in scratch.spans {
            #expect(
                !"\(span.attributes) \(span.events) \(span.errors) \(String(describing: span.status))".contains("milk")
            )
            #expect(!span.operationName.contains("milk"))
        }
    }

    @Test func failedStatementIsFailedSpan() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        #expect(throws: DatabaseError.self) {
            try queue.write { database in
                try database.executeUpdate("CREATE TABLE notes (text UNIQUE)")
                for _ in 0..<2 { try database.executeUpdate("INSERT INTO notes VALUES (1)") }
            }
        }
        let failed = try span("INSERT INTO notes VALUES (1)")
        #expect(failed.status?.code == .error)
        #expect("\(failed.attributes["db.response.status_code"] as Any)".contains("2067"))
        let block = try #require(scratch.spans.first { $0.spanID == failed.parentSpanID })
        #expect(block.errors.count == 1)
    }

    @Test func commitThatFailsLateIsFailedSpan() throws {
        guard Engine.current.has(.returning) else { return }
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { database in
            try database.executeStatements(
                "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p (id))"
            )
        }
        #expect(throws: DatabaseError.self) {
            try queue.inDatabase { database in
                let rows = try database.executeQuery("INSERT INTO c VALUES (99) RETURNING p")
                #expect(try rows.next())
                rows.close()
            }
        }
        #expect(try span("INSERT INTO c VALUES (99) RETURNING p").status?.code == .error)
    }

    @Test func noSpanIsLeftOpen() throws {
        let queue = try DatabaseQueue(path: scratch.path, key: .random())
        try queue.inDatabase { database in
            let rows = try database.executeQuery("SELECT 1 UNION SELECT 2")
            #expect(try rows.next())
        }
        #expect(try span("SELECT 1 UNION SELECT 2").operationName == "SELECT")
    }
}
