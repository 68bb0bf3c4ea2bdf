import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

/// What somebody without the key adds to a repository, and what stands beside the file that is restored.
@Suite(.atTheEnds) struct ForgedRepositoryTests {
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

    @Test func sideFilesOfDestinationAreRefused() throws {
        for suffix in ["-wal", "-journal", "-shm"] {
            let side = try fixture.directory.write([1], to: "restored.db" + suffix)
            #expect(throws: FileError(.exists, path: side)) { try restore() }
            #expect(throws: FileError(.exists, path: side)) {
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
        for number in 3...5 as ClosedRange<UInt64> { try fixture.forge(number, like: stored, .otherKey) }
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
        let error = BackupError(.system, path: directory, errno: ENOTDIR)
        #expect(throws: error) { try fixture.backUp() }
        #expect(throws: error) { try fixture.repository.prune(keeping: RetentionPolicy(newest: 1)) }
        #expect(throws: error) { try restore() }
    }

    @Test func forgedNumberIsNotNewest() throws {
        let name = try fixture.directory.write([1], to: "repository/generations/0000000009-0000000000000000")
        #expect(throws: BackupError(.outdated, newest: 2, expected: 5)) { try restore(.number(1), atLeast: 5) }
        try FileManager.default.removeItem(atPath: name)
        // A whole manifest without a MAC, too.
        try fixture.forge(5, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError(.outdated, newest: 2, expected: 5)) { try restore(.number(1), atLeast: 5) }
        try restore(.number(1), atLeast: 2)
    }

    /// It may be the one that is looked for.
    @Test func unreadableManifestIsNoOldCopy() throws {
        let name = try #require(fixture.repository.manifestNames().last)
        let path = fixture.directory.file("repository/generations/\(name)")
        try FileManager.default.removeItem(atPath: path)
        // A link that leads round in a circle.
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        #expect(throws: BackupError(.system, path: path, errno: ELOOP)) { try restore(.number(1), atLeast: 2) }
        #expect(throws: BackupError(.system, path: path, errno: ELOOP)) {
            try fixture.file.backUp(to: fixture.repository, atLeast: 2, key: RepositoryFixture.key.key)
        }
    }

    @Test func laterGenerationsHideNoOldCopy() throws {
        let key = RepositoryFixture.key.key
        #expect(throws: BackupError(.outdated, newest: 2, expected: 5)) {
            try fixture.file.backUp(to: fixture.repository, atLeast: 5, key: key)
        }
        // What somebody without the key has added does not count, but to those who have no key either.
        try fixture.forge(5, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError(.outdated, newest: 2, expected: 5)) {
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
            try fixture.forge(number, like: fixture.repository.manifests()[1])
        }
        try fixture.backUp()
        #expect(try fixture.repository.manifests().map(\.manifest.number).max() == 2)
        try fixture.forge(Manifest.highestNumber, like: fixture.repository.manifests()[1])
        #expect(throws: BackupError.self) { try fixture.backUp() }
    }

    @Test func sizesDoNotOverflow() throws {
        let newest = try fixture.repository.manifests()[1]
        for size in [.min, .max, -1, 0, (1 << 48) + 1] as [Int64] {
            let forged = try fixture.forge(3, like: newest, databaseSize: size)
            #expect(throws: BackupError.self, "\(size)") { try fixture.repository.generations() }
            #expect(throws: BackupError.self, "\(size)") { try fixture.backUp() }
            try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + forged.name))
        }
        for size in [.min, .max, -1, (1 << 60) + 1] as [Int64] {
            let forged = try fixture.forge(3, like: newest, storedSize: size)
            #expect(throws: BackupError.self, "\(size)") { try fixture.repository.generations() }
            try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + forged.name))
        }
        // The largest that a database can have costs no memory either.
        try fixture.forge(3, like: newest, databaseSize: 1 << 48)
        #expect(try fixture.repository.generations().count == 3)
        #expect(throws: (any Error).self) { try restore() }
        #expect(try fixture.backUp().isNew)
    }

    @Test(arguments: [RepositoryFixture.Forgery.withoutMAC, .otherKey])
    func blocksOfUnprovedGenerationAreNotAdopted(forgery: RepositoryFixture.Forgery) throws {
        let stored = try fixture.repository.manifests()
        let forged = try fixture.forge(3, like: stored[1], forgery)
        let done = try fixture.backUp()
        #expect(done.isNew && done.generation.storedSize > done.generation.databaseSize)
        let made = try #require(fixture.repository.manifests().last).manifest
        let known = Set((stored + [forged]).flatMap(\.manifest.segments).map(\.identifier))
        #expect(known.isDisjoint(with: made.segments.map(\.identifier)) && made.root != forged.manifest.root)
        #expect(try fixture.answer(.newest, "SELECT note FROM people WHERE id = 5") == "changed")
    }

    @Test func manifestWithWrongMACIsNoBase() throws {
        let forged = try fixture.forge(3, like: fixture.repository.manifests()[1], .wrongMAC)
        let before = fixture.objects("generations")
        #expect(throws: BackupError(.altered, path: forged.name)) { try fixture.backUp() }
        #expect(fixture.objects("generations") == before)
    }

    @Test(arguments: RepositoryFixture.Forgery.allCases)
    func forgedGenerationHidesNoOldCopyFromCheck(forgery: RepositoryFixture.Forgery) throws {
        try fixture.forge(3, like: fixture.repository.manifests()[1], forgery)
        let outdated = BackupError(.outdated, newest: 2, expected: 3).description
        #expect(try fixture.repository.check(atLeast: 3).problems.contains(outdated) == false)
        do {
            let check = try fixture.repository.check(provingBy: [RepositoryFixture.key.key], atLeast: 3)
            #expect(check.problems.contains(outdated), "\(check.problems)")
        } catch let error as BackupError {
            guard case .otherKey = error, forgery == .otherKey else { throw error }
        }
    }

    /// Older generations may be all that is left of the database.
    @Test func forgedGenerationHidesNoLossFromPrune() throws {
        let proved = try fixture.repository.manifests()
        let needed = try #require(proved[1].manifest.segments.last?.identifier.name)
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: needed))
        try fixture.forge(3, like: proved[0])
        let key = try RepositoryFixture.key.key.derive(salt: Array(repeating: 0, count: 16), format: .v4)
        #expect(throws: BackupError(.missingObject, path: needed)) {
            try fixture.repository.prune(keeping: RetentionPolicy(newest: 1), provedBy: key)
        }
        #expect(fixture.objects("generations").count == 3)
    }

    @Test func replacedGenerationIsAProblem() throws {
        let first = try fixture.repository.manifests()[0]
        try fixture.forge(1, like: first, storedSize: first.manifest.storedSize + 1)
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + first.name))
        let problems = try fixture.repository.check().problems
        #expect(problems.contains { $0.hasPrefix("generation 2 does not follow generation 1") }, "\(problems)")
    }

    @Test func everyByteOfMarkerCounts() throws {
        let place = fixture.path(ofObject: "repository")
        let size = try FileState(place).bytes.count
        for offset in 0..<size {
            try flipByte(of: place, at: offset)
            #expect(throws: BackupError.self, "\(offset)") { try fixture.repository.generations() }
            #expect(throws: BackupError.self, "\(offset)") { try fixture.backUp() }
            try flipByte(of: place, at: offset)
        }
        try restore()
    }

    @Test func laterVersionIsNamed() throws {
        var marker = try Array(FileState(fixture.path(ofObject: "repository")).bytes.dropLast(Digest.size))
        marker[9] += 1
        _ = try fixture.directory.write(DigestedObject.file(marker), to: "repository/repository")
        let error = BackupError(.unknownVersion, path: fixture.directory.file("repository"))
        #expect(throws: error) { try fixture.repository.generations() }
        #expect(throws: error) { try fixture.backUp() }
        #expect(throws: error) { try fixture.repository.prune(keeping: RetentionPolicy(newest: 1)) }
        #expect(throws: error) { try restore() }
    }

    @Test func pruneThatEndsBeforeItBeginsIsDamage() throws {
        let repository = try fixture.repository.identifier()
        var content = Array("CipherBP".utf8) + UInt16(Manifest.version).bigEndianBytes + repository
        content += UInt32(1).bigEndianBytes + UInt64(2).bigEndianBytes + UInt64(1).bigEndianBytes
        _ = try fixture.directory.write(DigestedObject.file(content), to: "repository/prunes/forged")
        #expect(try fixture.repository.check().problems.contains { $0.contains("prunes/forged") })
        expect(throws: BackupError.damagedObject) { try fixture.repository.prune(keeping: RetentionPolicy(newest: 1)) }
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
