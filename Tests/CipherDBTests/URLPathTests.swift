import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// A database is opened by the URL of its file.
@Suite final class OpeningByURLTests: RawKeyFixture {
    @Test func fileURLIsItsPath() async throws {
        let url = URL(fileURLWithPath: path)
        try await DatabaseQueue(path: url.databasePath, key: key).close()
        try await DatabasePool(path: url.databasePath, key: key).close()
        let database = try Database(path: url.databasePath)
        try database.open(key: key)
        #expect(database.path == path)
    }

    @Test func encodedCharactersAreBytes() throws {
        let bytes: [UInt8] = Array("/a b%?#ü".utf8) + [0xFF]
        let encoded = "/a%20b%25%3F%23%C3%BC%FF.db"
        let url = try #require(URL(string: "file://" + directory.path + encoded))
        try DatabaseQueue(path: url.databasePath, key: key).close()
        let made = String(pathBytes: directory.path.pathBytes + bytes + Array(".db".utf8))
        #expect(try DatabaseQueue(path: made, key: key).path?.pathBytes == made.pathBytes)
        #expect(try Platform.status(of: made).size > 0)
    }

    @Test(arguments: [
        "http://localhost/a.db", "file://elsewhere/a.db", "file:///tmp/a.db?key=x", "file:///tmp/a.db#part",
        "file:///tmp/sub/",
        "file:", "file::memory:", "file:a.db", "file:///",
    ])
    func nonFileURLIsRefused(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: url.databasePath, key: key) }
        #expect(throws: DatabaseError.self) { try DatabasePool(path: url.databasePath) }
        #expect(throws: DatabaseError.self) { try Database(path: url.databasePath) }
    }
}
