import Foundation
import SQLiteFormat
import TestSupport
import Testing

@testable import CipherPages

@Suite struct FileKindTests {
    private func kind(_ bytes: [UInt8]) throws -> FileKind {
        let directory = try TemporaryDirectory()
        return try FileKind.recognise(FileBytes(path: directory.write(bytes, to: "file")))
    }

    private func looksEncrypted(_ bytes: [UInt8]) throws -> Bool {
        let directory = try TemporaryDirectory()
        return try FileKind.looksEncrypted(FileBytes(path: directory.write(bytes, to: "file")))
    }

    private func random(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255) }
    }

    @Test func filesAreRecognisedByTheirFirstBytes() throws {
        #expect(try kind([]) == .empty)
        #expect(try kind(Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 1000)) == .plaintext)
        #expect(try kind(Array("SQLite format 3\0".utf8)) == .plaintext)
        #expect(try kind([0]) == .tooShort)
        #expect(try kind(random(511)) == .tooShort)
        #expect(try kind([UInt8](repeating: 0, count: 4096)) == .opaque)
        #expect(try !looksEncrypted([UInt8](repeating: 0, count: 4096)))
        #expect(try !looksEncrypted(Array(String(repeating: "Not a database at all.\n", count: 300).utf8)))
        #expect(try !looksEncrypted((0..<4096).map { UInt8($0 % 251) / 2 }))
    }

    @Test func randomBytesAreAlwaysTakenForEncrypted() throws {
        for _ in 0..<300 {
            #expect(try looksEncrypted(random(512)))
            #expect(try looksEncrypted(random(1024)))
        }
        for _ in 0..<50 { #expect(try looksEncrypted(random(8192))) }
    }

    @Test func directoryIsNotFile() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: NotARegularFile.self) { try FileBytes(path: directory.path) }
    }
}
