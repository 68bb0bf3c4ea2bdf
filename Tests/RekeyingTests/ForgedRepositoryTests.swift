import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

/// What somebody without the key adds to a repository, and what stands beside the file that is restored.
@Suite struct ForgedRepositoryTests {
    private let fixture: RepositoryFixture

    /// Two generations.
    init() throws {
        fixture = try RepositoryFixture()
        let queue = try fixture.open()
        try fixture.backUp()
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 'changed' WHERE id = 5") }
        try queue.close()
        try fixture.backUp()
    }

    private func restore(
        _ choice: GenerationChoice = .newest,
        atLeast expected: UInt64? = nil,
        to name: String = "restored.db"
    ) throws {
        try DatabaseFile(path: fixture.directory.file(name)).restore(
            from: fixture.repository,
            choice,
            atLeast: expected,
            key: RepositoryFixture.key.key
        )
    }

    private func add(_ number: UInt64, like stored: StoredManifest, under key: BackupKey? = nil) throws {
        let old = stored.manifest
        let forged = try StoredManifest(
            Manifest(
                repository: old.repository,
                number: number,
                time: old.time,
                previous: old.previous,
                keyIdentifier: key?.identifier,
                databaseSize: old.databaseSize,
                storedSize: old.storedSize,
                root: old.root,
                segments: old.segments
            ),
            key
        )
        _ = try fixture.directory.write(forged.file, to: "repository/generations/" + forged.name)
    }

    @Test func sideFilesOfDestinationAreRefused() throws {
        for suffix in ["-wal", "-journal", "-shm"] {
            let side = try fixture.directory.write([1], to: "restored.db" + suffix)
            #expect(throws: FileError.exists(path: side)) { try restore() }
            #expect(throws: FileError.exists(path: side)) {
                try fixture.file.copy(
                    key: RepositoryFixture.key.key,
                    to: fixture.directory.file("restored.db")
                )
            }
            try FileManager.default.removeItem(atPath: side)
        }
        try restore()
    }

    @Test func forgedMACDisplacesNoProvedGeneration() throws {
        let stored = try fixture.repository.manifests()[1]
        let other = try DatabaseKey.sample("other").derive(salt: Array(repeating: 1, count: 16), format: .v4)
        let key = try BackupKey(other, repository: stored.manifest.repository)
        for number in 3...5 as ClosedRange<UInt64> { try add(number, like: stored, under: key) }
        let done = try fixture.backUp(RepositoryFixture.key.key)
        let upkeep = BackupUpkeep(
            fixture.repository,
            keyring: nil,
            keeping: RetentionPolicy(newest: 2),
            interval: .zero
        )
        upkeep.add(done)
        let pruned = try #require(try upkeep.run(isLast: true)?.pruned)
        #expect(pruned.kept.contains(2) && pruned.kept.contains(done.generation.number), "\(pruned)")
        try restore(.number(2))
    }

    @Test(arguments: ["segments", "generations", "prunes"])
    func directoryOfOtherRepositoryIsRefused(name: String) throws {
        let (directory, other) = (fixture.directory.file("repository/\(name)"), fixture.directory.file("other"))
        try FileManager.default.moveItem(atPath: directory, toPath: other)
        try FileManager.default.createSymbolicLink(atPath: directory, withDestinationPath: other)
        let error = BackupError.system(path: directory, code: ENOTDIR)
        #expect(throws: error) { try fixture.backUp() }
        #expect(throws: error) { try fixture.repository.prune(keeping: RetentionPolicy(newest: 1)) }
        #expect(throws: error) { try restore() }
    }

    @Test func forgedNumberIsNotNewest() throws {
        let name = try fixture.directory.write([1], to: "repository/generations/0000000009-0000000000000000")
        #expect(throws: BackupError.outdated(newest: 2, expected: 5)) { try restore(.number(1), atLeast: 5) }
        try FileManager.default.removeItem(atPath: name)
        // A whole manifest without a MAC, too.
        try add(5, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError.outdated(newest: 2, expected: 5)) { try restore(.number(1), atLeast: 5) }
        try restore(.number(1), atLeast: 2)
    }

    @Test func laterGenerationsHideNoOldCopy() throws {
        let key = RepositoryFixture.key.key
        #expect(throws: BackupError.outdated(newest: 2, expected: 5)) {
            try fixture.file.backUp(to: fixture.repository, atLeast: 5, key: key)
        }
        // What somebody without the key has added does not count, but to those who have no key either.
        try add(5, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError.outdated(newest: 2, expected: 5)) {
            try fixture.file.backUp(to: fixture.repository, atLeast: 5, key: key)
        }
        #expect(try !fixture.file.backUp(to: fixture.repository, atLeast: 5).isNew)
        #expect(try fixture.file.backUp(to: fixture.repository, atLeast: 2, key: key).generation.number == 6)
        let none = BackupRepository(fixture.directory.file("none"))
        #expect(throws: BackupError.self) { try fixture.file.backUp(to: none, atLeast: 1, key: key) }
        #expect(!fixture.directory.names.contains("none"))
    }

    @Test func numbersDoNotOverflow() throws {
        for number: UInt64 in [.max, .max - 1, Manifest.highestNumber + 1] {
            try add(number, like: fixture.repository.manifests()[1])
        }
        try fixture.backUp()
        #expect(try fixture.repository.manifests().map(\.manifest.number).max() == 2)
        try add(Manifest.highestNumber, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError.self) { try fixture.backUp() }
    }

    @Test func blocksOfUnprovedGenerationAreNotAdopted() throws {
        let other = try RepositoryFixture()
        try other.open().close()
        try other.backUp(nil)
        let done = try other.backUp()
        #expect(done.isNew && done.generation.storedSize > done.generation.databaseSize)
        #expect(try other.answer() == SampleFile.answer)
    }

    @Test func forgedPruneIsAProblem() throws {
        let manifests = try fixture.repository.manifests()
        let record = PruneRecord(
            repository: manifests[0].manifest.repository,
            ranges: NumberRanges([1...2] as [ClosedRange<UInt64>])
        )
        _ = try fixture.directory.write(record.file(), to: "repository/prunes/forged")
        #expect(try fixture.repository.check().problems.contains { $0.contains("record of prunes") })
    }
}
