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

    /// The first bytes of real files, and what they are.
    @Test(arguments: [
        ("gzip", "gzip data"), ("xz", "xz data"), ("bzip2", "bzip2 data"),
    ])
    func compressedFileIsNotEncrypted(program: String, name: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write(random(20_000), to: "file")
        guard try Program.run("/usr/bin/env", [program, path]).status == 0, let made = directory.names.first else {
            Issue.record("\(program) does not run")
            return
        }
        let source = try FileBytes(path: directory.file(made))
        #expect(try KnownMagic.name(of: source) == name && !FileKind.looksEncrypted(source))
    }

    @Test func knownMagicIsNoDatabase() throws {
        for (hexadecimal, name) in [
            ("28B52FFD", "Zstandard data"), ("504B0304", "a ZIP archive"), ("377ABCAF271C", "a 7z archive"),
            ("4C554B53BABE", "a LUKS volume"), ("6167652D656E6372797074696F6E2E6F72672F", "data encrypted by age"),
            ("8C0D040903", "an OpenPGP message"), ("89504E470D0A1A0A", "a PNG image"),
            ("255044462D", "a PDF document"),
            ("7F454C46", "an ELF program"), ("FFD8FFE0", "a JPEG image"),
            ("53616C7465645F5F", "an OpenSSL salted file"),
            ("377F0682", "a SQLite write-ahead log"),
            ("436970686572 4B52".replacing(" ", with: ""), "a keyring of CipherDB"),
        ] {
            let digits = Array(hexadecimal)
            let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
                UInt8(String(digits[$0...($0 + 1)]), radix: 16)
            }
            #expect(KnownMagic.name(of: bytes + random(4096)) == name)
            #expect(KnownMagic.name(of: bytes.dropLast()) == nil, "\(name): a part is not enough")
            #expect(try !looksEncrypted(bytes + random(4096)), "\(name)")
        }
        #expect(KnownMagic.name(of: []) == nil)
    }

    /// A plaintext database of two pages of 4,096 bytes, with a table and 80 reserved bytes.
    private func plaintextDatabase() -> [UInt8] {
        var page = [UInt8](repeating: 0, count: 4096)
        page.replaceSubrange(0..<16, with: FileKind.magic)
        page.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 80, 64, 32, 32])
        page[31] = 2
        let record: [UInt8] = [6, 23, 15, 15, 1, 51] + Array("tablett".utf8) + [2] + Array("CREATE TABLE t (a)x".utf8)
        let cell = [UInt8(record.count), 1] + record
        let place = 4016 - cell.count
        page.replaceSubrange(100..<108, with: [13, 0, 0, 0, 1, UInt8(place >> 8), UInt8(place & 255), 0])
        page.replaceSubrange(108..<110, with: [UInt8(place >> 8), UInt8(place & 255)])
        page.replaceSubrange(place..<4016, with: cell)
        return page + [13] + [UInt8](repeating: 0, count: 4095)
    }

    @Test func randomBytesInUnusedPlacesAreNotEncryption() throws {
        var bytes = plaintextDatabase()
        #expect(try kind(bytes) == .plaintext)
        for range in [4016..<4096, 200..<3900, 4200..<8192] { bytes.replaceSubrange(range, with: random(range.count)) }
        #expect(try kind(bytes) == .plaintext)
        // What is no schema is ciphertext, whatever the header reserves.
        for reserve: UInt8 in [0, 16, 80, 255] {
            bytes[20] = reserve
            for header in [32, 96, 1024] {
                #expect(try kind(Array(bytes[..<header]) + random(8192 - header)) == .plaintextHeader)
            }
        }
        // Damage to page 1 is no encryption.
        var damaged = plaintextDatabase()
        damaged[100] = 0
        #expect(try kind(damaged) == .plaintext)
    }

    @Test func directoryIsNotFile() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: NotARegularFile.self) { try FileBytes(path: directory.path) }
    }
}
