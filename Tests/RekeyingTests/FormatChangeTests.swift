import CipherDB
import Foundation
import TestSupport
import Testing

@testable import Rekeying

/// What a migration keeps and changes of a format.
@Suite(.slow, .enabled(if: Engine.current.formats.first == .v4, "migrations to format 4"))
struct FormatChangeTests {
    private static let salt: [UInt8] = (0...15).map { UInt8($0 * 17) }
    private let directory: TemporaryDirectory
    private let path: String
    private let key: DatabaseKey
    private var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        key = try .passphrase("secret").with(salt: Self.salt)
    }

    private func make(_ format: CipherFormat) throws {
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func answer() throws -> String? {
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = .any })
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.string(forQuery: SampleFile.question) }
    }

    @Test func migrationKeepsWhatItIsNotTold() throws {
        let old = try CipherFormat(.v3) {
            $0.pageSize = 8192
            $0.iterations = 300_000
        }
        try make(old)
        var known = file
        known.iterations = 300_000
        let result = try known.migrate(key: key)
        #expect(result.previousFormat == old)
        #expect(
            try result.format
                == CipherFormat {
                    $0.pageSize = 8192
                    $0.iterations = 300_000
                }
        )
        expect(throws: RekeyError.notNeeded) { try known.migrate(key: key) }
        #expect(try known.verify(key: key).isSound)
    }

    @Test func namedParametersAreTriedWithEachIterations() throws {
        let format = try CipherFormat { $0.macKeyIterations = 77 }
        for iterations in [64_000, 1234] {
            try make(CipherFormat(format) { $0.unsafeIterations = iterations })
            var named = file
            named.configuration.format = format
            named.configuration.searchedIterations = [1234]
            #expect(try named.verify(key: key).format.iterations == iterations)
            try FileManager.default.removeItem(atPath: path)
        }
    }

    @Test func anyFormatIsFound() throws {
        try make(CipherFormat { $0.pageSize = 8192 })
        var any = file
        any.configuration.format = .any
        #expect(try any.verify(key: key).format.pageSize == 8192)
    }

    @Test func changeKeepsSaltBehindNamedHeader() throws {
        let format = try CipherFormat { $0.plaintextHeaderSize = 32 }
        try make(format)
        var named = file
        named.configuration.format = format
        let newKey = try DatabaseKey.passphrase("another")
        try named.changeKey(from: key, to: newKey)
        #expect(try named.verify(key: newKey.with(salt: Self.salt)).isSound)
    }

    /// Another program's layout has a MAC of its own; FormatMatrixTests have files of it.
    @Test func fieldsOfAnotherLayoutAreDamage() throws {
        try make(.v4)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 80, 64, 32, 32])
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try file.verify(key: key).damagedPages == [1])
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [1] }) {
            try file.changeKey(from: key, to: .random())
        }
        #expect(try file.recover(key: key, to: directory.file("new.db")).damagedPages == [1])
    }

    @Test func pagesOf512BytesAreNotFilled() throws {
        try make(.v4)
        var change = FormatChange()
        change.version = 1
        change.pageSize = 512
        expect(throws: RekeyError.notStarted) { try file.migrate(key: key, changing: change, allowsWeaker: true) }
    }

    @Test func shorterHeaderMakesRoomForMAC() throws {
        // 16 bytes of page 1 are left for a MAC of SHA-256; SHA-512's needs 32 bytes more.
        let long = try CipherFormat {
            $0.unsafePageAuthentication = .sha256
            $0.unsafePlaintextHeaderSize = 4032
        }
        var change = FormatChange()
        change.version = 4
        #expect { try change.applied(to: long) } throws: {
            if case UnusableCipherFormat.plaintextHeader(4032, most: 4000) = $0 { true } else { false }
        }
        change.plaintextHeaderSize = 32
        #expect(try change.applied(to: long) == CipherFormat { $0.plaintextHeaderSize = 32 })
    }

    @Test func migrationAddsMACs() throws {
        let format = try CipherFormat { $0.unsafePageAuthentication = nil }
        try make(format)
        var named = file
        named.configuration.format = format
        #expect(try named.verify(key: key).format.pageAuthentication == nil)
        #expect(try named.migrate(key: key).format == .v4)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func weakerFormatNeedsPermission() throws {
        try make(.v4)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var changes: [FormatChange] = []
        for change: (inout FormatChange) -> Void in [
            { $0.iterations = 64_000 }, { $0.keyDerivation = .sha1 }, { $0.pageAuthentication = .some(nil) },
            { $0.pageAuthentication = .sha256 }, { $0.version = 3 }, { $0.plaintextHeaderSize = 48 },
        ] {
            changes.append(FormatChange())
            change(&changes[changes.count - 1])
        }
        for change in changes {
            #expect { try file.migrate(key: key, changing: change) } throws: {
                if case UnusableCipherFormat.weaker(_, than: .v4) = $0 { true } else { false }
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
        for change in changes {
            let weaker = try file.migrate(key: key, changing: change, allowsWeaker: true).format
            var named = file
            named.configuration.format = weaker
            #expect(try named.verify(key: key).isSound)
            // Back to the standard, whatever it is now.
            try named.migrate(key: key, format: .v4)
            #expect(try answer() == SampleFile.answer)
        }
    }

    @Test func fewIterationsOfLongerHashAreWeaker() throws {
        try make(.v3)
        var change = FormatChange()
        (change.version, change.iterations) = (4, 1)
        #expect(throws: UnusableCipherFormat.self) { try file.migrate(key: key, changing: change) }
        // More than the file has, of a hash that takes longer.
        change.iterations = 64_001
        #expect(try file.migrate(key: key, changing: change).format?.iterations == 64_001)
    }

    @Test func plaintextHeaderComesAndGoes() throws {
        try make(.v4)
        var change = FormatChange()
        change.plaintextHeaderSize = 32
        let result = try file.migrate(key: key, changing: change)
        #expect(result.format?.plaintextHeaderSize == 32)
        #expect(try file.inspect().kind == .encrypted && file.inspect().appearance?.hasPlaintextHeader == true)
        let another = try DatabaseKey.passphrase("another")
        try file.changeKey(from: key, to: another)
        #expect(try file.verify(key: another.with(salt: Self.salt)).isSound)
        #expect(try file.changeKeyInPlace(from: another.with(salt: Self.salt), to: .passphrase("third")).isSound)
        _ = try file.changeKeyInPlace(from: .passphrase("third").with(salt: Self.salt), to: key)
        let recovered = try file.recover(key: key, to: directory.file("recovered.db"))
        #expect(recovered.isComplete && recovered.file.format?.plaintextHeaderSize == 32)
        try file.copy(key: key, to: directory.file("copy.db"))
        #expect(try DatabaseFile(path: directory.file("copy.db")).verify(key: key).isSound)
        expect(throws: KeyError.saltMissing) { try file.verify(key: .passphrase("secret")) }
        change.plaintextHeaderSize = 0
        try file.migrate(key: key, changing: change)
        #expect(try file.verify(key: .passphrase("secret")).format == .v4)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func decryptedFileHasNoPlaintextHeader() throws {
        // A view needs no page of its own: nothing but page 1 says what the file is.
        for content in [SampleFile.content, "CREATE VIEW v AS SELECT 1"] {
            try? FileManager.default.removeItem(atPath: path)
            let queue = try DatabaseQueue(path: path, key: key)
            try queue.inDatabase { try $0.executeStatements(content) }
            try queue.close()
            // Its pages keep their reserved bytes, as those of an encrypted file.
            try file.decryptToPlaintext(key: key)
            #expect(try file.inspect().kind == .plaintext)
        }
        var change = FormatChange()
        change.plaintextHeaderSize = 1024
        try file.encrypt(with: key, changing: change, allowsWeaker: true)
        #expect(try file.inspect().kind == .encrypted)
        #expect(try file.verify(key: key).format.plaintextHeaderSize == 1024)
    }

    @Test(arguments: [512, 1024, 4096])
    func format1IsRecoveredAsFormat1(pageSize: Int) throws {
        try make(CipherFormat(.v1) { $0.pageSize = pageSize })
        let found = try file.recover(key: key, to: directory.file("recovered.db"))
        #expect(found.isComplete && found.file.format?.version == 1)
        #expect(found.file.pageSize == max(1024, pageSize))
        try file.copy(key: key, to: directory.file("copy.db"))
        try file.migrate(key: key)
        #expect(try answer() == SampleFile.answer)
        #expect(try file.verify(key: key).format.version == 4)
    }
}
