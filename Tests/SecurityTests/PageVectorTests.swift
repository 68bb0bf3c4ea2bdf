import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// The vectors under which pages are encrypted. One that is used twice under a key shows which pages begin alike.
@Suite struct PageVectorTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
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

    @Test func noIVAndNoSaltRepeats() throws {
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

    /// Pages that the engine writes again, in the file, its WAL and its journal: the same IV stands before the same ciphertext only.
    @Test(arguments: [JournalMode.persist, .wal])
    func noIVOfEngineRepeats(mode: JournalMode) throws {
        let format = try #require(Engine.current.formats.first)
        let size = format.pageSize
        let database = Database(path: path, configuration: Configuration { $0.journalMode = mode })
        try database.open(key: .random())
        try database.executeStatements("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        var ciphertexts: [Data: Set<Data>] = [:]
        var images = 0
        func note(_ page: Data) {
            guard page.count == size else { return }
            images += 1
            let end = size - format.reserve
            // The first page begins with the salt, which is not encrypted.
            ciphertexts[Data(page.dropFirst(end).prefix(16)), default: []].insert(Data(page.prefix(end).dropFirst(16)))
        }
        func pages(_ suffix: String, from first: Int, every stride: Int, at offset: Int) {
            guard let bytes = try? FileState(path + suffix).bytes else { return }
            for start in Swift.stride(from: first, to: bytes.count, by: stride) {
                note(Data(bytes.dropFirst(start + offset).prefix(size)))
            }
        }
        for number in 0..<30 {
            try database.executeUpdate("UPDATE t SET a = ?", number % 2)
            pages("", from: 0, every: size, at: 0)
            pages("-wal", from: 32, every: size + 24, at: 24)
            // A journal's header fills a sector, and its records are a number, a page and a checksum.
            pages("-journal", from: 512, every: size + 8, at: 4)
        }
        #expect(images > 100 && ciphertexts.count > 25)
        #expect(ciphertexts.values.allSatisfy { $0.count == 1 })
    }
}
