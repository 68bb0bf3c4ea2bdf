import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// Somebody without the key removes the MACs of a file, by moving the IV of each page to its end, and exchanges pages.
@Suite struct RemovedMACsTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let key: DatabaseKey
    private let own: CipherFormat

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .passphrase("secret")
        own = try #require(Engine.current.formats.first)
    }

    private func make(_ format: CipherFormat, _ key: DatabaseKey? = nil) throws {
        let configuration = Configuration { $0.format = format }
        let queue = try DatabaseQueue(path: path, key: key ?? self.key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func removeMACs(_ format: CipherFormat, firstPageOnly: Bool = false) throws {
        var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
        for start in stride(from: 0, to: firstPageOnly ? format.pageSize : bytes.count, by: format.pageSize) {
            let end = start + format.pageSize
            let iv = end - format.reserve
            bytes.replaceSubrange((end - 16)..<end, with: Array(bytes[iv..<(iv + 16)]))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    private func open(_ format: CipherFormat?, _ key: DatabaseKey? = nil) throws -> String? {
        let configuration = Configuration { $0.format = format }
        let queue = try DatabaseQueue(path: path, key: key ?? self.key, configuration: configuration)
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.string(forQuery: SampleFile.question) }
    }

    @Test func fileWithoutMACsMustBeNamed() throws {
        try make(own)
        try removeMACs(own)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let file = DatabaseFile(path: path)
        let weak = try CipherFormat(own) { $0.unsafePageAuthentication = nil }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try open(.any) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try open(nil) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try file.inspect(key: key) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try file.verify(key: key) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try file.migrate(key: key) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) {
            try file.changeKey(from: key, to: .random())
        }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) { try file.decryptToPlaintext(key: key) }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) {
            try file.copy(key: key, to: directory.file("copy.db"))
        }
        expect(throws: KeyError.withoutMACs, where: { $0.format == weak }) {
            try file.recover(key: key, to: directory.file("new.db"))
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(directory.names == ["test.db"])
        // Who knows that it was made so says it.
        #expect(try open(weak) == SampleFile.answer)
        var named = file
        named.configuration.format = weak
        #expect(try named.verify(key: key).format == weak)
        let message = "\(KeyError(.withoutMACs, format: weak))"
        #expect(message.contains("removed the MACs") && message.contains("unsafePageAuthentication = nil"))
    }

    /// Format 1 never had MACs, and its files open by their passphrase; nothing tells them from such ones of format 2.
    @Test func removedMACsOfFormat2LookLikeFormat1() throws {
        try make(.v2)
        try removeMACs(.v2)
        #expect(try open(.any) == SampleFile.answer)
        #expect(try DatabaseFile(path: path).verify(key: key).format == .v1)
        var named = DatabaseFile(path: path)
        named.configuration.format = .v2
        expect(throws: KeyError.withoutMACs, where: { $0.format == .v1 }) { try named.verify(key: key) }
        expect(throws: KeyError.otherFormat, where: { $0.format == .v1 }) { try open(.v2) }
    }

    @Test func firstPageAloneIsNotWithoutMACs() throws {
        for format in [own, .v2] {
            try make(format)
            try removeMACs(format, firstPageOnly: true)
            let found = try DatabaseFile(path: path).verify(key: key)
            #expect(found.damagedPages == [1] && found.format == format)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test(.enabled(if: Engine.current.formats.first == .v4, "the engine has no plaintext headers"))
    func otherPageSizeInHeaderIsNotWithoutMACs() throws {
        let key = try key.with(salt: (0...15).map { UInt8($0) })
        let format = try CipherFormat { $0.plaintextHeaderSize = 32 }
        try make(format, key)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[16] = 0x20
        try bytes.write(to: URL(fileURLWithPath: path))
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) { try open(.any, key) }
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) { try open(format, key) }
        let named = try CipherFormat {
            $0.unsafePageAuthentication = nil
            $0.plaintextHeaderSize = 32
        }
        expect(throws: KeyError.otherFormat, where: { $0.format == format }) { try open(named, key) }
    }
}
