import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Files with other parameters than the four standard formats have, both ways between this library and the stock shells.
@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct FormatTests {
    /// A format, and the pragmas with which a stock shell writes it.
    struct Unusual: Sendable, CustomTestStringConvertible {
        let settings: [String]
        let format: CipherFormat
        var testDescription: String { settings.joined(separator: "; ") }

        init(_ settings: String..., change: @Sendable (inout CipherFormat) -> Void) {
            self.settings = settings
            let own = Engine.current.formats.first ?? .v4
            var changed = (try? own.changed(change)) ?? own
            changed.allowedWeaknesses = Set(changed.weaknesses(beside: own))
            format = changed
        }

        static let all = [
            Unusual("cipher_page_size = 16384") { $0.pageSize = 16384 },
            Unusual("cipher_hmac_pgno = be") { $0.pageNumberOrder = .bigEndian },
            Unusual("cipher_hmac_salt_mask = \"x'00'\"") { $0.macSaltMask = 0 },
            Unusual("fast_kdf_iter = 3") { $0.macKeyIterations = 3 },
            Unusual("cipher_use_hmac = OFF") { $0.pageAuthentication = nil },
            Unusual("cipher_kdf_algorithm = PBKDF2_HMAC_SHA256") { $0.keyDerivation = .sha256 },
            Unusual("cipher_hmac_algorithm = HMAC_SHA256") { $0.pageAuthentication = .sha256 },
            Unusual("cipher_hmac_algorithm = HMAC_SHA1", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA256") {
                $0.pageAuthentication = .sha1
                $0.keyDerivation = .sha256
            },
            Unusual("cipher_plaintext_header_size = 32", "cipher_salt = \"x'\(saltDigits)'\"") {
                $0.plaintextHeaderSize = 32
            },
            Unusual("cipher_plaintext_header_size = 16", "cipher_salt = \"x'\(saltDigits)'\"") {
                $0.plaintextHeaderSize = 16
            },
            Unusual("cipher_plaintext_header_size = 1024", "cipher_salt = \"x'\(saltDigits)'\"") {
                $0.plaintextHeaderSize = 1024
            },
        ].filter { Engine.current.writes($0.format) && $0.format != Engine.current.formats.first }
    }

    private static let saltDigits = "00112233445566778899aabbccddeeff"
    private static let salt: [UInt8] = (0...15).map { UInt8($0 * 17) }
    private static let pragma = "key = 'secret'"

    private let directory: TemporaryDirectory
    private let path: String
    private let shell: StockShell
    private let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        shell = try #require(StockShell.ofThisFormat)
        key = try .passphrase("secret").with(salt: FormatTests.salt)
    }

    /// The key as the file has it: a salt that stands in the file is the file's.
    private func key(_ format: CipherFormat) throws -> DatabaseKey {
        format.plaintextHeaderSize > 0 ? key : try .passphrase("secret")
    }

    private func answer(_ format: CipherFormat?, _ key: DatabaseKey) throws -> (String?, CipherFormat?) {
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
        defer { try? queue.close() }
        return try queue.inDatabase { (try $0.string(forQuery: SampleFile.question), $0.cipherFormat) }
    }

    @Test(arguments: Extent.share(Unusual.all))
    func unusualFileOpensInAnyFormat(unusual: Unusual) throws {
        try shell.run(path, key: Self.pragma, settings: unusual.settings, SampleFile.script)
        let key = try key(unusual.format)
        // These can be anything, and are named.
        let isFound = unusual.format.macKeyIterations == 2
        if unusual.format.pageAuthentication == nil {
            expect(throws: KeyError.withoutMACs, where: { $0.format == unusual.format }) { try answer(.any, key) }
        } else if isFound {
            #expect(try answer(.any, key) == (SampleFile.answer, unusual.format))
        }
        #expect(try answer(unusual.format, key) == (SampleFile.answer, unusual.format))
        #expect { try answer(.any, .passphrase("wrong").with(salt: Self.salt)) } throws: {
            "\($0)".contains("wrong key") && "\($0)".contains("tried 9 combinations")
        }
    }

    @Test(arguments: Extent.share(Unusual.all))
    func unusualFileIsWritten(unusual: Unusual) throws {
        for mode in [JournalMode.delete, .wal] {
            let path = directory.file("\(mode).db")
            let queue = try DatabaseQueue(
                path: path,
                key: key(unusual.format),
                configuration: Configuration {
                    $0.format = unusual.format
                    $0.journalMode = mode
                }
            )
            try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
            // In WAL mode another process reads while this one has it open.
            let query = SampleFile.query + "PRAGMA integrity_check;"
            let rows = try shell.run(path, key: Self.pragma, settings: unusual.settings, query)
            #expect(rows == [SampleFile.answer, "ok"])
            try queue.close()
        }
    }

    /// As FMDBCompat opens a file.
    private func queueSearchingAll(_ format: CipherFormat) throws {
        let configuration = Configuration { $0.searchesAllFormats = true }
        try DatabaseQueue(path: path, key: key(format), configuration: configuration).close()
    }

    @Test(arguments: Extent.share(Unusual.all))
    func errorNamesLineThatOpensFile(unusual: Unusual) throws {
        try shell.run(path, key: Self.pragma, settings: unusual.settings, SampleFile.script)
        guard unusual.format.macKeyIterations == 2 else { return }
        let own = try #require(Engine.current.formats.first)
        // Another page size is no other format.
        guard try unusual.format.changed({ $0.pageSize = own.pageSize }) != own else { return }
        let derivation = (unusual.format.keyDerivation, unusual.format.iterations)
        guard [CipherFormat.v4, .v3, .v2].contains(where: { ($0.keyDerivation, $0.iterations) == derivation }) else {
            #expect { try answer(nil, key(unusual.format)) } throws: {
                ($0 as? KeyError)?.code == .wrongKey && "\($0)".contains("CipherFormat.any")
            }
            #expect { try queueSearchingAll(unusual.format) } throws: { ($0 as? KeyError)?.format == unusual.format }
            return
        }
        #expect { try answer(nil, key(unusual.format)) } throws: { error in
            let error = error as? KeyError
            return error?.code == (unusual.format.pageAuthentication == nil ? .withoutMACs : .otherFormat)
                && error?.format == unusual.format
                && "\(error!)".contains("$0.format = try CipherFormat(.v") && !"\(error!)".contains("secret")
        }
    }

    @Test(.enabled(if: Engine.current.formats.first == .v4, "the engine has no plaintext headers"))
    func plaintextHeaderNeedsSalt() throws {
        let format = try CipherFormat { $0.plaintextHeaderSize = 32 }
        #expect(throws: UnusableCipherFormat.saltMissing) { try answer(format, .passphrase("secret")) }
        #expect(directory.names.isEmpty)
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.rekey(.passphrase("another").with(salt: Self.salt))
        try queue.close()
        expect(throws: KeyError.saltMissing) { try answer(.any, .passphrase("another")) }
        expect(throws: KeyError.wrongKey) {
            try answer(.any, .passphrase("another").with(salt: Array(Self.salt.reversed())))
        }
        expect(throws: KeyError.keyMissing) {
            let configuration = Configuration { $0.allowsPlaintext = true }
            _ = try DatabaseQueue(path: path, configuration: configuration)
        }
        #expect(try answer(format, .passphrase("another").with(salt: Self.salt)).0 == SampleFile.answer)
    }

    @Test func namedIterationsAreTried() throws {
        try shell.run(path, key: Self.pragma, settings: ["kdf_iter = 1234"], SampleFile.script)
        let key = try DatabaseKey.passphrase("secret")
        expect(throws: KeyError.wrongKey) { try answer(.any, key) }
        let configuration = Configuration {
            $0.format = .any
            $0.searchedIterations = [77, 1234]
        }
        let queue = try DatabaseQueue(path: path, key: key, configuration: configuration)
        #expect(try queue.inDatabase { $0.cipherFormat?.iterations } == 1234)
        #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
    }

    @Test func newFileIsNotWeakUnlessAsked() throws {
        let own = try #require(Engine.current.formats.first)
        // As one that was read from a file.
        let weak = try own.changed { $0.iterations = 1000 }
        #expect(throws: UnusableCipherFormat.weak("1000 iterations of PBKDF2", property: "unsafeIterations")) {
            try answer(weak, .passphrase("secret"))
        }
        #expect(directory.names.isEmpty)
        let asked = try CipherFormat(own) { $0.unsafeIterations = 1000 }
        #expect(
            try DatabaseQueue(
                path: path,
                key: .passphrase("secret"),
                configuration: Configuration { $0.format = asked }
            ).inDatabase { $0.cipherFormat } == weak
        )
        // To open a file nothing is too weak.
        let queue = try DatabaseQueue(
            path: path,
            key: .passphrase("secret"),
            configuration: Configuration { $0.format = weak }
        )
        #expect(try queue.inDatabase { $0.cipherFormat } == weak)
    }

    /// A property allows its own parameter, and no other.
    @Test func unsafePropertyAllowsItsParameterOnly() throws {
        let own = try #require(Engine.current.formats.first)
        var weak = try CipherFormat(own) { $0.unsafePageAuthentication = nil }
        weak.iterations = 1
        #expect(throws: UnusableCipherFormat.weak("1 iteration of PBKDF2", property: "unsafeIterations")) {
            try answer(weak, .passphrase("secret"))
        }
        #expect(throws: UnusableCipherFormat.self) {
            try CipherFormat(own) {
                $0.unsafeIterations = 1
                $0.plaintextHeaderSize = 48
            }
        }
        #expect(directory.names.isEmpty)
    }

    /// The mask is one number for the whole engine.
    @Test func maskDoesNotReachOtherConnections() throws {
        let own = try #require(Engine.current.formats.first)
        // The engine takes a while to derive under it, in which the others come.
        let other = try CipherFormat(own) {
            $0.macSaltMask = 0x55
            $0.macKeyIterations = 20_000
        }
        let raw = try DatabaseKey.sample("secret")
        let paths = [directory.file("usual.db"), directory.file("mask.db")]
        @Sendable func open(_ number: Int) throws -> DatabaseQueue {
            let configuration = Configuration { $0.format = [own, other][number] }
            return try DatabaseQueue(path: paths[number], key: raw, configuration: configuration)
        }
        for number in 0...1 { try open(number).inDatabase { try $0.executeStatements("CREATE TABLE t (a)") } }
        DispatchQueue.concurrentPerform(iterations: 60) { index in
            #expect(throws: Never.self) {
                let queue = try open(index % 2)
                #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM t") } == 0)
                try queue.close()
            }
        }
        let queue = try open(1)
        try queue.rekey(.sample("another"))
        #expect(try queue.inDatabase { $0.cipherFormat } == other)
    }

    @Test(.enabled(if: StockShell.all.contains { $0.format == 3 }, "no shell of SQLCipher 3"))
    func otherCipherIsNotCalledWrongKey() throws {
        let old = try #require(StockShell.all.first { $0.format == 3 })
        // The second pragma computes the reserve for a block of one byte.
        try checkOtherCipher(old, ["cipher = 'aes-256-ctr'"])
        try FileManager.default.removeItem(atPath: path)
        try checkOtherCipher(old, ["cipher = 'aes-256-ctr'", "cipher_use_hmac = ON"])
    }

    private func checkOtherCipher(_ shell: StockShell, _ settings: [String]) throws {
        try shell.run(path, key: Self.pragma, settings: settings, SampleFile.script)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        for format in [nil, CipherFormat.any, .v3] {
            expect(throws: KeyError.otherCipher) { try answer(format, .passphrase("secret")) }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func otherLayoutIsNamed() throws {
        var bytes = (0..<8192).map { _ in UInt8.random(in: 0...255) }
        bytes.replaceSubrange(16..<24, with: [0x10, 0, 1, 1, 80, 64, 32, 32])
        _ = try directory.write(bytes, to: "test.db")
        expect(throws: KeyError.otherLayout) { try answer(.any, .passphrase("secret")) }
    }
}

/// A keyring has the salt of a database whose file does not contain it.
@Suite(.enabled(if: Engine.current.formats.first == .v4, "the engine has no plaintext headers"))
final class PlaintextHeaderKeyringTests: KeyringFixture {
    @Test func keyringHoldsSalt() throws {
        try keyring.create(with: secret)
        let header = try CipherFormat { $0.plaintextHeaderSize = 32 }
        let database = try open { $0.format = header }
        try database.executeStatements(SampleFile.content)
        try database.rotateKey(of: unlocked())
        database.close()
        for _ in 0..<2 {
            let again = try open { $0.format = .any }
            #expect(again.cipherFormat == header)
            #expect(try again.string(forQuery: SampleFile.question) == SampleFile.answer)
            again.close()
        }
        expect(throws: KeyError.otherFormat, where: { $0.format == header }) { try open() }
    }
}
