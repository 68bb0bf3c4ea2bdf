import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// A right key beside something else that is wrong: the message says so.
@Suite(.enabled(if: Engine.current.formats.first == .v4, "this engine has few parameters"), .once) struct RightKeyTests
{
    let directory: TemporaryDirectory
    let salt = (0..<16).map { UInt8($0) }

    init() throws {
        directory = try TemporaryDirectory()
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements(SampleFile.content)
        plain.close()
        let key = DatabaseKey.sampleBytes("k")
        _ = try directory.write(key, to: "k")
        _ = try directory.write("the passphrase\n".utf8, to: "p")
        _ = try directory.write(key + salt, to: "k48")
        _ = try directory.write(salt.map { $0 &* 7 &+ 3 }, to: "othersalt")
        _ = try directory.write(salt, to: "salt")
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory, input: "")
    }

    private func encrypt(_ file: String, _ options: String) throws {
        try FileManager.default.copyItem(atPath: directory.file("plain.db"), toPath: directory.file(file))
        let done = try rekey("encrypt \(file) \(options) --allow-weaker")
        #expect(done.status == 0, "\(done.errors)")
    }

    private func change(_ file: String, at offset: UInt64, to bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: directory.file(file)))
        try handle.seek(toOffset: offset)
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    @Test(arguments: ["--key-file k", "--passphrase-file p"]) func parametersAreFoundAndNamed(key: String) throws {
        let cases = [
            "3 --hmac-salt-mask 55", "4 --hmac-salt-mask 01", "4 --fast-kdf-iter 77", "3 --fast-kdf-iter 4000",
        ]
        for (number, format) in cases.enumerated() {
            let file = "\(number).db"
            try encrypt(file, "\(key) --format \(format)")
            let option = "--file-\(format.dropFirst(4))"
            for command in ["inspect", "verify", "status"] {
                let refused = try rekey("\(command) \(file) \(key)")
                let text = refused.output + refused.errors
                #expect(refused.status == 77 && text.contains("the key is right"), "\(text)")
                #expect(command == "status" || text.contains("; give \(option)\n"), "\(text)")
                #expect(!text.contains("Configuration"), "\(text)")
            }
            #expect(try rekey("verify \(file) \(key) \(option)").status == 0)
        }
    }

    @Test func programGetsLineThatOpens() throws {
        try encrypt("a.db", "--key-file k --hmac-salt-mask 55")
        let key = try DatabaseKey.raw(SecretBytes(copying: DatabaseKey.sampleBytes("k")))
        let path = directory.file("a.db")
        for format in [nil, CipherFormat.any] {
            let error = #expect(throws: KeyError.self) {
                _ = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
            }
            #expect(error.map { "\($0)".contains("try CipherFormat(.v4) { $0.macSaltMask = 0x55 }") } == true)
        }
        let named = Configuration { $0.format = try? CipherFormat { $0.macSaltMask = 0x55 } }
        let queue = try DatabaseQueue(path: path, key: key, configuration: named)
        #expect(try queue.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
    }

    /// CipherDB puts no file without MACs under a raw key.
    private func makeWithoutMACs() throws {
        let digits = DatabaseKey.sampleBytes("k").map { String(format: "%02x", $0) }.joined()
        let shell = try #require(StockShell.ofThisFormat)
        let settings = ["cipher_use_hmac = OFF"]
        _ = try shell.run(
            directory.file("a.db"),
            key: "key = \"x'\(digits)'\"",
            settings: settings,
            "CREATE TABLE t (a);"
        )
    }

    @Test(.enabled(if: StockShell.ofThisFormat != nil, "the stock shells are missing"))
    func missingMACsAreNamedUnderRawKey() throws {
        try makeWithoutMACs()
        let refused = try rekey("verify a.db --key-file k")
        #expect(refused.status == 65 && refused.errors.contains("--file-hmac-algorithm none"), "\(refused.errors)")
        #expect(refused.errors.contains("the key is right"))
        #expect(try rekey("verify a.db --key-file k --file-hmac-algorithm none").status == 0)
    }

    @Test func saltOfKeyIsBlamed() throws {
        try encrypt("a.db", "--key-file k")
        let refused = try rekey("verify a.db --key-file k48")
        #expect(refused.status == 77 && refused.errors.contains("its last 32 digits"), "\(refused.errors)")
        #expect(try rekey("verify a.db --key-file k").status == 0)
    }

    /// Without MACs the salt has no part in anything.
    @Test(.enabled(if: StockShell.ofThisFormat != nil, "the stock shells are missing"))
    func saltOfKeyIsUnusedWithoutMACs() throws {
        try makeWithoutMACs()
        let found = try rekey("verify a.db --key-file k48 --file-hmac-algorithm none")
        #expect(found.status == 0, "\(found.output)")
    }

    @Test func givenSaltIsBlamed() throws {
        try encrypt("a.db", "--key-file k --plaintext-header 32 --salt salt")
        let refused = try rekey("verify a.db --key-file k --salt othersalt")
        #expect(refused.status == 77 && refused.errors.contains("--salt"), "\(refused.errors)")
        #expect(refused.errors.contains("the key decrypts page 1"))
    }

    @Test func missingSaltIsNamed() throws {
        try encrypt("a.db", "--key-file k --plaintext-header 32 --salt salt")
        let refused = try rekey("verify a.db --key-file k")
        #expect(refused.status == 77 && refused.errors.contains("does not contain its salt"), "\(refused.errors)")
    }

    @Test func damagedSaltIsNoWrongKey() throws {
        try encrypt("a.db", "--key-file k")
        try change("a.db", at: 5, to: [0xaa, 0xbb])
        let refused = try rekey("verify a.db --key-file k")
        #expect(refused.status == 77 && refused.errors.contains("the key decrypts page 1"), "\(refused.errors)")
    }

    @Test func lostMagicIsDamage() throws {
        for key in ["--key-file k", "--key-file k48", "--passphrase-file p"] {
            let options = "\(key)\(key.contains("48") ? "" : " --salt salt")"
            for magic in [Array("SQLiXe".utf8), [UInt8](repeating: 7, count: 16)] {
                try encrypt("a.db", "\(options) --plaintext-header 32")
                try change("a.db", at: 0, to: magic)
                let found = try rekey("verify a.db \(options)")
                #expect(found.status == 65 && found.output.contains("page 1"), "\(found.output)\(found.errors)")
                let saved = try rekey("recover a.db b.db \(options)")
                #expect(saved.output.contains(" none\n"), "\(saved.output)\(saved.errors)")
                #expect(try rekey("verify b.db \(options)").status == 0)
                for file in ["a.db", "b.db"] { try? FileManager.default.removeItem(atPath: directory.file(file)) }
            }
        }
    }

    @Test(arguments: [16, 48, 64, 80, 112]) func damagedFirstPageKeepsHeaderSize(size: Int) throws {
        let header = "--plaintext-header \(size)"
        try encrypt("a.db", "--passphrase-file p --salt salt \(header)")
        // In cells that nobody decrypts to find the header.
        try change("a.db", at: 3000, to: [0x55, 0x66])
        // Behind more than 80 bytes nothing tells how many there are.
        let options = "--passphrase-file p --salt salt \(size > 80 ? "--file\(header.dropFirst())" : "")"
        let found = try rekey("verify a.db \(options)")
        #expect(
            found.status == 65 && found.output.contains("header of \(size) bytes"),
            "\(found.output)\(found.errors)"
        )
        _ = try rekey("recover a.db b.db \(options)")
        #expect(try rekey("inspect b.db \(options)").output.contains("\(size) bytes"))
    }

    @Test func lostMagicWithoutSaltIsPlaintextHeader() throws {
        try encrypt("a.db", "--passphrase-file p --plaintext-header 32 --salt salt")
        try change("a.db", at: 3, to: [0])
        let refused = try rekey("verify a.db --passphrase-file p")
        #expect(refused.status == 77 && refused.errors.contains("plaintext header"), "\(refused.errors)")
    }
}
