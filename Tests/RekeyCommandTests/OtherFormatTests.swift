import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// Files with unusual parameters: what the options find, and what the commands advise.
@Suite(.enabled(if: Engine.current.formats.first == .v4, "this engine has few parameters"), .once)
struct OtherFormatTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements(
            """
            CREATE TABLE t (a); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
            INSERT INTO t SELECT hex(randomblob(20)) FROM n
            """
        )
        plain.close()
        _ = try directory.write("the passphrase\n".utf8, to: "p")
        _ = try directory.write("another passphrase\n".utf8, to: "p2")
        _ = try directory.write(DatabaseKey.sampleBytes("k"), to: "k")
        _ = try directory.write("x'00112233445566778899aabbccddeeff'\n".utf8, to: "salt")
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory, input: "")
    }

    private func parameters(_ arguments: String) throws -> [String: Any] {
        let object = try JSONSerialization.jsonObject(with: Data(rekey("inspect \(arguments) --json").output.utf8))
        return try #require((object as? [String: Any])?["parameters"] as? [String: Any])
    }

    /// An encrypted copy of the plaintext file.
    private func encrypt(_ file: String, _ options: String) throws {
        try FileManager.default.copyItem(atPath: directory.file("plain.db"), toPath: directory.file(file))
        let done = try rekey("encrypt \(file) \(options) --allow-weaker")
        #expect(done.status == 0, "\(done.errors)")
    }

    @Test func namedAbsenceOfMACsDoesNotHideMACs() throws {
        for version in [3, 4] {
            try encrypt("\(version).db", "--key-file k --format \(version) --plaintext-header 32 --salt salt")
            let options = "\(version).db --key-file k --salt salt --file-hmac-algorithm none"
            #expect(try parameters(options)["hmacAlgorithm"] as? String == (version == 3 ? "sha1" : "sha512"))
            #expect(try rekey("verify \(options)").status == 0)
        }
    }

    @Test func parametersOfHMACKeyNeedNoVersion() throws {
        for (number, format) in ["3 --fast-kdf-iter 7", "4 --fast-kdf-iter 7", "3 --hmac-salt-mask 55"].enumerated() {
            let file = "\(number).db"
            try encrypt(file, "--passphrase-file p --format \(format)")
            let refused = try rekey("inspect \(file) --passphrase-file p")
            #expect(refused.status == 77, "\(refused.output)")
            let option = format.split(separator: "--")[1]
            #expect(refused.errors.contains("--file-\(option.split(separator: " ")[0])"), "\(refused.errors)")
            let found = try parameters("\(file) --passphrase-file p --file-\(option)")
            #expect(found["version"] as? Int == Int(format.prefix(1)))
        }
    }

    @Test func parametersOfHMACKeyPermitNoMissingMACs() throws {
        try encrypt("none.db", "--passphrase-file p --hmac-algorithm none")
        let refused = try rekey("inspect none.db --passphrase-file p --file-fast-kdf-iter 2")
        #expect(refused.status == 65 && refused.errors.contains("no MACs"), "\(refused.output)\(refused.errors)")
    }

    @Test func longSearchIsShown() throws {
        try encrypt("a.db", "--passphrase-file p")
        let options = "--passphrase-file p2 --file-kdf-iter 2000000,2000001,2000002"
        let shown = try rekey("inspect a.db \(options)")
        // A log gets one line.
        #expect(
            shown.status == 77 && shown.errors.matches(of: /searching for the format/).count == 1,
            "\(shown.errors)"
        )
        #expect(try !rekey("inspect a.db \(options) --quiet").errors.contains("searching"))
    }

    @Test func longPlaintextHeaderIsNotPlaintext() throws {
        for size in [112, 3984, 4000] {
            let file = "\(size).db"
            try encrypt(file, "--passphrase-file p --plaintext-header \(size) --salt salt")
            #expect(try rekey("inspect \(file)").output.contains("encrypted"))
            #expect(try rekey("encrypt \(file) --passphrase-file p").status == 64)
            #expect(try rekey("verify \(file) --passphrase-file p --salt salt").status == 0)
            let done = try rekey("decrypt \(file) --passphrase-file p --salt salt --yes-write-plaintext")
            #expect(done.status == 0, "\(done.errors)")
            // What is reserved at the end of its pages stays.
            #expect(try rekey("inspect \(file)").output.contains("plaintext\n"))
        }
    }

    @Test func copyUnderAlteredPageCountIsRefused() throws {
        try encrypt("a.db", "--passphrase-file p --plaintext-header 32 --salt salt")
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: directory.file("a.db")))
        try file.seek(toOffset: 28)
        try file.write(contentsOf: Data([0, 0, 0, 4]))
        try file.close()
        let refused = try rekey("copy a.db b.db --passphrase-file p --salt salt")
        #expect(refused.status == 65, "\(refused.output)\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: directory.file("b.db")))
    }

    @Test func keyringFindsFileOfUnusualHMACKey() throws {
        try encrypt("a.db", "--key-file k --hmac-salt-mask 77 --fast-kdf-iter 5")
        let options = "--key-file k --file-hmac-salt-mask 77 --file-fast-kdf-iter 5"
        #expect(try rekey("keyring init a.db \(options) --new-passphrase-file p2").status == 0)
        let found = try parameters("a.db --keyring a.db.keyring --passphrase-file p2")
        #expect(found["hmacSaltMask"] as? String == "3a" && found["fastKdfIter"] as? Int == 2)
        #expect(try rekey("keyring rotate a.db --passphrase-file p2").status == 0)
    }

    @Test func journalOfOtherDatabaseIsNamed() throws {
        for file in ["a.db", "b.db"] { try encrypt(file, "--passphrase-file p") }
        let foreign = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.file("b.db"))))
        var journal: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        for number in [2, 0, foreign.count / 4096, 512, 4096] { journal += bigEndian(number) }
        journal += [UInt8](repeating: 0, count: 512 - journal.count)
        for number in 1...2 {
            let page = Array(foreign[(number - 1) * 4096..<number * 4096])
            let sum = stride(from: 4096 - 200, to: 0, by: -200).reduce(0) { $0 + Int(page[$1]) }
            journal += bigEndian(number) + page + bigEndian(sum)
        }
        _ = try directory.write(journal, to: "a.db-journal")
        for command in ["inspect", "verify", "status", "change --new-passphrase-file p2"] {
            let done = try rekey("\(command) a.db --passphrase-file p")
            #expect(done.status == 65 && (done.output + done.errors).contains("journal"), "\(command): \(done.errors)")
        }
        let recovered = try rekey("recover a.db c.db --passphrase-file p")
        #expect(recovered.output.contains("table t: 900 rows"), "\(recovered.output)\(recovered.errors)")
    }

    private func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    @Test func wrongRawKeyBlamesNoIterations() throws {
        try encrypt("raw.db", "--key-file k")
        _ = try directory.write(DatabaseKey.sampleBytes("other"), to: "other")
        let raw = try rekey("inspect raw.db --key-file other")
        #expect(raw.status == 77 && !raw.errors.contains("--file-kdf-iter"), "\(raw.errors)")
        #expect(try rekey("inspect raw.db --passphrase-file p").errors.contains("--file-kdf-iter"))
        #expect(try rekey("inspect raw.db --key-file k").output.contains("none: the key is raw"))
    }

    @Test func weakFileOfNewestVersionHasAdvice() throws {
        try encrypt("weak.db", "--passphrase-file p --kdf-iter 1000 --hmac-algorithm sha1")
        let options = "weak.db --passphrase-file p --file-kdf-iter 1000"
        #expect(try rekey("inspect \(options)").output.contains("run `rekey migrate --kdf-iter 256000`"))
        let idle = try rekey("migrate \(options)")
        #expect(idle.output.contains("own has kdf_iter = 256000, hmac_algorithm = SHA512"), "\(idle.output)")
        let done = try rekey("migrate \(options) --kdf-iter 256000 --hmac-algorithm SHA512")
        #expect(
            done.status == 0 && done.output.contains("format:        SQLCipher 4\n"),
            "\(done.output)\(done.errors)"
        )
    }

    @Test func migrationUsesIterationsOfVersion() throws {
        try encrypt("a.db", "--passphrase-file p")
        #expect(try rekey("migrate a.db --passphrase-file p --format 3 --allow-weaker").status == 0)
        #expect(try parameters("a.db --passphrase-file p")["kdfIter"] as? Int == 64000)
        // A number that somebody chose stays.
        try encrypt("b.db", "--passphrase-file p --format 3 --kdf-iter 300000")
        #expect(try rekey("migrate b.db --passphrase-file p --file-kdf-iter 300000 --format 4").status == 0)
        #expect(try parameters("b.db --passphrase-file p --file-kdf-iter 300000")["kdfIter"] as? Int == 300_000)
    }

    @Test func migrationKeepsParametersUnlessVersionIsNamed() throws {
        try encrypt("a.db", "--passphrase-file p --hmac-algorithm sha256 --page-size 8192")
        for (format, mac) in [("", "sha256"), ("--format 4", "sha512")] {
            #expect(try rekey("migrate a.db --passphrase-file p \(format) --hmac-pgno be").status == 0)
            let found = try parameters("a.db --passphrase-file p")
            #expect(found["hmacAlgorithm"] as? String == mac && found["pageSize"] as? Int == 8192)
        }
    }

    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
    func copyOfSmallestPagesIsRefusedWithReason() throws {
        let shell = try #require(StockShell.all.first { $0.format == 3 })
        let settings = ["cipher_use_hmac = OFF", "cipher_page_size = 512"]
        let rows = """
            CREATE TABLE t (a); INSERT INTO t VALUES (hex(randomblob(200))); INSERT INTO t SELECT a || a FROM t;
            INSERT INTO t SELECT hex(randomblob(50)) FROM t a, t b, t c, t d, t e, t f, t g, t h;
            """
        _ = try shell.run(directory.file("a.db"), key: "key = 'the passphrase'", settings: settings, rows)
        let refused = try rekey("copy a.db b.db --passphrase-file p --file-hmac-algorithm none")
        #expect(refused.status == 1 && refused.errors.contains("pages of 512 bytes"), "\(refused.errors)")
        #expect(!FileManager.default.fileExists(atPath: directory.file("b.db")))
    }

    @Test func keyringNamesFormatAsFound() throws {
        try encrypt("a.db", "--passphrase-file p --format 2")
        let made = try rekey("keyring init a.db --passphrase-file p --new-passphrase-file p2")
        #expect(made.output.contains("format:        SQLCipher 3\n"), "\(made.output)\(made.errors)")
        #expect(try parameters("a.db --keyring a.db.keyring --passphrase-file p2")["version"] as? Int == 3)
    }

    @Test func optionsWithoutEffectAreRefused() throws {
        for options in ["encrypt plain.db --file-format 3", "encrypt plain.db --salt salt", "keyring init plain.db"] {
            let refused = try rekey("\(options) --passphrase-file p")
            #expect(refused.status == 64, "\(options): \(refused.errors)")
        }
        #expect(try rekey("inspect plain.db").output.contains("plaintext"))
        try encrypt("raw.db", "--key-file k")
        _ = try directory.write(DatabaseKey.sampleBytes("k") + [UInt8](repeating: 1, count: 16), to: "k48")
        let refused = try rekey("inspect raw.db --key-file k48 --salt salt")
        #expect(refused.status == 64 && refused.errors.contains("--salt"), "\(refused.errors)")
    }

    /// What `rekey inspect` and SQLCipher's pragmas print is understood by the options.
    @Test func printedParametersAreAccepted() throws {
        let salt = "00112233445566778899aabbccddeeff"
        let written = "--hmac-salt-mask 0x55 --kdf-algorithm PBKDF2_HMAC_SHA1 --hmac-algorithm HMAC-SHA256"
        try encrypt(
            "a.db",
            "--passphrase-file p \(written) --hmac-pgno big-endian --plaintext-header 32 --salt 0x\(salt)"
        )
        let lines = try rekey(
            "inspect a.db --passphrase-file p --file-hmac-salt-mask x\\'55\\' --file-kdf-algorithm pbkdf2-hmac-sha-1"
                + " --file-hmac-algorithm HMAC_SHA256 --file-hmac-pgno be --file-plaintext-header 32 --salt x\\'\(salt)\\'"
        )
        for line in ["PBKDF2-HMAC-SHA1", "HMAC-SHA256", "big-endian", "salt mask 0x55"] {
            #expect(lines.output.contains(line), "\(line): \(lines.output)\(lines.errors)")
        }
        for mask in ["5", "0x5", "0x555", "+5", "x'5'", "0x", "zz"] {
            #expect(try rekey("inspect a.db --file-hmac-salt-mask \"\(mask)\"").status == 64, "\(mask)")
        }
        for hash in ["sha", "hmac", "md5", "none-sha1"] {
            #expect(try rekey("inspect a.db --file-kdf-algorithm \(hash)").status == 64, "\(hash)")
        }
    }

    @Test func oneIsNotCountedInPlural() throws {
        let options = "--passphrase-file p --format 3 --kdf-iter 1 --fast-kdf-iter 1"
        try encrypt("a.db", options)
        let file = "a.db --passphrase-file p --file-kdf-iter 1 --file-fast-kdf-iter 1"
        let inspected = try rekey("inspect \(file)").output
        #expect(inspected.contains("SHA1, 1 iteration\n") && inspected.contains("SHA1, 1 iteration, "), "\(inspected)")
        #expect(inspected.contains("with 1 iteration is weak"), "\(inspected)")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: directory.file("a.db")))
        try handle.truncate(atOffset: 1500)
        try handle.close()
        let verified = try rekey("verify \(file)")
        #expect(verified.output.contains("the file has 1 whole page\n"), "\(verified.output)\(verified.errors)")
    }
}
