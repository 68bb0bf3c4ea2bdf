import CipherDB
import CipherKeys
import CipherPages
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite struct MapTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func everyPageKindIsNamed(mode: JournalMode) throws {
        let key = try DatabaseKey.random()
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.journalMode = mode })
        let (pages, free, size) = try queue.inDatabase { database in
            try database.executeStatements(
                SampleFile.content + """
                    CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(100000));
                    CREATE TABLE gone (a); INSERT INTO gone SELECT randomblob(2000) FROM people LIMIT 50; DROP TABLE gone;
                    """
            )
            return (
                try database.int(forQuery: "PRAGMA page_count") ?? 0,
                try database.int(forQuery: "PRAGMA freelist_count") ?? 0, try #require(database.cipherFormat?.pageSize)
            )
        }
        try queue.close()
        let kinds = try DatabaseFile(path: path).map(key: key)
        let counts = Dictionary(grouping: kinds) { $0 }.mapValues(\.count)
        #expect(kinds.count == pages && free > 10 && counts[.free] == free)
        #expect(kinds[0] == .tableLeaf && counts[.tableInterior] ?? 0 > 0)
        #expect(counts[.indexLeaf] ?? 0 > 1 && counts[.indexInterior] ?? 0 > 0)
        // All but what the row itself holds of the hundred thousand bytes.
        let capacity = size - (try #require(Engine.current.formats.first).reserve) - 4
        #expect(counts[.overflow] == (100_000 - capacity) / capacity + 1 || counts[.overflow] == 100_000 / capacity + 1)
        #expect(counts[.damaged] == nil)
        let leaf = try #require(kinds.lastIndex(of: .tableLeaf))
        try flipByte(of: path, at: leaf * size + 100)
        let after = try DatabaseFile(path: path).map(key: key)
        #expect(after.indices.filter { after[$0] != kinds[$0] } == [leaf] && after[leaf] == .damaged)
        expect(throws: KeyError.wrongKey) { try DatabaseFile(path: path).map(key: .random()) }
    }

    @Test(.timeLimit(.minutes(Extent.minutesOfAHang))) func freeListInCircleEnds() throws {
        let key = try DatabaseKey.random()
        let queue = try DatabaseQueue(path: path, key: key)
        let format = try queue.inDatabase { database in
            try database.executeStatements(
                SampleFile.content
                    + "CREATE TABLE gone (a); INSERT INTO gone VALUES (zeroblob(50000)); DROP TABLE gone;"
            )
            return try #require(database.cipherFormat)
        }
        try queue.close()
        let free = try DatabaseFile(path: path).map(key: key).filter { $0 == .free }.count
        var file = try Array(FileState(path).bytes)
        let derived = try key.derive(salt: Array(file.prefix(16)), format: format)
        let cipher = try PageCipher(key: derived, format: format)
        let first = try cipher.decrypt(file[..<format.pageSize], number: 1)
        let trunk = Int(first[34]) << 8 | Int(first[35])
        let range = ((trunk - 1) * format.pageSize)..<(trunk * format.pageSize)
        var page = try cipher.decrypt(file[range], number: UInt32(trunk))
        page[2..<4] = first[34..<36]
        let iv = [UInt8](repeating: 7, count: 16)
        try page.withUnsafeBytes { page in
            try iv.withUnsafeBytes { iv in
                try file.withUnsafeMutableBytes {
                    let place = UnsafeMutableRawBufferPointer(rebasing: $0[range])
                    try cipher.encrypt(page, number: UInt32(trunk), iv: iv, into: place)
                }
            }
        }
        _ = try directory.write(file, to: "test.db")
        let kinds = try DatabaseFile(path: path).map(key: key)
        #expect(kinds.filter { $0 == .free }.count == free && !kinds.contains(.damaged))
    }
}
