import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(.atTheEnds) struct BackupUpkeepTests {
    let fixture: RepositoryFixture

    init() throws {
        fixture = try RepositoryFixture()
    }

    private func keyring() throws -> UnlockedKeyring {
        try Keyring(path: fixture.directory.file("keyring")).create(with: .sample("secret"))
    }

    private func change(_ queue: DatabaseQueue, _ number: Int) throws {
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = \(number)") }
    }

    @Test func generationIsNotedAtBoundedRate() throws {
        let queue = try fixture.open()
        defer { try? queue.close() }
        let keyring = try keyring()
        let upkeep = BackupUpkeep(fixture.repository, keyring: keyring, keeping: nil)
        #expect(try upkeep.run() == nil)
        upkeep.add(try fixture.backUp())
        #expect(try upkeep.run()?.noteFailure == nil)
        #expect(try fixture.repository.notedGeneration(in: keyring) == 1)
        let state = try FileState(keyring.keyring.path)
        for number in 2...4 {
            try change(queue, number)
            upkeep.add(try fixture.backUp())
            #expect(try upkeep.run() == nil)
        }
        #expect(try FileState(keyring.keyring.path) == state)
        _ = try upkeep.run(isLast: true)
        #expect(try fixture.repository.notedGeneration(in: keyring) == 4)
        // Nothing is left to do.
        #expect(try upkeep.run(isLast: true) == nil)
    }

    @Test func unwritableKeyringFailsNoBackup() throws {
        try fixture.open().close()
        let keyring = try keyring()
        let upkeep = BackupUpkeep(fixture.repository, keyring: keyring, keeping: nil, interval: .zero)
        upkeep.add(try fixture.backUp())
        let (path, aside) = (keyring.keyring.path, fixture.directory.file("aside"))
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        #expect(try upkeep.run(isLast: true)?.noteFailure is KeyringError)
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        #expect(try upkeep.run(isLast: true)?.noteFailure == nil)
        #expect(try fixture.repository.notedGeneration(in: keyring) == 1)
    }

    @Test func repositoriesAreNotedApart() throws {
        try fixture.open().close()
        let keyring = try keyring()
        let other = BackupRepository(fixture.directory.file("other"))
        try fixture.repository.note(fixture.backUp().generation, in: keyring)
        try fixture.file.backUp(to: other, key: RepositoryFixture.key.key)
        #expect(try other.notedGeneration(in: keyring) == nil)
    }

    @Test func onlyKeptGenerationsRemain() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = BackupFollower(fixture.file, fixture.repository) { RepositoryFixture.key.key }
        let upkeep = BackupUpkeep(
            fixture.repository,
            keyring: nil,
            keeping: RetentionPolicy(newest: 3),
            interval: .zero
        )
        var (newest, prunes) = (Generation?.none, 0)
        let end = ContinuousClock.now + .seconds(60)
        for number in 1...100 {
            try change(queue, number)
            var done = try follower.store()
            while done == nil, .now < end {
                usleep(1000)
                done = try follower.store()
            }
            newest = try #require(done).generation
            upkeep.add(try #require(done))
            if try upkeep.run() != nil { prunes += 1 }
        }
        _ = try upkeep.run(isLast: true)
        #expect(prunes > 0)
        let last = try #require(newest?.number)
        #expect(try fixture.repository.generations().map(\.number) == [last - 2, last - 1, last])
        for (number, sum) in [(last - 2, 4851), (last - 1, 4950), (last, 5050)] {
            let sql: SQL = "SELECT sum(note) FROM people WHERE typeof(note) = 'integer'"
            #expect(try fixture.answer(.number(number), sql) == "\(sum)")
        }
        #expect(try fixture.repository.check().problems == [])
        // What is kept needs few segments, and others are gone.
        #expect(fixture.objects("segments").count <= 34 + 3)
        let bytes = try fixture.objects("segments").reduce(0) { sum, name in
            let path = fixture.path(ofObject: "segments/" + name)
            return try sum + (#require(FileManager.default.attributesOfItem(atPath: path)[.size] as? Int))
        }
        #expect(bytes < 5 * Int(try #require(newest).databaseSize), "\(bytes)")
    }
}
