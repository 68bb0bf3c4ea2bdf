import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// The vectors under which pages are encrypted. One that is used twice under a key shows which pages begin alike.
@Suite struct PageVectorTests {
    let folder: TemporaryFolder
    let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.file("test.db")
    }

    /// The vectors and the salt of the file as it is now.
    private func vectors(_ format: CipherFormat) throws -> [Data] {
        let bytes = try FileState(path).bytes
        let pages = stride(from: 0, to: bytes.count, by: format.pageSize).map { start in
            let end = start + format.pageSize - format.reserve
            return Data(bytes[end..<(end + 16)])
        }
        return [Data(bytes.prefix(16))] + pages
    }

    @Test func noVectorAndNoSaltIsUsedTwice() throws {
        let format = try #require(Engine.current.formats.first)
        let (first, second) = (try DatabaseKey.random(), try DatabaseKey.random())
        let queue = try DatabaseQueue(path: path, key: first)
        // Pages with the same text, but for their places.
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(1000000))")
        }
        try queue.close()
        let file = DatabaseFile(path: path)
        var seen = try vectors(format)
        #expect(seen.count > 200)
        // The second time under a key that was used before.
        for (old, new) in [(first, second), (second, first)] {
            try file.changeKey(from: old, to: new)
            seen += try vectors(format)
        }
        _ = try file.changeKeyInPlace(from: first, to: second)
        // It keeps the salt.
        seen += try vectors(format).dropFirst()
        try file.decryptToPlaintext(key: second)
        try file.encrypt(with: second)
        seen += try vectors(format)
        #expect(Set(seen).count == seen.count)
    }
}
