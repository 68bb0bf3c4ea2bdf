import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// A single flipped bit, and everything that meets it: each is an error, and nothing of the page gets out.
@Suite struct FlippedBitTests {
    let directory: TemporaryDirectory
    let path: String
    let key: DatabaseKey
    private static let own = Engine.current.formats.first?.version ?? 4
    /// Reads every page: of the schema, the table, its long values and the index.
    private static let query: SQL =
        "SELECT group_concat(id || a || hex(b)) || (SELECT count(*) FROM t INDEXED BY i WHERE a > '') FROM t"

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .random()
    }

    private func make(_ layout: CipherFormat) throws -> String {
        let database = Database(path: path, configuration: Configuration { $0.format = layout })
        try database.open(key: key)
        try database.executeStatements(
            "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b BLOB); CREATE INDEX i ON t (a)"
        )
        for number in 1...30 {
            let long = number % 10 == 0 ? 3000 : 20
            try database.executeUpdate("INSERT INTO t VALUES (?, hex(randomblob(20)), randomblob(?))", number, long)
        }
        defer { database.close() }
        return try #require(try database.string(forQuery: Self.query))
    }

    private func flip(_ bit: Int) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? handle.close() }
        try handle.seek(toOffset: UInt64(bit / 8))
        let byte = try #require(try handle.read(upToCount: 1)?.first)
        try handle.seek(toOffset: UInt64(bit / 8))
        try handle.write(contentsOf: [byte ^ 1 << (bit % 8)])
    }

    private func open(_ name: String, _ layout: CipherFormat) throws -> Database {
        let database = Database(path: directory.file(name), configuration: Configuration { $0.format = layout })
        try database.open(key: key)
        return database
    }

    /// What is read of the file; nil for an error.
    private func read(_ layout: CipherFormat) -> String? {
        guard let database = try? open("test.db", layout) else { return nil }
        defer { database.close() }
        return try? database.string(forQuery: Self.query)
    }

    /// What came into another database by a backup, and by a statement that reads the one and writes the other.
    private struct Copied: Equatable {
        var isBackedUp = false
        var tables = 0
        var isInserted = false
        var rows: String?
    }

    private func copied(_ layout: CipherFormat) throws -> Copied {
        var copied = Copied()
        let target = try open("target.db", layout)
        defer {
            target.close()
            try? FileManager.default.removeItem(atPath: target.path ?? "")
        }
        guard let source = try? open("test.db", layout) else { return copied }
        defer { source.close() }
        copied.isBackedUp = (try? source.backup(to: target)) != nil
        copied.tables = try target.int(forQuery: "SELECT count(*) FROM sqlite_master") ?? -1
        try target.executeStatements("CREATE TABLE other (id, a, b)")
        let isAttached = (try? target.attach(path, as: "s", key: key)) != nil
        copied.isInserted = isAttached && (try? target.executeUpdate("INSERT INTO other SELECT * FROM s.t")) != nil
        copied.rows = try target.string(forQuery: "SELECT group_concat(id || a || hex(b)) FROM other")
        return copied
    }

    @Test(arguments: [3, 4].filter { $0 <= own })
    func everyFlippedBitIsAnError(format: Int) throws {
        let layout = try CipherFormat(#require(CipherFormat.standard.first { $0.version == format })) {
            $0.pageSize = 1024
        }
        let expected = try make(layout)
        #expect(read(layout) == expected)
        let size = try FileState(path).bytes.count
        let file = DatabaseFile(path: path)
        var trials = RandomTrials(
            "bits flipped under queries of format \(format)",
            "CIPHERDB_FLIPS",
            rounds: Extent.share(of: 40)
        )
        var padding = 0
        while trials.goesOn() {
            let bit = Int.random(in: 0..<(size * 8), using: &trials.random)
            let page = bit / 8 / 1024 + 1
            // The last 12 bytes of a page of format 3 are not authenticated, and hold nothing.
            if format == 3, bit / 8 % 1024 >= 1012 {
                padding += 1
                continue
            }
            try flip(bit)
            defer { try? flip(bit) }
            #expect(read(layout) == nil, "bit \(bit)")
            let copy = try copied(layout)
            // The statement reads the table only: the pages of the index are not met.
            let isOfTheIndex = page > 1 && copy == Copied(isInserted: true, rows: String(expected.dropLast(2)))
            #expect(copy == Copied() || isOfTheIndex, "bit \(bit): \(copy)")
            #expect(throws: (any Error).self) {
                try file.copy(key: key, to: directory.file("copy.db"), newKey: .random())
            }
            #expect((try? file.verify(key: key, checksStructure: false))?.damagedPages ?? [page] == [page])
            #expect(directory.names == ["test.db"], "bit \(bit)")
        }
        #expect(padding < trials.rounds && read(layout) == expected)
    }
}
