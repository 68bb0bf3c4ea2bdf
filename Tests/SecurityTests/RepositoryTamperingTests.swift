import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// Someone who can change a repository of backups.
@Suite(.once) struct RepositoryTamperingTests {
    private let directory: TemporaryDirectory
    private let key: DatabaseKey
    private let original: String
    /// The file that each generation restores to.
    private let states: [Data]

    /// Three generations, each with changes of its own.
    init() throws {
        directory = try TemporaryDirectory()
        key = try .sample("repository")
        original = directory.file("original")
        let path = directory.file("test.db")
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        var states: [Data] = []
        for number in 1...3 {
            try queue.inDatabase {
                try $0.executeUpdate("UPDATE people SET note = randomblob(50) WHERE id % 200 = \(number)")
            }
            try DatabaseFile(path: path).backUp(to: BackupRepository(original), key: key)
            states.append(try Data(contentsOf: URL(fileURLWithPath: path)))
        }
        try queue.close()
        self.states = states
    }

    /// A copy of the repository, to be changed.
    private func copy() throws -> String {
        let place = directory.file("copy")
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.copyItem(atPath: original, toPath: place)
        return place
    }

    private func objects(_ repository: String, _ kind: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(repository)/\(kind)").sorted().map {
            "\(repository)/\(kind)/\($0)"
        }
    }

    /// What a generation restores to with the key; nil where that is refused.
    private func restored(_ repository: String, _ number: Int) -> Data? {
        let place = directory.file("restored.db")
        defer { try? FileManager.default.removeItem(atPath: place) }
        let done = try? DatabaseFile(path: place).restore(
            from: BackupRepository(repository),
            .number(UInt64(number)),
            key: key
        )
        return done.flatMap { _ in try? Data(contentsOf: URL(fileURLWithPath: place)) }
    }

    private func problems(_ repository: String, provingBy key: DatabaseKey? = nil) -> [String] {
        do {
            guard let key else { return try BackupRepository(repository).check(atLeast: 3).problems }
            return try BackupRepository(repository).check(provingBy: [key], atLeast: 3).problems
        } catch {
            return ["\(error)"]
        }
    }

    /// Changes something at random, and says what.
    private func tamper(_ repository: String, _ random: inout SplitMix) throws -> String {
        let objects =
            try objects(repository, "segments") + objects(repository, "generations") + ["\(repository)/repository"]
        let first = try #require(objects.randomElement(using: &random))
        let second = try #require(objects.filter { $0 != first }.randomElement(using: &random))
        let bytes = try Data(contentsOf: URL(fileURLWithPath: first))
        switch Int.random(in: 0..<5, using: &random) {
        case 0, 1:
            let offset = Int.random(in: 0..<bytes.count, using: &random)
            try flipByte(of: first, at: offset)
            return "byte \(offset) of \(first)"
        case 2:
            let size = Int.random(in: 0..<bytes.count, using: &random)
            try bytes.prefix(size).write(to: URL(fileURLWithPath: first))
            return "\(first) cut to \(size)"
        case 3:
            let other = try Data(contentsOf: URL(fileURLWithPath: second))
            try other.write(to: URL(fileURLWithPath: first))
            try bytes.write(to: URL(fileURLWithPath: second))
            return "\(first) and \(second) exchanged"
        default:
            try FileManager.default.removeItem(atPath: first)
            return "\(first) removed"
        }
    }

    @Test func changedRepositoryRestoresNothingElse() throws {
        #expect(problems(original) == [])
        var trials = RandomTrials("tampering with a repository", "CIPHERDB_REPOSITORIES", rounds: 60)
        while trials.goesOn() {
            let repository = try copy()
            let change = try tamper(repository, &trials.random)
            #expect(!problems(repository).isEmpty, "\(change)")
            #expect(!problems(repository, provingBy: key).isEmpty, "\(change)")
            for number in 1...3 {
                guard let data = restored(repository, number) else { continue }
                #expect(data == states[number - 1], "\(change)")
            }
        }
    }

    /// Replaces bytes of the newest manifest, and makes its digest and name right again.
    private func forge(_ repository: String, _ change: (inout [UInt8]) -> Void) throws {
        let path = try #require(objects(repository, "generations").last)
        var file = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        file.removeLast(Digest.size)
        change(&file)
        file += try Cryptography.SHA256().digest(of: file).bytes
        try FileManager.default.removeItem(atPath: path)
        let number = String(URL(fileURLWithPath: path).lastPathComponent.prefix(10))
        let name = try number + "-" + Cryptography.SHA256().digest(of: file).bytes.prefix(8).hexadecimal
        try Data(file).write(to: URL(fileURLWithPath: "\(repository)/generations/\(name)"))
    }

    /// Where the manifest has the reference to the root, and the segments.
    private static let root = 8 + 2 + 16 + 8 + 8 + 32 + 16 + 8 + 8

    @Test func forgedManifestNeedsKey() throws {
        let repository = try copy()
        let older = try Array(Data(contentsOf: URL(fileURLWithPath: objects(repository, "generations")[0])))
        // The state of the first generation as that of the third, with all digests right.
        try forge(repository) { file in
            file.replaceSubrange(
                Self.root...,
                with: older[Self.root...].dropLast(Digest.size + BackupKey.macSize) + file.suffix(BackupKey.macSize)
            )
        }
        let place = directory.file("restored.db")
        let error = #expect(throws: BackupError.self) {
            try DatabaseFile(path: place).restore(from: BackupRepository(repository), key: key)
        }
        #expect(error.map { if case .altered = $0 { true } else { false } } == true)
        // Without the key it is as good as any, but for the chain.
        try DatabaseFile(path: place).restore(from: BackupRepository(repository))
        #expect(try Data(contentsOf: URL(fileURLWithPath: place)) == states[0])
    }

    @Test func checkByKeyFindsForgedManifest() throws {
        let check = { repository in
            try BackupRepository(repository).check(provingBy: [self.key], atLeast: 3)
        }
        let right = try check(original)
        #expect(right.problems == [] && right.proved == [1, 2, 3])
        let size = Self.root - 16
        for change in [
            // Another state, no MAC, another key.
            { (file: inout [UInt8]) in file[size + 7] ^= 1 },
            { (file: inout [UInt8]) in
                file.replaceSubrange((size - 16)..<size, with: [UInt8](repeating: 0, count: 16))
                file.replaceSubrange((file.count - BackupKey.macSize)..., with: [UInt8](repeating: 0, count: 32))
            },
            { (file: inout [UInt8]) in file[size - 1] ^= 1 },
        ] {
            let repository = try copy()
            try forge(repository, change)
            let found = Result { try check(repository) }
            #expect(throws: BackupError.self) {
                guard try found.get().problems.isEmpty else { throw BackupError(.altered, path: "") }
            }
        }
        let other = try DatabaseKey.sample("other")
        #expect(throws: BackupError.self) { try BackupRepository(original).check(provingBy: [other]) }
    }

    @Test func manifestWithoutMACIsRefusedWithKey() throws {
        let repository = try copy()
        try forge(repository) { file in
            let identifier = Self.root - 16 - BackupKey.identifierSize
            file.replaceSubrange(identifier..<(identifier + 16), with: [UInt8](repeating: 0, count: 16))
            file.replaceSubrange((file.count - BackupKey.macSize)..., with: [UInt8](repeating: 0, count: 32))
        }
        let place = directory.file("restored.db")
        let error = #expect(throws: BackupError.self) {
            try DatabaseFile(path: place).restore(from: BackupRepository(repository), key: key)
        }
        #expect(error.map { if case .unauthenticated = $0 { true } else { false } } == true)
        #expect(!FileManager.default.fileExists(atPath: place))
    }

    @Test func manifestOfOtherRepositoryIsRefused() throws {
        let other = directory.file("other")
        let path = directory.file("test.db")
        for number in 1...4 {
            let queue = try DatabaseQueue(path: path, key: key)
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 'later' WHERE id = \(number)") }
            try queue.close()
            try DatabaseFile(path: path).backUp(to: BackupRepository(other), key: key)
        }
        let repository = try copy()
        for kind in ["segments", "generations"] {
            for object in try objects(other, kind) {
                let name = URL(fileURLWithPath: object).lastPathComponent
                try FileManager.default.copyItem(atPath: object, toPath: "\(repository)/\(kind)/\(name)")
            }
        }
        #expect(restored(repository, 4) == nil)
        #expect(!problems(repository).isEmpty)
    }

    /// The name says which generation it is, and of which bytes.
    @Test(arguments: [0, 26]) func manifestOfOtherNameIsRefused(changing position: Int) throws {
        let repository = try copy()
        let newest = try #require(objects(repository, "generations").last)
        var name = Array(URL(fileURLWithPath: newest).lastPathComponent)
        name[position] = name[position] == "1" ? "2" : "1"
        try FileManager.default.moveItem(atPath: newest, toPath: "\(repository)/generations/\(String(name))")
        #expect(problems(repository).contains { $0.contains(String(name)) })
        let number = try #require(Int(String(name.prefix(10))))
        #expect(restored(repository, 3) == nil && restored(repository, number) == nil)
    }

    @Test func oldCopyOfRepositoryIsFound() throws {
        let repository = try copy()
        try FileManager.default.removeItem(atPath: #require(objects(repository, "generations").last))
        // It is authentic: only who knows the number notices.
        #expect(restored(repository, 2) == states[1])
        #expect(problems(repository) == [BackupError(.outdated, newest: 2, expected: 3).description])
        let place = directory.file("restored.db")
        #expect(throws: BackupError(.outdated, newest: 2, expected: 3)) {
            try DatabaseFile(path: place).restore(from: BackupRepository(repository), atLeast: 3, key: key)
        }
    }

    @Test func oldCopyIsFoundByKeyring() throws {
        let keyring = try Keyring(path: directory.file("keyring")).create(with: .sample("secret"))
        let newest = try #require(BackupRepository(original).generations().last)
        try BackupRepository(original).note(newest, in: keyring)
        let place = try copy()
        let repository = BackupRepository(place)
        #expect(try repository.notedGeneration(in: keyring) == 3)
        try FileManager.default.removeItem(atPath: #require(objects(place, "generations").last))
        #expect(throws: BackupError(.outdated, newest: 2, expected: 3)) {
            try DatabaseFile(path: directory.file("restored.db")).restore(
                from: repository,
                atLeast: repository.notedGeneration(in: keyring),
                key: key
            )
        }
        // Without a secret nobody changes the note.
        try flipByte(of: keyring.keyring.path, at: FileState(keyring.keyring.path).bytes.count - 32 - 64 - 1)
        #expect(throws: KeyringError.self) { try repository.notedGeneration(in: keyring) }
    }

    @Test func repositoryHasNoPlaintextAndNoKey() throws {
        for object in try objects(original, "segments") + objects(original, "generations") + ["\(original)/repository"]
        {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: object))
            for secret in [
                Data("plaintextmarker".utf8), Data("SQLite format".utf8), Data(DatabaseKey.sampleBytes("repository")),
            ] {
                #expect(bytes.range(of: secret) == nil, "\(object)")
            }
            #expect(try FileManager.default.attributesOfItem(atPath: object)[.posixPermissions] as? Int == 0o600)
        }
    }
}
