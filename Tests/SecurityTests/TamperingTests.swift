import CipherDB
import CipherKeys
import CipherPages
import Foundation
import Rekeying
import TestSupport
import Testing

/// Someone who can write to the file but has no key.
@Suite final class TamperingTests: RawKeyFixture {
    private let pageSize = 1024

    override init() throws {
        try super.init()
        try make(path)
    }

    /// Small pages, so that every byte and every pair of pages can be tried.
    private func make(_ path: String) throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = pageSize }
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(3000))") }
        try queue.close()
    }

    private func damagedPages() throws -> [Int] { try DatabaseFile(path: path).verify(key: key).damagedPages }

    /// Reads all through the engine; nil where it refuses to.
    private func content() -> Data? {
        let database = Database(path: path)
        defer { database.close() }
        return try? {
            try database.open(key: key, flags: .readOnly)
            return try database.data(forQuery: "SELECT a FROM t")
        }()
    }

    @Test func changedByteNamesItsPage() throws {
        let file = DatabaseFile(path: path)
        let format = try #require(try file.inspect(key: key).format)
        let size = try FileState(path).bytes.count
        let hash = try #require(format.pageAuthentication)
        let covered = pageSize - format.reserve + 16 + hash.digestSize
        let whole = try #require(content())
        let bytes = try FileState(path).bytes
        let cipher = try PageCipher(key: key.derive(salt: Array(bytes.prefix(16)), format: format), format: format)
        for offset in 16..<size {
            // Behind the HMAC of format 3 stand 12 bytes of padding, which hold nothing.
            let isCovered = offset % pageSize < covered
            let number = offset / pageSize + 1
            var page = Array(bytes[((number - 1) * pageSize)..<(number * pageSize)])
            page[offset % pageSize] ^= 1
            #expect(try cipher.isAuthentic(page, number: UInt32(number)) == !isCovered, "byte \(offset)")
            // Opening takes a thousand times as long.
            guard offset % (Extent.isComplete ? 41 : 163) == 0 else { continue }
            try flipByte(of: path, at: offset)
            #expect(try damagedPages() == (isCovered ? [number] : []), "byte \(offset)")
            let read = content()
            #expect(isCovered ? read == nil : read == whole, "byte \(offset)")
            try flipByte(of: path, at: offset)
        }
    }

    @Test func changeInSaltOpensNothing() throws {
        for offset in 0..<16 {
            try flipByte(of: path, at: offset)
            expect(throws: KeyError.otherMACKey) { _ = try DatabaseQueue(path: path, key: key) }
            try flipByte(of: path, at: offset)
        }
        _ = try DatabaseQueue(path: path, key: key)
    }

    /// Puts the page of this number, from 1, of `source` in the place of another.
    private func put(_ page: Int, of source: Data, at place: Int, in bytes: inout Data) {
        let from = ((page - 1) * pageSize)..<(page * pageSize)
        bytes.replaceSubrange(((place - 1) * pageSize)..<(place * pageSize), with: Data(source[from]))
    }

    @Test func pagesThatChangePlacesAreFound() throws {
        let whole = try FileState(path).bytes
        let count = whole.count / pageSize
        #expect(count > 4)
        // Page 1 elsewhere than in its place is another salt to the file.
        for first in 2..<count {
            for second in (first + 1)...count {
                var bytes = whole
                put(first, of: whole, at: second, in: &bytes)
                put(second, of: whole, at: first, in: &bytes)
                try bytes.write(to: URL(fileURLWithPath: path))
                #expect(try damagedPages() == [first, second])
                #expect(content() == nil)
            }
            var bytes = whole
            put(first, of: whole, at: 1, in: &bytes)
            try bytes.write(to: URL(fileURLWithPath: path))
            expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: key) }
        }
    }

    @Test func foreignPageUnderSameKeyIsFound() throws {
        let other = directory.file("other.db")
        try make(other)
        let (whole, foreign) = (try FileState(path).bytes, try FileState(other).bytes)
        for page in 2...(whole.count / pageSize) {
            var bytes = whole
            put(page, of: foreign, at: page, in: &bytes)
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try damagedPages() == [page])
        }
    }

    /// What the document says is not found: nothing in a file tells when a page was written.
    @Test func olderPageOfSameFileIsAuthentic() throws {
        let before = try FileState(path).bytes
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeUpdate("UPDATE t SET a = randomblob(3000)") }
        try queue.close()
        let after = try FileState(path).bytes
        var bytes = after
        // The update may use fewer of the pages again than there were.
        let page = try #require(
            (2...(min(before.count, after.count) / pageSize)).first { page in
                var changed = after
                put(page, of: before, at: page, in: &changed)
                return changed != after
            }
        )
        put(page, of: before, at: page, in: &bytes)
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try damagedPages() == [])
    }

    /// What tells files under one key apart is their salts.
    @Test func pageWithSameKeyAndSaltIsAuthentic() throws {
        let both = try DatabaseKey.rawWithSalt(.random(count: 48))
        let paths = ["one.db", "two.db"].map { directory.file($0) }
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = pageSize }
        for path in paths {
            let queue = try DatabaseQueue(path: path, key: both, configuration: Configuration { $0.format = format })
            try queue.inDatabase { database in
                try database.executeStatements("CREATE TABLE t (a)")
                try database.executeUpdate("INSERT INTO t VALUES (?)", path)
            }
            try queue.close()
        }
        let size = 2 * pageSize
        var bytes = try FileState(paths[0]).bytes
        bytes.replaceSubrange(pageSize..<size, with: try FileState(paths[1]).bytes[pageSize..<size])
        try bytes.write(to: URL(fileURLWithPath: paths[0]))
        let queue = try DatabaseQueue(path: paths[0], key: both, configuration: Configuration { $0.format = format })
        #expect(try queue.inDatabase { try $0.string(forQuery: "SELECT a FROM t") } == paths[1])
        try queue.close()
    }

    @Test func truncatedFileIsNeverEmpty() throws {
        let whole = try FileState(path).bytes
        // By default sizes around what a file is made of, and some others.
        let sizes = (1..<whole.count).filter { Extent.isComplete || $0 % 512 < 2 || $0 % 512 == 511 || $0 % 97 == 0 }
        for size in sizes {
            try whole.prefix(size).write(to: URL(fileURLWithPath: path))
            #expect(throws: (any Error).self, "\(size) bytes") {
                let queue = try DatabaseQueue(path: path, key: key)
                try queue.inDatabase { database in
                    let rows = try database.executeQuery("SELECT length(a), a FROM t")
                    guard try rows.next(), try rows.data(forColumnIndex: 1)?.count == 3000 else { return }
                }
                guard try DatabaseFile(path: path).verify(key: key).isSound else { throw KeyError(.notADatabase) }
            }
            #expect(try FileState(path).bytes == whole.prefix(size))
        }
    }
}
