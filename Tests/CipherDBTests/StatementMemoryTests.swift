import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// What a statement keeps in memory has a limit. One test at a time: the engine counts the memory of all.
@Suite(.serialized) struct StatementMemoryTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let key: DatabaseKey

    /// 40 MB of rows, more than the cache of pages.
    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("vault.db")
        key = try .raw(SecretBytes(copying: (0..<32).map { UInt8($0) }))
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { database in
            try database.executeUpdate("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
            try fill(database)
        }
        try queue.close()
    }

    private func fill(_ database: Database) throws {
        try database.executeUpdate(
            """
            WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 20000)
            INSERT INTO notes (text) SELECT hex(randomblob(1000)) FROM number
            """
        )
    }

    private func configuration(limit: Int) -> Configuration {
        Configuration {
            $0.pageCacheSize = 1 << 20
            $0.statementMemoryLimit = limit
        }
    }

    // What other tests take counts too: a limit that is to be met is small, one that is not is large.
    private func open(limit: Int) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, key: key, configuration: configuration(limit: limit))
    }

    static let statements: [SQL] = [
        "CREATE INDEX notes_text ON notes (text)",
        "CREATE TEMPORARY TABLE copies AS SELECT * FROM notes",
        "INSERT INTO notes (text) SELECT text FROM notes ORDER BY text",
    ]

    @Test(arguments: statements.indices) func statementOverItsLimitIsUndone(_ index: Int) throws {
        let statement = Self.statements[index]
        let limited = try open(limit: 0)
        #expect {
            try limited.inDatabase { try $0.executeUpdate(statement) }
        } throws: {
            ($0 as? DatabaseError)?.code == .outOfMemory && "\($0)".contains("Configuration.statementMemoryLimit")
        }
        try limited.close()
        let free = try open(limit: .max)
        try free.inDatabase { database in
            #expect(try database.int(forQuery: "SELECT count(*) FROM notes") == 20000)
            #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE type = 'index'") == 0)
            try database.executeUpdate(statement)
        }
        #expect(try free.integrityCheck() == [])
        try free.close()
    }

    @Test func rowsOfSortOverItsLimitAreNotGiven() throws {
        let queue = try open(limit: 0)
        try queue.inDatabase { database in
            let rows = try database.executeQuery("SELECT text FROM notes ORDER BY text")
            #expect { try rows.next() } throws: { ($0 as? DatabaseError)?.code == .outOfMemory }
        }
        try queue.close()
    }

    @Test func eachStatementHasItsOwnLimit() throws {
        let queue = try open(limit: 200 << 20)
        try queue.inDatabase { database in
            for name in ["a", "b", "c"] {
                try database.executeUpdate(
                    """
                    CREATE TEMPORARY TABLE \(identifier: name) AS
                    SELECT zeroblob(3000) FROM notes WHERE id <= 20000
                    """
                )
            }
        }
        try queue.close()
    }

    @Test func limitHoldsInEachConnectionOfPool() async throws {
        let pool = try await DatabasePool(path: path, key: key, configuration: configuration(limit: 0))
        // Another test may give back as much as this one takes.
        var code: ResultCode?
        for _ in 0..<5 where code == nil {
            do {
                try await pool.read { _ = try $0.executeQuery("SELECT text FROM notes ORDER BY text").next() }
            } catch let error as DatabaseError {
                code = error.code
            }
        }
        #expect(code == .outOfMemory)
        // A change of key makes another connection.
        try await pool.rekey(.raw(SecretBytes(copying: (1...32).map { UInt8($0) })))
        await #expect {
            try await pool.write { try $0.executeUpdate("CREATE INDEX notes_text ON notes (text)") }
        } throws: {
            ($0 as? DatabaseError)?.code == .outOfMemory
        }
        try await pool.close()
    }

    /// In a process of its own, whose memory nothing else takes.
    @Test func memoryOfIndexIsGivenBackByClose() async {
        await #expect(processExitsWith: .success) {
            func residentKiB() throws -> Int {
                let line = try processInformation("status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
                return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
            }
            let directory = try TemporaryDirectory()
            let queue = try DatabaseQueue(path: directory.file("test.db"), key: .random())
            try queue.inDatabase {
                try $0.executeStatements(
                    """
                    CREATE TABLE t (a); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                    INSERT INTO t SELECT hex(randomblob(1000)) FROM n
                    """
                )
            }
            let before = try residentKiB()
            try queue.inDatabase { try $0.executeStatements("CREATE INDEX i ON t (a)") }
            let taken = try residentKiB() - before
            try queue.close()
            let kept = try residentKiB() - before
            print("\(taken) KiB were taken, \(kept) are kept")
            exit(kept < max(10_000, taken / 2) ? EXIT_SUCCESS : EXIT_FAILURE)
        }
    }

    @Test func databaseInMemoryHasNoLimit() throws {
        let database = Database(path: nil, configuration: Configuration { $0.statementMemoryLimit = 0 })
        try database.open()
        try database.executeUpdate("CREATE TABLE notes (id INTEGER PRIMARY KEY, text)")
        try fill(database)
        #expect(try database.int(forQuery: "SELECT count(*) FROM notes") == 20000)
    }
}
