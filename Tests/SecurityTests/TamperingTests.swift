import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Someone who can write to the file but has no key.
@Suite struct TamperingTests {
    let folder: TemporaryFolder
    let path: String
    let key: DatabaseKey
    let pageSize: Int

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("test.db")
        // A raw key: thousands of openings would spend their time on the derivation.
        key = try .random()
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(9000))") }
        pageSize = try queue.inDatabase { $0.cipherFormat?.pageSize } ?? 0
        try queue.close()
    }

    @Test func aChangeInAnyPartOfAnyPageIsFoundAndItsPageNamed() throws {
        let file = DatabaseFile(path: path)
        let format = try #require(try file.inspect(key: key).format)
        let size = try FileState(path).bytes.count
        let hash = try #require(format.pageAuthentication)
        let covered = pageSize - format.reserve + 16 + hash.digestSize
        for offset in stride(from: 16, to: size, by: 53) {
            try flipByte(of: path, at: offset)
            let found = try file.verify(key: key)
            // Behind the HMAC of format 3 stand 12 bytes of padding, which hold nothing.
            let expected = offset % pageSize < covered ? [offset / pageSize + 1] : []
            #expect(found.damagedPages == expected, "byte \(offset)")
            try flipByte(of: path, at: offset)
        }
    }

    @Test func aChangeInTheSaltOpensNothing() throws {
        for offset in 0..<16 {
            try flipByte(of: path, at: offset)
            #expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: key) }
            try flipByte(of: path, at: offset)
        }
        _ = try DatabaseQueue(path: path, key: key)
    }

    @Test func pagesThatChangePlacesAreFound() throws {
        var bytes = try FileState(path).bytes
        let second = bytes[pageSize..<(2 * pageSize)]
        let third = bytes[(2 * pageSize)..<(3 * pageSize)]
        bytes.replaceSubrange(pageSize..<(2 * pageSize), with: Data(third))
        bytes.replaceSubrange((2 * pageSize)..<(3 * pageSize), with: Data(second))
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try DatabaseFile(path: path).verify(key: key).damagedPages == [2, 3])
    }

    @Test func aPageOfAnotherDatabaseUnderTheSameKeyIsFound() throws {
        let other = folder.file("other.db")
        let queue = try DatabaseQueue(path: other, key: key)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (randomblob(9000))") }
        try queue.close()
        var bytes = try FileState(path).bytes
        let page = pageSize..<(2 * pageSize)
        bytes.replaceSubrange(page, with: try FileState(other).bytes[page])
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try DatabaseFile(path: path).verify(key: key).damagedPages == [2])
    }

    @Test func aFileCutOffAnywhereIsNeverAnEmptyDatabase() throws {
        let whole = try FileState(path).bytes
        for size in [
            1, 15, 16, 17, 511, 512, pageSize - 1, pageSize, pageSize + 1, whole.count - pageSize, whole.count - 1,
        ] {
            try whole.prefix(size).write(to: URL(fileURLWithPath: path))
            #expect(throws: (any Error).self, "\(size) bytes") {
                let queue = try DatabaseQueue(path: path, key: key)
                try queue.inDatabase { database in
                    let rows = try database.executeQuery("SELECT length(a), a FROM t")
                    guard try rows.next(), try rows.data(forColumnIndex: 1)?.count == 9000 else { return }
                }
                guard try DatabaseFile(path: path).verify(key: key).isSound else { throw KeyError.notADatabase }
            }
            #expect(try FileState(path).bytes == whole.prefix(size))
        }
    }
}
