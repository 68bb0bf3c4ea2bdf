import Foundation
import TestSupport
import Testing

@testable import CipherKeys

/// The vectors of the format, which a program in Python wrote that shares no code with the library.
@Suite(.slow) struct KeyringVectorTests {
    struct Vector: CustomStringConvertible {
        let name: String
        let headers: [String: String]
        let bytes: [UInt8]
        var description: String { name }

        init(_ url: URL) throws {
            name = url.deletingPathExtension().lastPathComponent
            let parts = try String(contentsOf: url, encoding: .utf8).split(separator: "\n\n", maxSplits: 1)
            headers = Dictionary(
                uniqueKeysWithValues: parts[0].split(separator: "\n").map { line in
                    let end = line.firstRange(of: ": ")!
                    return (String(line[..<end.lowerBound]), String(line[end.upperBound...]))
                }
            )
            bytes = try KeyDerivationTests.bytes(parts.count > 1 ? String(parts[1].filter { $0 != "\n" }) : "")
        }

        var secret: KeyringSecret {
            get throws {
                if let code = headers["recovery code"] {
                    return .recoveryCode(try RecoveryCode(typed: SecretBytes(utf8: code)))
                }
                if let hex = headers["passphrase"] { return try .passphrase(secret(hex)) }
                if let hex = headers["command"] { return try KeyringSecret(kind: .command, bytes: secret(hex)) }
                if let hex = headers["key file"] { return try .keyFile(secret(hex)) }
                return try .external(secret(#require(headers["external"])))
            }
        }

        private func secret(_ hex: String) throws -> SecretBytes {
            try SecretBytes(copying: KeyDerivationTests.bytes(hex))
        }
    }

    static let vectors: [Vector] = {
        let directory = Bundle.module.resourceURL!.appendingPathComponent("Vectors/Keyring")
        let files = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (files ?? []).compactMap { try? Vector($0) }.sorted { $0.name < $1.name }
    }()

    @Test func keyringVectorsArePresent() {
        #expect(Self.vectors.count > 100)
    }

    @Test(arguments: vectors)
    func eachVectorMatches(vector: Vector) throws {
        let directory = try TemporaryDirectory()
        let keyring = Keyring(path: try directory.write(vector.bytes, to: vector.name))
        let slot = vector.headers["slot"].flatMap { Int($0) }
        do {
            let unlocked = try keyring.unlock(vector.secret, slot: slot, upgrades: false)
            #expect(vector.headers["expect"] == "opens")
            #expect(vector.headers["opened slot"] == "\(unlocked.slot)")
            let keys = try unlocked.databaseKeys()
            for (name, key) in [("database key", keys.current), ("next key", keys.next)] {
                let digits = try key?.exported().withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
                #expect(digits == vector.headers[name]?.lowercased())
            }
            // What is read is written as it was.
            let content = try KeyringContent(vector.bytes)
            #expect(try content.encoded() == Array(vector.bytes.dropLast(KeyringContent.codeSize)))
        } catch let error as KeyringError {
            #expect(vector.headers["expect"] == error.code.rawValue)
        }
    }

    @Test(.enabled(if: KeyringVectorTests.hasPython, "python3 is missing: run make setup"))
    func pythonReaderAgrees() throws {
        let script = Program.packageDirectory + "/Tests/Readers/keyring.py"
        let directory = Program.packageDirectory + "/Tests/CipherKeysTests/Vectors/Keyring"
        let checked = try Program.run("/usr/bin/env", ["python3", script, "--check", directory])
        #expect(checked.status == 0, "\(checked.output)\(checked.errors)")

        let temporary = try TemporaryDirectory()
        let path = temporary.file("ours")
        let file = try SecretBytes.random(count: 100)
        let code = try RecoveryCode.random()
        let unlocked = try Keyring(path: path).create(with: .passphrase("correct horse"), label: "Ada")
        try unlocked.add(.keyFile(file), label: "zwölf")
        try unlocked.add(.external(file))
        try unlocked.add(code, typedBack: RecoveryCode(typed: code.text()))
        try unlocked.add(
            .passphrase("by scrypt"),
            derivation: PassphraseDerivation(.scrypt(logCost: 14, blockSize: 8, parallelism: 5))
        )
        let printed = try file.withUnsafeBytes { try temporary.write($0, to: "printed") }
        try unlocked.add(.command(SecretCommand(arguments: ["/bin/cat", printed])))
        try unlocked.withLock { locked in
            _ = try locked.beginRotation()
            try locked.finishRotation(salt: Array(repeating: 9, count: 16))
        }
        let key = try unlocked.databaseKey()
        for (number, option, secret) in [
            (1, "--passphrase-file", try SecretBytes(utf8: "correct horse\n")), (2, "--key-file", file),
            (3, "--external-file", file), (4, "--recovery-code-file", try code.text()),
            (5, "--passphrase-file", try SecretBytes(utf8: "by scrypt")), (6, "--command-output-file", file),
        ] {
            let secret = try secret.withUnsafeBytes { try temporary.write($0, to: "secret") }
            let opened = try Program.run("/usr/bin/env", ["python3", script, path, option, secret, "--export-key"])
            let lines = opened.output.split(separator: "\n")
            #expect(lines.first == "opens: slot \(number)", "\(opened.output)\(opened.errors)")
            #expect(try lines.last.map { try DatabaseKey.raw(hex: String($0)) == key } == true)
        }
    }

    static let hasPython = (try? Program.run("/usr/bin/env", ["python3", "--version"]).status) == 0
}
