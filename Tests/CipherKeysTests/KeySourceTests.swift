import Foundation
import TestSupport
import Testing

@testable import CipherKeys

@Suite struct KeySourceTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private struct OwnSource: SecretSource {
        let text: String
        func read() throws -> SecretBytes { try SecretBytes(utf8: text) }
    }

    private struct SlowSource: AsyncSecretSource {
        let text: String
        func read() async throws -> SecretBytes {
            await Task.yield()
            return try SecretBytes(utf8: text)
        }
    }

    @Test func customSourceGivesEveryKeyKind() async throws {
        #expect(try OwnSource(text: "secret\n").readPassphrase() == .passphrase("secret"))
        #expect(try await SlowSource(text: "secret\r\n").readPassphrase() == .passphrase("secret"))
        let digits = String(repeating: "ab", count: 32)
        #expect(try OwnSource(text: digits).readRawKey() == .raw(hex: digits))
        #expect(try await SlowSource(text: digits + "\n").readRawKey() == .raw(hex: digits))
        let keyring = Keyring(path: directory.file("keyring"))
        try await keyring.create(with: OwnSource(text: "passphrase\n").readKeyringSecret(.passphrase))
        let unlocked = try await keyring.unlock(SlowSource(text: "passphrase").readKeyringSecret(.passphrase))
        try await unlocked.add(OwnSource(text: digits + "\n").readKeyringSecret(.external))
        #expect(try await keyring.unlock(SlowSource(text: digits + "\n").readKeyringSecret(.external)).slot == 2)
        let code = try RecoveryCode.random()
        try await unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
        let typed = try code.text().withUnsafeBytes { String(decoding: $0, as: UTF8.self).lowercased() + "\n" }
        #expect(try await keyring.unlock(OwnSource(text: typed).readKeyringSecret(.recoveryCode)).slot == 3)
    }

    @Test func privateFileIsReadByteForByte() throws {
        let bytes: [UInt8] = [0, 1, 255, 10, 13, 0]
        let path = try directory.write(bytes, to: "key")
        #expect(try KeySource.file(path: path).read() == SecretBytes(copying: bytes))
    }

    @Test(arguments: [0o604, 0o640, 0o644, 0o660, 0o610, 0o601, 0o777])
    func accessibleSecretFileIsRefused(mode: Int) throws {
        let path = try directory.write("secret".utf8, to: "key", mode: mode)
        #expect(throws: KeySourceError(.othersCanRead, path: path, mode: mode)) {
            try KeySource.file(path: path).read()
        }
        #expect(try KeySource.unsafeFile(path: path).read() == SecretBytes(utf8: "secret"))
    }

    @Test func namedPipeIsReadToItsEnd() throws {
        let path = directory.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let writer = try StartedProgram("/bin/sh", ["-c", "sleep 0.2; printf 'from a ' > \"$0\"", path])
        #expect(try KeySource.file(path: path).readPassphrase() == .passphrase("from a "))
        #expect(try writer.wait() == 0)
        // Nobody waits for the writer of a pipe that is refused.
        #expect(chmod(path, 0o640) == 0)
        #expect(throws: KeySourceError(.othersCanRead, path: path, mode: 0o640)) {
            try KeySource.file(path: path).read()
        }
    }

    @Test func errorIsCaughtByItsCause() throws {
        do {
            _ = try KeySource.file(path: directory.path).read()
            Issue.record("a directory is read")
        } catch KeySourceError.missing, KeySourceError.system {
            Issue.record("another cause matches")
        } catch KeySourceError.notAFile {
            // As it should be.
        }
        let error = KeySourceError(.system, path: "a", errno: ENOENT)
        #expect(error.code == .system && error.errno == ENOENT)
        if case .tooLarge = error { Issue.record("another cause matches") }
    }

    @Test func directoryIsRefused() {
        #expect(throws: KeySourceError(.notAFile, path: directory.path)) {
            try KeySource.file(path: directory.path).read()
        }
    }

    @Test func missingFileIsNamed() {
        let path = directory.file("nothing")
        #expect(throws: KeySourceError(.system, path: path, errno: ENOENT)) {
            try KeySource.file(path: path).read()
        }
    }

    @Test func moreThanMebibyteIsRefused() throws {
        let path = try directory.write(Data(count: 1 << 20 + 3), to: "large")
        #expect(throws: KeySourceError(.tooLarge, path: path)) { try KeySource.file(path: path).read() }
        let largest = try directory.write(Data(repeating: 7, count: 1 << 20), to: "largest")
        #expect(try KeySource.file(path: largest).readPassphrase().isPassphrase)
    }

    /// The line ending is not part of the passphrase, nor of its length.
    @Test(arguments: ["", "\n", "\r\n"]) func longestPassphraseHasLineEnding(ending: String) throws {
        let path = try directory.write(Data(repeating: 7, count: 1 << 20) + Data(ending.utf8), to: "largest")
        #expect(try KeySource.file(path: path).readPassphrase().isPassphrase)
    }

    @Test func descriptorIsReadToItsEnd() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("from a pipe\n".utf8))
        try pipe.fileHandleForWriting.close()
        let source = KeySource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        #expect(try source.readPassphrase() == .passphrase("from a pipe"))
    }

    @Test func descriptorThatIsNotOpenIsNamed() {
        #expect(throws: KeySourceError(.system, path: "descriptor 987", errno: EBADF)) {
            try KeySource.descriptor(987).read()
        }
    }

    @Test func variableIsReadAndWiped() throws {
        setenv("CIPHERDB_TEST_SECRET", "from the environment", 1)
        defer { unsetenv("CIPHERDB_TEST_SECRET") }
        let value = try #require(getenv("CIPHERDB_TEST_SECRET"))
        #expect(
            try KeySource.environment("CIPHERDB_TEST_SECRET").readPassphrase() == .passphrase("from the environment")
        )
        #expect((0..<strlen("from the environment")).allSatisfy { value[$0] == 0 }, "each byte is wiped")
        #expect(getenv("CIPHERDB_TEST_SECRET").map { strlen($0) } == 0, "children find nothing")
        #expect(throws: KeySourceError(.missing, path: "environment variable CIPHERDB_TEST_SECRET")) {
            try KeySource.environment("CIPHERDB_TEST_SECRET").read()
        }
        #expect(throws: KeySourceError(.missing, path: "environment variable CIPHERDB_TEST_NONE")) {
            try KeySource.environment("CIPHERDB_TEST_NONE").read()
        }
    }

    /// What a command withholds from its children is read once, as any variable.
    @Test func withheldVariableIsReadOnce() throws {
        let name = "CIPHERDB_TEST_WITHHELD"
        setenv(name, "from the environment", 1)
        defer { unsetenv(name) }
        try KeySource.withhold(environment: name)
        #expect(getenv(name) == nil)
        #expect(try KeySource.environment(name).readPassphrase() == .passphrase("from the environment"))
        #expect(throws: KeySourceError(.missing, path: "environment variable " + name)) {
            try KeySource.environment(name).read()
        }
    }

    @Test(arguments: [
        ("word", "word"), ("word\n", "word"), ("word\r\n", "word"), (" word ", " word "),
    ])
    func lineEndingIsNotPartOfPassphrase(content: String, passphrase: String) throws {
        let path = try directory.write(content.utf8, to: "passphrase")
        #expect(try KeySource.file(path: path).readPassphrase() == .passphrase(passphrase))
    }

    @Test(arguments: ["word\n\n", "word\nsecond\n", "word\r\nsecond", "\nword", "a\rb"])
    func secondLineIsRefused(content: String) throws {
        let path = try directory.write(content.utf8, to: "passphrase")
        #expect(throws: MalformedKey.severalLines) { try KeySource.file(path: path).readPassphrase() }
        #expect(throws: MalformedKey.severalLines) { try KeySource.file(path: path).readKeyringSecret(.passphrase) }
    }

    @Test(arguments: [[0xEF, 0xBB, 0xBF, 0x61], [0xFF, 0xFE, 0x61, 0, 0x62, 0], [0xFE, 0xFF, 0, 0x61, 0, 0x62]])
    func byteOrderMarkIsRefused(bytes: [UInt8]) throws {
        let path = try directory.write(bytes, to: "passphrase")
        #expect(throws: MalformedKey.byteOrderMark) { try KeySource.file(path: path).readPassphrase() }
    }

    @Test func binaryPassphraseIsReadByteForByte() throws {
        for bytes in [[0x61, 0x0A, 0xFF, 0x0A, 0x62], [0x61, 0x0A, 0x00, 0x62], [0xFF, 0xFE, 0x61, 0x62]] as [[UInt8]] {
            let path = try directory.write(bytes, to: "passphrase")
            #expect(try KeySource.file(path: path).readPassphrase() == .passphrase(SecretBytes(copying: bytes)))
        }
    }

    @Test func rawKeyIsReadInEverySpelling() throws {
        let digits = String(repeating: "0123456789abcdef", count: 4)
        let pairs = stride(from: 0, to: 64, by: 2).map { String(Array(digits)[$0...($0 + 1)]) }
        for text in [
            "x'\(digits)'", "X'\(digits)'\r\n", "\"x'\(digits)'\"\n", "0x\(digits)", "0X\(digits)\r\n", " \(digits) \n",
            digits.uppercased(), "\u{FEFF}\(digits)", pairs.joined(separator: " "),
            " \(pairs.joined(separator: " "))\n",
            // As `xxd -p` breaks lines.
            "\(digits.prefix(60))\n\(digits.suffix(4))\n", "\t0x\(pairs.joined(separator: "\r\n"))",
        ] {
            let path = try directory.write(text.utf8, to: "raw")
            #expect(try KeySource.file(path: path).readRawKey() == .raw(hex: digits), "\(text)")
        }
        for (text, error) in [
            ("0x", MalformedKey.wrongNumberOfDigits(0)), ("x'\(digits)", .notHexadecimal(offset: 0)),
            ("x'\(digits)0'", .malformedLiteral), ("x'g\(digits.dropFirst())'", .malformedLiteral),
            ("\(digits)\n\(digits)\n", .wrongNumberOfDigits(128)), ("\(digits)0", .oddNumberOfDigits(65)),
            (" \(digits.dropLast())g", .notHexadecimal(offset: 64)), ("0x0x\(digits)", .notHexadecimal(offset: 3)),
        ] {
            let path = try directory.write(text.utf8, to: "raw")
            #expect(throws: error, "\(text)") { try KeySource.file(path: path).readRawKey() }
        }
    }

    @Test func keyFileOfWrongSizeIsRefused() throws {
        for bytes in [[1, 2, 3], [UInt8](repeating: 200, count: 33), [UInt8](repeating: 0, count: 64)] {
            let path = try directory.write(bytes, to: "raw")
            #expect(throws: MalformedKey.wrongKeyFileSize(count: bytes.count)) {
                try KeySource.file(path: path).readRawKey()
            }
        }
    }

    @Test func lineEndingAloneIsEmptyPassphrase() throws {
        let path = try directory.write("\n".utf8, to: "passphrase")
        #expect(throws: MalformedKey.emptyPassphrase) { try KeySource.file(path: path).readPassphrase() }
    }

    @Test func rawKeyIsReadFromBytesOrDigits() throws {
        let bytes = (0..<48).map { UInt8($0) }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for (content, key) in [
            (Array(bytes[..<32]), try DatabaseKey.raw(SecretBytes(copying: Array(bytes[..<32])))),
            (bytes, try .rawWithSalt(SecretBytes(copying: bytes))),
            (Array(digits.prefix(64).utf8), try .raw(hex: String(digits.prefix(64)))),
            (Array((digits + "\n").utf8), try .raw(hex: digits)),
            (Array((digits + "\r\n").utf8), try .raw(hex: digits)),
            (Array("x'\(digits)'".utf8), try .raw(hex: digits)),
            (Array("X'\(digits.prefix(64))'\r\n".utf8), try .raw(hex: String(digits.prefix(64)))),
        ] {
            let path = try directory.write(content, to: "raw")
            #expect(try KeySource.file(path: path).readRawKey() == key)
        }
    }

    @Test func rawKeyOfAnotherLengthIsRefused() throws {
        let path = try directory.write(Data(repeating: UInt8(ascii: "a"), count: 31), to: "raw")
        #expect(throws: MalformedKey.oddNumberOfDigits(31)) { try KeySource.file(path: path).readRawKey() }
    }

    @Test func linkIsFollowedWithinDirectoryOnly() throws {
        let other = try TemporaryDirectory()
        let elsewhere = try other.write("secret".utf8, to: "key")
        try FileManager.default.createDirectory(atPath: directory.file("below"), withIntermediateDirectories: false)
        _ = try directory.write("inside".utf8, to: "below/key")
        let (out, within) = (directory.file("out"), directory.file("within"))
        try FileManager.default.createSymbolicLink(atPath: out, withDestinationPath: elsewhere)
        try FileManager.default.createSymbolicLink(atPath: within, withDestinationPath: "below/key")
        #expect(throws: KeySourceError(.leadsElsewhere, path: out)) { try KeySource.file(path: out).read() }
        #expect(try KeySource.unsafeFile(path: out).read() == SecretBytes(utf8: "secret"))
        #expect(try KeySource.file(path: within).read() == SecretBytes(utf8: "inside"))
        let lost = directory.file("lost")
        try FileManager.default.createSymbolicLink(atPath: lost, withDestinationPath: "nothing")
        #expect(throws: KeySourceError(.system, path: lost, errno: ENOENT)) {
            try KeySource.file(path: lost).read()
        }
    }

    @Test(.enabled(if: getuid() == 0, "only root can give a file away"))
    func foreignSecretFileIsRefused() throws {
        let path = try directory.write("secret".utf8, to: "key")
        #expect(chown(path, 12345, 12345) == 0)
        #expect(throws: KeySourceError(.ofAnotherUser, path: path)) { try KeySource.file(path: path).read() }
        #expect(try KeySource.unsafeFile(path: path).read() == SecretBytes(utf8: "secret"))
    }

    /// One that a shell has opened for the run, such as `3< file`, may be on another secret.
    @Test func commandGetsNoOtherDescriptor() throws {
        let path = try directory.write("other secret".utf8, to: "other")
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        for read in [
            KeySource.command(["cat", "/dev/fd/\(descriptor)"]).read,
            {
                try CommandOutput.read(["cat", "/dev/fd/\(descriptor)"], limit: .seconds(60))
            },
        ] {
            #expect(throws: KeySourceError(.commandFailed, path: "command cat", status: 1)) {
                _ = try read()
            }
        }
    }

    @Test func commandRunsWithoutShell() throws {
        #expect(try KeySource.command(["printf", "%s", "a b$HOME;'"]).read() == SecretBytes(utf8: "a b$HOME;'"))
        #expect(try KeySource.command(["echo", "secret"]).readPassphrase() == .passphrase("secret"))
        let large = try KeySource.command(["head", "-c", "1000000", "/dev/zero"]).read()
        #expect(large.count == 1_000_000)
    }

    @Test func failedCommandIsNamedWithoutArguments() throws {
        #expect(throws: KeySourceError(.commandFailed, path: "command false", status: 1)) {
            try KeySource.command(["false", "argument"]).read()
        }
        #expect(throws: KeySourceError(.system, path: "command no-such-program", errno: ENOENT)) {
            try KeySource.command(["no-such-program", "argument"]).read()
        }
        #expect(throws: KeySourceError(.missing, path: "command")) { try KeySource.command([]).read() }
        #expect(throws: KeySourceError(.commandFailed, path: "command sh", status: 137)) {
            try KeySource.command(["sh", "-c", "kill -9 $$"]).read()
        }
        // One that would never end.
        #expect(throws: KeySourceError(.tooLarge, path: "command yes")) {
            try KeySource.command(["yes"]).read()
        }
    }

    /// Not only left alone with a pipe that nobody reads.
    @Test func commandThatPrintsTooMuchIsEnded() throws {
        let (ended, went) = (directory.file("pid"), directory.file("went on"))
        let script = "trap '' PIPE; echo $$ > '\(ended)'; head -c 3000000 /dev/zero; sleep 3; echo > '\(went)'"
        #expect(throws: KeySourceError(.tooLarge, path: "command sh")) {
            try KeySource.command(["sh", "-c", script]).read()
        }
        let text = try String(contentsOfFile: ended, encoding: .utf8)
        let process = try #require(pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(process, 0) != 0, "neither runs, nor is it a zombie")
        #expect(!FileManager.default.fileExists(atPath: went))
    }

    #if os(Linux)
        @Test func kernelKeyIsReadByDescription() throws {
            let description = "cipherdb test \(UUID())"
            let bytes: [UInt8] = [1, 0, 255, 10]
            // Where the system does not let a process have keys there is nothing to read either.
            try #require(KernelKeyring.add(description, bytes), "this system has no kernel keyring")
            #expect(try KeySource.kernelKeyring(description: description).read() == SecretBytes(copying: bytes))
            let error = #expect(throws: KeySourceError.self) {
                try KeySource.kernelKeyring(description: description + "?").read()
            }
            #expect(error?.path.contains(description) == true)
        }
    #endif

    #if !canImport(Security)
        @Test func missingKeychainIsReported() {
            #expect(throws: KeySourceError(.notHere, path: "keychain item a, b")) {
                try KeySource.keychain(service: "a", account: "b").read()
            }
            let item = KeychainItem(service: "a", account: "b", accessGroup: "c", usesSecureEnclave: true)
            let error = KeySourceError(.notHere, path: "keychain item a, b")
            #expect(throws: error) { try item.read() }
            #expect(throws: error) { try item.store(SecretBytes(utf8: "secret")) }
            #expect(throws: error) { try item.remove() }
        }
    #else
        private static let item = KeychainItem(service: "org.cipherdb.tests", account: "key")
        /// A program without the entitlement has none, as one of `swift test`.
        private static let hasKeychain = (try? item.remove()) != nil

        @Test(.enabled(if: hasKeychain, "this program has no entitlement for the keychain"))
        func keychainKeepsKey() throws {
            let key = try DatabaseKey.random()
            try Self.item.store(DatabaseKey.random().exported())
            try Self.item.store(key.exported())
            #expect(try Self.item.readRawKey() == key)
            try Self.item.remove()
            expect(throws: KeySourceError.missing) { try Self.item.read() }
        }
    #endif
}
