import CipherDB
import Foundation
import TestSupport
import Testing

@Suite struct BlobTests {
    let directory: TemporaryDirectory
    let queue: DatabaseQueue

    init() throws {
        directory = try TemporaryDirectory()
        queue = try DatabaseQueue(path: directory.file("test.db"), key: .sample("secret"))
        try queue.inDatabase { database in
            try database.executeStatements(
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, data, other);
                INSERT INTO t VALUES (1, zeroblob(100000), 1), (2, x'0a0b0c', 2), (3, 'text', 3), (4, NULL, 4);
                """
            )
        }
    }

    @Test func bytesAreWrittenAndReadInPieces() throws {
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 1, writable: true)
            #expect(try blob.count == 100000)
            for piece in 0..<10 { try blob.write(Data(repeating: UInt8(piece), count: 10000), at: piece * 10000) }
            #expect(try blob.read(at: 19999, count: 2) == Data([1, 2]))
            var buffer = [UInt8](repeating: 0xff, count: 4)
            try buffer.withUnsafeMutableBytes { try blob.read(into: $0, at: 99996) }
            #expect(buffer == [9, 9, 9, 9])
            #expect(try blob.read(at: 100000, count: 0).isEmpty)
            try blob.close()
            try blob.close()
            let whole = try database.data(forQuery: "SELECT data FROM t WHERE id = 1")
            #expect(whole == Data((0..<10).flatMap { [UInt8](repeating: UInt8($0), count: 10000) }))
        }
        // Encrypted as everything else.
        let file = try Data(contentsOf: URL(fileURLWithPath: directory.file("test.db")))
        #expect(file.range(of: Data(repeating: 7, count: 32)) == nil)
    }

    @Test func itGoesToAnotherRow() throws {
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 1)
            try blob.move(toRow: 2)
            #expect(try blob.read(at: 0, count: 3) == Data([10, 11, 12]))
            try blob.move(toRow: 3)
            #expect(try blob.read(at: 0, count: 4) == Data("text".utf8))
            #expect(throws: DatabaseError.self) { try blob.move(toRow: 99) }
        }
    }

    @Test func missingRowAndRangeAreRefused() throws {
        try queue.inDatabase { database in
            for (table, column, row) in [("no", "data", 1), ("t", "no", 1), ("t", "data", 99), ("t", "data", 4)] {
                #expect(throws: DatabaseError.self) {
                    try database.openBlob(inTable: table, column: column, row: Int64(row))
                }
            }
            let blob = try database.openBlob(inTable: "t", column: "data", row: 2)
            for (offset, count) in [(-1, 1), (0, 4), (3, 1), (4, 0), (0, -1), (Int.max, 1), (1, Int.max)] {
                #expect(throws: DatabaseError.self) { try blob.read(at: offset, count: count) }
            }
            #expect(throws: DatabaseError.self) { try blob.write(Data([1]), at: 0) }
            #expect(try database.data(forQuery: "SELECT data FROM t WHERE id = 2") == Data([10, 11, 12]))
        }
    }

    @Test func blobOfChangedRowIsError() throws {
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 2)
            try database.executeUpdate("UPDATE t SET other = 7 WHERE id = 2")
            #expect { try blob.read(at: 0, count: 1) } throws: {
                ($0 as? DatabaseError)?.code == .aborted && "\($0)".contains("open it again")
            }
        }
    }

    @Test func itIsClosedWithItsBlock() throws {
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 1)
            #expect(database.hasOpenResultSets)
            #expect(throws: RekeyError.self) { try database.rekey(.sampleKey("new")) }
            // Kept alive to the block's end and longer.
            try database.makeFunction(named: "keep") { [size = try blob.count] _ in size }
        }
        let other = try queue.openConnection()
        other.busyTimeout = .zero
        try other.inTransaction(.exclusive) { try $0.executeUpdate("DELETE FROM t") }
    }

    @Test func failedBlobCommitIsReported() throws {
        let other = Database(path: directory.file("test.db"))
        try other.open(key: .sample("secret"))
        try queue.inDatabase { $0.busyTimeout = .milliseconds(10) }
        let reading = try other.executeQuery("SELECT * FROM t")
        #expect(try reading.next())
        let isBusy: @Sendable (any Error) -> Bool = { ($0 as? DatabaseError)?.code.primary == .busy }
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 2, writable: true)
            try blob.write(Data([1, 2, 3]), at: 0)
            #expect(performing: { try blob.close() }, throws: isBusy)
        }
        #expect(
            performing: {
                try queue.inDatabase { database in
                    try database.openBlob(inTable: "t", column: "data", row: 2, writable: true).write(Data([1]), at: 0)
                }
            },
            throws: isBusy
        )
        try queue.inDatabase { database in
            do {
                let blob = try database.openBlob(inTable: "t", column: "data", row: 2, writable: true)
                try blob.write(Data([1]), at: 0)
            }
            #expect(performing: { try database.executeQuery("SELECT 1") }, throws: isBusy)
            #expect(try database.int(forQuery: "SELECT 1") == 1, "it is thrown once")
        }
        struct Other: Error {}
        #expect(throws: Other.self) {
            try queue.inDatabase { database in
                try database.openBlob(inTable: "t", column: "data", row: 2, writable: true).write(Data([1]), at: 0)
                throw Other()
            }
        }
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT 1") } == 1, "no other block is told of it")
        reading.close()
        #expect(
            try queue.inDatabase { try $0.data(forQuery: "SELECT data FROM t WHERE id = 2") } == Data([10, 11, 12])
        )
    }

    @Test func writingToReadOnlyBlobThrows() throws {
        try queue.inDatabase { database in
            let blob = try database.openBlob(inTable: "t", column: "data", row: 2)
            #expect { try blob.write(Data([1]), at: 0) } throws: { "\($0)".contains("writable: true") }
        }
    }
}
