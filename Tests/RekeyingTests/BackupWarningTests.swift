import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

/// What a backup notices in the repository, and what it then leaves there.
@Suite(.atTheEnds) struct BackupWarningTests {
    private let fixture: RepositoryFixture

    /// Three generations, with changes of their own.
    init() throws {
        fixture = try RepositoryFixture()
        let queue = try fixture.open()
        for number in 1...3 {
            try queue.inDatabase {
                try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = \(number * 150)")
            }
            try fixture.backUp()
        }
        try queue.close()
    }

    private func change(_ sql: SQL) throws {
        let queue = try DatabaseQueue(path: fixture.path, key: RepositoryFixture.key.key)
        try queue.inDatabase { try $0.executeUpdate(sql) }
        try queue.close()
    }

    /// Another database, under a key of its own or the same raw key.
    private func other(_ key: DatabaseKey) throws -> DatabaseFile {
        let path = fixture.directory.file("other.db")
        try SampleFile.make(at: path, under: key)
        return DatabaseFile(path: path)
    }

    @Test(arguments: [true, false])
    func otherDatabaseIsNoticed(isKeyGiven: Bool) throws {
        let key = isKeyGiven ? RepositoryFixture.key.key : nil
        let done = try other(RepositoryFixture.key.key).backUp(to: fixture.repository, key: key)
        #expect(done.isNew && done.warnings.first == .sharesNothing(generation: 3), "\(done.warnings)")
        #expect(done.warnings.contains(.unproved(after: 3)) == !isKeyGiven)
        let upkeep = BackupUpkeep(
            fixture.repository,
            keyring: nil,
            keeping: RetentionPolicy(newest: 1),
            interval: .zero
        )
        upkeep.add(done)
        #expect(try upkeep.run()?.pruned == nil)
        // Nor later in the same run.
        upkeep.add(try fixture.file.backUp(to: fixture.repository, key: key))
        #expect(try upkeep.run(isLast: true)?.pruned == nil)
        try change("UPDATE people SET note = 4 WHERE id = 4")
        let related = try fixture.file.backUp(to: fixture.repository, key: key)
        #expect(related.isNew && !related.warnings.contains { $0.forbidsPrune })
        upkeep.add(related)
        #expect(try upkeep.run(isLast: true)?.pruned == nil)
        #expect(try fixture.repository.generations().count == 6)
    }

    @Test func lostSegmentStopsRemovalOnce() throws {
        let all = try fixture.repository.manifests().map { $0.manifest.segments.map(\.identifier.name) }
        let own = try #require(all[2].first { !all[1].contains($0) })
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: own))
        let upkeep = BackupUpkeep(
            fixture.repository,
            keyring: nil,
            keeping: RetentionPolicy(newest: 3),
            interval: .zero
        )
        upkeep.add(try fixture.backUp())
        #expect(try upkeep.run(isLast: true)?.pruned == nil)
        try change("UPDATE people SET note = 4 WHERE id = 4")
        upkeep.add(try fixture.backUp())
        // The third, which cannot be restored, takes the place of none that can.
        #expect(try upkeep.run(isLast: true)?.pruned?.kept == [2, 3, 4, 5])
    }

    @Test func lostSegmentHidesNoOtherDatabase() throws {
        let all = try fixture.repository.manifests().map { $0.manifest.segments.map(\.identifier.name) }
        let own = try #require(all[2].first { !all[1].contains($0) })
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: own))
        let done = try other(RepositoryFixture.key.key).backUp(to: fixture.repository, key: RepositoryFixture.key.key)
        #expect(done.warnings.contains(.sharesNothing(generation: 2)) && done.warnings.count == 2, "\(done.warnings)")
    }

    @Test func oldCopyIsAcceptedOnce() throws {
        let keyring = try Keyring(path: fixture.directory.file("keyring")).create(with: .sample("Ada"))
        let identifier = try fixture.repository.identifier()
        try keyring.note(90, of: identifier)
        let upkeep = BackupUpkeep(
            fixture.repository,
            keyring: keyring,
            keeping: nil,
            lowersNote: true,
            interval: .zero
        )
        let stored = try fixture.backUp()
        upkeep.add(stored)
        _ = try upkeep.run(isLast: true)
        #expect(try keyring.notedGeneration(of: identifier) == stored.generation.number)
        try keyring.note(90, of: identifier)
        upkeep.add(stored)
        _ = try upkeep.run(isLast: true)
        #expect(try keyring.notedGeneration(of: identifier) == 90)
    }

    @Test func sameDatabaseIsNotTakenForAnother() throws {
        func warnings(_ key: DatabaseKey?) throws -> [BackupWarning] {
            let done = try fixture.backUp(key)
            #expect(done.isNew)
            return done.warnings
        }
        // Each page is written again; all pages are others; nothing but the proof.
        try change("UPDATE people SET note = randomblob(300)")
        #expect(try warnings(RepositoryFixture.key.key) == [])
        try change("DELETE FROM people WHERE id > 20")
        let queue = try DatabaseQueue(path: fixture.path, key: RepositoryFixture.key.key)
        try queue.vacuum()
        try queue.close()
        #expect(try warnings(nil) == [.unproved(after: 4)])
        #expect(try warnings(RepositoryFixture.key.key) == [])
        // The salt stays where the key is changed in place.
        let second = SampleKey.named("second").key
        _ = try fixture.file.changeKeyInPlace(from: RepositoryFixture.key.key, to: second)
        #expect(try warnings(second) == [])
        // A new file has another one: nobody knows, but a keyring.
        let third = try DatabaseKey.sample("third")
        try fixture.file.changeKey(from: second, to: third)
        #expect(try warnings(third) == [.sharesNothing(generation: 7)])
        let fourth = try DatabaseKey.sample("fourth")
        try fixture.file.changeKey(from: third, to: fourth)
        let done = try fixture.file.backUp(
            to: fixture.repository,
            expecting: ExpectedGeneration(nil, derivedKeys: ExpectedGeneration.keys([fourth, third])),
            key: fourth,
            keyring: nil
        ) { _ in }
        #expect(done.isNew && done.warnings == [])
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func changeOfKeyIsNoOtherDatabaseWhileFollowing() throws {
        let other = try DatabaseKey.sample("other")
        let keys = Counter()
        let follower = BackupFollower(fixture.file, fixture.repository) {
            keys.value == 0 ? RepositoryFixture.key.key : other
        }
        #expect(try follower.store()?.warnings == [])
        try fixture.file.changeKey(from: RepositoryFixture.key.key, to: other)
        keys.add()
        var done: BackupResult?
        for _ in 0..<120_000 where done == nil {
            done = try follower.store()
            usleep(1000)
        }
        #expect(done?.isNew == true && done?.warnings == [])
    }

    @Test func sameStateIsNotStoredAgainWithoutKey() throws {
        let again = try fixture.backUp(nil)
        #expect(!again.isNew && again.generation.number == 3 && again.warnings == [])
        #expect(try fixture.answer() == SampleFile.answer)
    }

    @Test func generationsWithMACAreKeptBesideOthers() throws {
        try change("UPDATE people SET note = 4 WHERE id = 4")
        let done = try fixture.backUp(nil)
        #expect(done.isNew && done.warnings == [.unproved(after: 3)])
        let pruned = try fixture.repository.prune(keeping: RetentionPolicy(newest: 2))
        #expect(pruned.kept == [2, 3, 4] && pruned.removed == [1])
        let name = fixture.objects("generations")[2]
        #expect(throws: BackupError(.unauthenticated, path: name, newestProved: 3)) { try fixture.answer() }
        let check = try fixture.repository.check(provingBy: [RepositoryFixture.key.key])
        #expect(check.problems == [BackupError(.unauthenticated, path: name, newestProved: 3).description])
    }

    /// The segments that the newest generation needs.
    private var needed: [SegmentSummary] {
        get throws { try #require(fixture.repository.manifests().last).manifest.segments }
    }

    @Test func lostSegmentIsStoredAgain() throws {
        for (number, harm) in zip(
            UInt64(3)...,
            [
                { try FileManager.default.removeItem(atPath: $0) },
                { try FileHandle(forWritingTo: URL(fileURLWithPath: $0)).truncate(atOffset: 5000) },
            ] as [(String) throws -> Void]
        ) {
            let lost = try #require(needed.first).identifier.name
            try harm(fixture.path(ofObject: lost))
            // Nothing is removed in place of it.
            #expect(throws: BackupError(.missingObject, path: lost)) {
                try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
            }
            let done = try fixture.backUp()
            #expect(done.isNew && done.generation.number == number + 1)
            #expect(done.warnings == [.lost(generation: number, objects: [lost])])
            #expect(done.generation.storedSize > done.generation.databaseSize)
            #expect(try fixture.answer() == SampleFile.answer)
            #expect(try fixture.repository.check().sound.last == number + 1)
            #expect(try !fixture.backUp().isNew)
        }
        // What is lost for good ends to be a problem.
        #expect(try !fixture.repository.check().problems.isEmpty)
        try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func generationRemovedByHandIsMissedUntilPrune() throws {
        try FileManager.default.removeItem(
            atPath: fixture.path(ofObject: "generations/" + fixture.objects("generations")[1])
        )
        #expect(try fixture.repository.check().problems == ["missing, and not pruned: generation 2"])
        try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func damagedNodesAreStoredAgain() throws {
        let newest = try #require(needed.last)
        try flipByte(of: fixture.path(ofObject: newest.identifier.name), at: Int(newest.nodes) + 9)
        #expect(try fixture.backUp().warnings == [.lost(generation: 3, objects: [newest.identifier.name])])
        #expect(try fixture.answer() == SampleFile.answer)
    }
}
