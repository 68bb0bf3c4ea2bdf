import Foundation
import TestSupport
import Testing

@testable import CipherKeys

@Suite struct KeySourceTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func aPrivateFileIsReadByteForByte() throws {
        let bytes: [UInt8] = [0, 1, 255, 10, 13, 0]
        let path = try folder.write(bytes, to: "key")
        #expect(try KeySource.file(path: path).read() == SecretBytes(copying: bytes))
    }

    @Test(arguments: [0o604, 0o640, 0o644, 0o660, 0o610, 0o601, 0o777])
    func aFileThatOthersHaveRightsOnIsRefusedUnlessItIsMeant(mode: Int) throws {
        let path = try folder.write("secret".utf8, to: "key", mode: mode)
        #expect(throws: KeySourceError(source: path, problem: .othersCanRead(mode: mode))) {
            try KeySource.file(path: path).read()
        }
        #expect(try KeySource.unsafeFile(path: path).read() == SecretBytes(utf8: "secret"))
    }

    @Test func aPipeIsRefusedWithoutWaitingForItsWriter() throws {
        let path = folder.file("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        #expect(throws: KeySourceError(source: path, problem: .notAFile)) { try KeySource.file(path: path).read() }
    }

    @Test func aFolderIsRefused() {
        #expect(throws: KeySourceError(source: folder.path, problem: .notAFile)) {
            try KeySource.file(path: folder.path).read()
        }
    }

    @Test func aMissingFileIsNamed() {
        let path = folder.file("nothing")
        #expect(throws: KeySourceError(source: path, problem: .system(ENOENT))) {
            try KeySource.file(path: path).read()
        }
    }

    @Test func moreThanAMebibyteIsRefused() throws {
        let path = try folder.write(Data(count: 1 << 20 + 3), to: "large")
        #expect(throws: KeySourceError(source: path, problem: .tooLarge)) { try KeySource.file(path: path).read() }
        let largest = try folder.write(Data(repeating: 7, count: 1 << 20), to: "largest")
        #expect(try KeySource.file(path: largest).readPassphrase().isPassphrase)
    }

    @Test func aDescriptorIsReadToItsEnd() throws {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("from a pipe\n".utf8))
        try pipe.fileHandleForWriting.close()
        let source = KeySource.descriptor(pipe.fileHandleForReading.fileDescriptor)
        #expect(try source.readPassphrase() == .passphrase("from a pipe"))
    }

    @Test func aDescriptorThatIsNotOpenIsNamed() {
        #expect(throws: KeySourceError(source: "descriptor 987", problem: .system(EBADF))) {
            try KeySource.descriptor(987).read()
        }
    }

    @Test func aVariableIsReadAndAMissingOneNamed() throws {
        setenv("CIPHERDB_TEST_SECRET", "from the environment", 1)
        defer { unsetenv("CIPHERDB_TEST_SECRET") }
        #expect(
            try KeySource.environment("CIPHERDB_TEST_SECRET").readPassphrase() == .passphrase("from the environment")
        )
        #expect(throws: KeySourceError(source: "environment variable CIPHERDB_TEST_NONE", problem: .missing)) {
            try KeySource.environment("CIPHERDB_TEST_NONE").read()
        }
    }

    @Test(arguments: [
        ("word", "word"), ("word\n", "word"), ("word\r\n", "word"), ("word\n\n", "word\n"), (" word ", " word "),
    ])
    func oneLineEndingIsNotPartOfAPassphrase(content: String, passphrase: String) throws {
        let path = try folder.write(content.utf8, to: "passphrase")
        #expect(try KeySource.file(path: path).readPassphrase() == .passphrase(passphrase))
    }

    @Test func aLineEndingAloneIsAnEmptyPassphrase() throws {
        let path = try folder.write("\n".utf8, to: "passphrase")
        #expect(throws: MalformedKey.emptyPassphrase) { try KeySource.file(path: path).readPassphrase() }
    }

    @Test func aRawKeyIsReadFromItsBytesOrItsDigits() throws {
        let bytes = (0..<48).map { UInt8($0) }
        let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        for (content, key) in [
            (Array(bytes[..<32]), try DatabaseKey.raw(SecretBytes(copying: Array(bytes[..<32])))),
            (bytes, try .rawWithSalt(SecretBytes(copying: bytes))),
            (Array(digits.prefix(64).utf8), try .raw(hex: String(digits.prefix(64)))),
            (Array((digits + "\n").utf8), try .raw(hex: digits)),
        ] {
            let path = try folder.write(content, to: "raw")
            #expect(try KeySource.file(path: path).readRawKey() == key)
        }
    }

    @Test func aRawKeyOfAnotherLengthIsRefused() throws {
        let path = try folder.write(Data(repeating: UInt8(ascii: "a"), count: 31), to: "raw")
        #expect(throws: MalformedKey.oddNumberOfDigits(31)) { try KeySource.file(path: path).readRawKey() }
    }
}
