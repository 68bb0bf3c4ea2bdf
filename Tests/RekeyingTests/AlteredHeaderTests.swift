import CipherDB
import Foundation
import TestSupport
import Testing

@testable import Rekeying

/// A plaintext header, which no MAC covers, after somebody without the key has written to it.
@Suite(.enabled(if: Engine.current.formats.first == .v4, "the engine has no plaintext headers"))
struct AlteredHeaderTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let key: DatabaseKey
    private let format: CipherFormat
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .sample("secret").with(salt: (0...15).map { UInt8($0) })
        format = try CipherFormat { $0.plaintextHeaderSize = 32 }
        let header = format
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = header })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func alter(_ bytes: [UInt8], at offset: Int) throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        file.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        try file.write(to: URL(fileURLWithPath: path))
    }

    private func open() throws {
        let header = format
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = header })
        try queue.close()
    }

    /// Sixteen millions; the header has room for four thousand millions.
    @Test func missingPagesAreCountedNotListed() throws {
        let pages = try file.verify(key: key).pages
        try alter([1, 0, 0, 0], at: 28)
        let found = try file.verify(key: key)
        #expect(found.missingPages == (pages + 1)..<(0x100_0000 + 1) && found.damagedPages.count == 1000)
        #expect(found.damagedPageCount == 0x100_0000 - pages)
        for attempt: () throws -> Void in [
            { try open() }, { try file.changeKey(from: key, to: .sample("another")) },
            { try file.copy(key: key, to: directory.file("copy.db")) },
            { _ = try file.changeKeyInPlace(from: key, to: .sample("another")) },
        ] {
            let error = #expect(throws: KeyError.self) { try attempt() }
            #expect(error?.damagedPages?.count == 1000)
        }
        let recovered = try file.recover(key: key, to: directory.file("new.db"))
        #expect(recovered.tables.first?.rows == 600 && recovered.missingPages == found.missingPages)
    }

    @Test(arguments: [(20, 0), (20, 79), (18, 3), (19, 0), (16, 0x20), (22, 0)])
    func contradictionIsDamageOfFirstPage(offset: Int, byte: UInt8) throws {
        try alter([byte], at: offset)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let error = #expect(throws: KeyError.self) { try open() }
        #expect(error?.damagedPages == [1] && "\(error!)".contains("plaintext header"))
        let found = try file.verify(key: key)
        #expect(found.damagedPages == [1] && found.problems.contains { $0.contains("of the plaintext header") })
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) {
            try file.changeKey(from: key, to: .sample("another"))
        }
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) {
            try file.migrate(key: key, to: .sample("another"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        let recovered = try file.recover(key: key, to: directory.file("new.db"))
        #expect(recovered.tables.first?.rows == 600 && !recovered.problems.isEmpty)
    }

    @Test func headerInLogIsLookedAt() throws {
        let header = format
        let queue = try DatabaseQueue(
            path: path,
            key: key,
            configuration: Configuration {
                $0.format = header
                $0.journalMode = .wal
            }
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE another (a)") }
        let copy = directory.file("copy.db")
        for side in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + side, toPath: copy + side) }
        try queue.close()
        var log = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        let magic = Data("SQLite format 3\0".utf8)
        var start = log.startIndex
        while let place = log.range(of: magic, in: start..<log.endIndex) {
            log[place.lowerBound + 20] = 0
            start = place.upperBound
        }
        try log.write(to: URL(fileURLWithPath: copy + "-wal"))
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) {
            try DatabaseQueue(path: copy, key: key, configuration: Configuration { $0.format = header }).close()
        }
    }

    /// Page 1 wholly in plaintext: the file reads as plaintext, until the key proves other pages.
    @Test func keyProvesPagesBehindReadableFirstPage() throws {
        var database = Data(try Data(contentsOf: URL(fileURLWithPath: path)))
        let plain = directory.file("plain.db")
        try FileManager.default.copyItem(atPath: path, toPath: plain)
        try DatabaseFile(path: plain).decryptToPlaintext(key: key)
        let readable = try Data(contentsOf: URL(fileURLWithPath: plain))
        database.replaceSubrange(0..<4096, with: readable[0..<4096])
        try database.write(to: URL(fileURLWithPath: path))
        #expect(try file.inspect().kind == .plaintext)
        #expect(try file.verify(key: key).damagedPages == [1])
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) { try open() }
        expect(throws: KeyError.notEncrypted) { try file.verify(key: .sample("wrong").with(salt: Array(0..<16))) }
        // It is not taken for plaintext, and encrypted a second time.
        #expect(throws: (any Error).self) { try file.encrypt(with: .sample("another")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == database)
    }

    /// What nothing authenticated gets a MAC only where it makes sense.
    @Test func structureIsCheckedBeforeExchange() throws {
        try alter([0, 0, 0, 3], at: 28)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var change = FormatChange()
        change.plaintextHeaderSize = 0
        #expect(throws: (any Error).self) { try file.migrate(key: key, changing: change) }
        #expect(throws: (any Error).self) { try file.changeKey(from: key, to: .sample("another")) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }
}
