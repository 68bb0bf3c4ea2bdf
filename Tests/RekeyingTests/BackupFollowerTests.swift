import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

@Suite(.atTheEnds) struct BackupFollowerTests {
    let fixture: RepositoryFixture
    static let sum: SQL = "SELECT sum(note) FROM people WHERE typeof(note) = 'integer'"

    init() throws {
        fixture = try RepositoryFixture()
    }

    private func follower(_ key: DatabaseKey? = RepositoryFixture.key.key, atLeast: UInt64? = nil) -> BackupFollower {
        let expected = ExpectedGeneration(atLeast, derivedKeys: [])
        return BackupFollower(fixture.file, fixture.repository, expecting: expected) { key }
    }

    /// The next generation, also where the database is read whole for it, which is not done again at once.
    private func next(_ follower: BackupFollower) throws -> BackupResult {
        let end = ContinuousClock.now + .seconds(120)
        while .now < end {
            if let done = try follower.store() { return done }
            usleep(1000)
        }
        throw CocoaError(.fileReadUnknown)
    }

    private func change(_ queue: DatabaseQueue, _ number: Int) throws {
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = \(number)") }
    }

    @Test func commitsAreStoredFromWAL() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        #expect(try follower.store()?.isNew == true)
        #expect(follower.lag == nil)
        #expect(try follower.store() == nil)
        for number in 1...5 {
            try change(queue, number)
            let done = try next(follower)
            #expect(done.isNew && done.generation.number == UInt64(number) + 1)
            // A page, its nodes and what SQLite changes with it.
            #expect(done.generation.storedSize < 64 << 10)
            #expect(try #require(follower.lag) > .zero)
            #expect(try fixture.answer(.newest, Self.sum) == "\(number * (number + 1) / 2)")
        }
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func checkpointsAndRestartsLoseNoCommit() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        var sum = 0
        for (number, mode) in zip(1..., [CheckpointMode.passive, .full, .restart, .truncate, .restart]) {
            // Behind what was read, before the log is restarted; and in the new one.
            try change(queue, 2 * number)
            _ = try queue.inDatabase { try $0.checkpoint(mode) }
            try change(queue, 2 * number + 1)
            sum += 4 * number + 1
            #expect(try next(follower).isNew)
            #expect(try fixture.answer(.newest, Self.sum) == "\(sum)")
        }
    }

    @Test func overwrittenFramesAreReadFromDatabase() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        _ = try queue.inDatabase { try $0.checkpoint(.restart) }
        // More than the log had: nothing of it is left.
        for number in 2...9 { try change(queue, number) }
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET name = name || 'x'") }
        #expect(try next(follower).isNew)
        #expect(try fixture.answer(.newest, Self.sum) == "45")
    }

    @Test func vacuumAndGrowthAreStored() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try queue.inDatabase { try $0.executeUpdate("DELETE FROM people WHERE id > 10") }
        try queue.vacuum()
        let small = try next(follower)
        #expect(try fixture.answer(.newest, "SELECT count(*) FROM people") == "10")
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = zeroblob(50000)") }
        let large = try next(follower)
        #expect(large.generation.databaseSize > small.generation.databaseSize)
        #expect(try fixture.answer(.newest, "SELECT sum(length(note)) FROM people") == "500000")
    }

    @Test func rollbackModeIsFollowedByReadingWhole() throws {
        let queue = try fixture.open(.delete)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        for number in 1...3 {
            try change(queue, number)
            #expect(try next(follower).isNew)
            #expect(try fixture.answer(.newest, Self.sum) == "\(number * (number + 1) / 2)")
        }
    }

    @Test func lastLookReadsLargeDatabaseAtOnce() throws {
        let queue = try fixture.open(.delete)
        defer { try? queue.close() }
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO people (note) VALUES (randomblob(20000000))") }
        let follower = follower()
        _ = try follower.store()
        // On a machine that is busy a look may come late.
        var number = 0
        repeat {
            number += 1
            try change(queue, number)
        } while try follower.store() != nil && number < 50
        #expect(!follower.isCurrent)
        #expect(try follower.store(isLast: true)?.isNew == true && follower.isCurrent)
        #expect(try fixture.answer(.newest, Self.sum) == "\(number * (number + 1) / 2)")
    }

    @Test func newKeyAndReplacedFileAreFollowed() throws {
        try fixture.open(.wal).close()
        let other = SampleKey.named("other").key
        let keys = Counter()
        let follower = BackupFollower(fixture.file, fixture.repository) {
            keys.value == 0 ? RepositoryFixture.key.key : other
        }
        _ = try follower.store()
        try fixture.file.changeKey(from: RepositoryFixture.key.key, to: other)
        keys.add()
        #expect(try next(follower).isNew)
        #expect(try fixture.answer(.newest, key: other) == SampleFile.answer)
        #expect(try fixture.answer(.number(1)) == SampleFile.answer)
    }

    @Test func keyChangedInPlaceIsFollowed() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let other = SampleKey.named("other").key
        let keys = Counter()
        let follower = BackupFollower(fixture.file, fixture.repository) {
            keys.value == 0 ? RepositoryFixture.key.key : other
        }
        _ = try follower.store()
        try queue.rekey(other)
        keys.add()
        try change(queue, 7)
        #expect(try next(follower).isNew)
        #expect(try fixture.answer(.newest, Self.sum, key: other) == "7")
    }

    @Test func otherWriterOfRepositoryIsNoticed() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        try fixture.backUp()
        try change(queue, 2)
        #expect(try next(follower).isNew)
        #expect(try fixture.answer(.newest, Self.sum) == "3")
        #expect(try fixture.repository.check().problems == [])
    }

    /// Also by one that accepts an old copy at its start.
    @Test(arguments: [nil, 0] as [UInt64?]) func oldCopyIsNoticedWhileFollowing(atLeast: UInt64?) throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower(atLeast: atLeast)
        _ = try follower.store()
        try change(queue, 1)
        _ = try next(follower)
        let newest = fixture.path(ofObject: "generations/" + fixture.objects("generations")[1])
        try FileManager.default.moveItem(atPath: newest, toPath: fixture.directory.file("aside"))
        try change(queue, 2)
        #expect(throws: BackupError(.outdated, newest: 1, expected: 2)) { try next(follower) }
        // What somebody without the key puts in its place does not count.
        let old = try #require(fixture.repository.manifests().first)
        for forgery in RepositoryFixture.Forgery.allCases {
            for number in [2, 3] as [UInt64] {
                let forged = try fixture.forge(number, like: old, forgery)
                #expect(throws: BackupError(.outdated, newest: 1, expected: 2), "\(forgery) \(number)") {
                    try next(follower)
                }
                try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + forged.name))
            }
        }
        try FileManager.default.moveItem(atPath: fixture.directory.file("aside"), toPath: newest)
        #expect(try next(follower).generation.number == 3)
        #expect(try fixture.answer(.newest, Self.sum) == "3")
    }

    /// A database with content, under a keyring that is new too.
    private func openWithKeyring() throws -> (UnlockedKeyring, DatabasePool) {
        let keyring = try Keyring(besideDatabase: fixture.path).create(with: .sample("Ada"))
        let pool = try DatabasePool(path: fixture.path, key: keyring)
        try pool.inDatabase { try $0.executeStatements(SampleFile.content) }
        return (keyring, pool)
    }

    @Test func missingKeyringIsToldAndBackupGoesOn() throws {
        let (keyring, pool) = try openWithKeyring()
        defer { try? pool.close() }
        let key = try keyring.databaseKey()
        let follower = BackupFollower(fixture.file, fixture.repository, keyring: keyring) { key }
        _ = try follower.store()
        try FileManager.default.removeItem(atPath: keyring.keyring.path)
        // A look that stores nothing says so too, once a minute.
        #expect(try follower.store() == nil && follower.warning == .missingKeyring)
        #expect(try follower.store() == nil && follower.warning == nil)
        try pool.inDatabase { try $0.executeUpdate("UPDATE people SET note = 1 WHERE id = 1") }
        #expect(try follower.store(isLast: true)?.warnings == [.missingKeyring])
        #expect(try fixture.repository.generations().count == 2)
    }

    @Test func keyThatNoStoredKeyringHasIsNotBackedUp() throws {
        let (keyring, pool) = try openWithKeyring()
        defer { try? pool.close() }
        var key = try keyring.databaseKey()
        let follower = BackupFollower(fixture.file, fixture.repository, keyring: keyring) { key }
        _ = try follower.store()
        try pool.rotateKey(of: keyring)
        key = try keyring.databaseKey()
        try FileManager.default.removeItem(atPath: keyring.keyring.path)
        #expect { try follower.store(isLast: true) } throws: { ($0 as? KeyringError)?.code == .missing }
        #expect(try fixture.repository.generations().count == 1)
    }

    /// The state before the changes is that of the generation that was made, not of one beside it with its number.
    @Test func forgedTwinIsNoBaseOfChanges() throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 4096 }
        let queue = try fixture.open(.wal, format: format)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        _ = try next(follower)
        try fixture.forge(2, like: fixture.repository.manifests()[0], isLast: true)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE other (a); INSERT INTO other VALUES (1)") }
        #expect(try next(follower).isNew)
        #expect(try fixture.answer(.newest, Self.sum, format: format) == "1")
        #expect(try fixture.repository.check(provingBy: [RepositoryFixture.key.key]).proved.last == 3)
    }

    #if DEBUG || FAULTS
        /// What nobody proved is not missed when it is gone.
        @Test func unprovedGenerationIsNotExpected() throws {
            let queue = try fixture.open(.wal)
            defer { try? queue.close() }
            let follower = follower()
            _ = try follower.store()
            let forged = try fixture.forge(9, like: fixture.repository.manifests()[0])
            try change(queue, 1)
            let segments = fixture.directory.file("repository/segments/")
            let order = FaultInjection.Order(prefix: segments, call: .sync, after: 0, code: EIO)
            let (outcome, met) = FaultInjection.with(order) { try next(follower) }
            #expect(met && (try? outcome.get()) == nil)
            try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + forged.name))
            #expect(try next(follower).generation.number == 2)
        }
    #endif

    /// Its checksum needs no key.
    @Test func pageWithWrongMACInWALIsNotStored() throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 4096 }
        let queue = try fixture.open(.wal, format: format)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        _ = try next(follower)
        try change(queue, 2)
        let path = fixture.path + "-wal"
        var log = try Array(Data(contentsOf: URL(fileURLWithPath: path)))
        let (last, length) = (log.count - 4120, 4120)
        log[last + 24 + 1000] ^= 1
        let before = last - length < 32 ? Array(log[24..<32]) : Array(log[(last - length + 16)..<(last - length + 24)])
        var sums = [0, 4].map { at in before[at..<at + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } }
        let covered = Array(log[last..<last + 8] + log[(last + 24)...])
        for place in stride(from: 0, to: covered.count, by: 8) {
            for (index, at) in [place, place + 4].enumerated() {
                let bytes = Array(covered[at..<at + 4])
                let word = (log[3] & 1 == 1 ? bytes : bytes.reversed()).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                sums[index] = sums[index] &+ word &+ sums[1 - index]
            }
        }
        log.replaceSubrange((last + 16)..<(last + 24), with: sums.flatMap { MadeJournal.bigEndian(Int($0)) })
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: Data(log))
        try file.close()
        #expect(throws: (any Error).self) { try next(follower) }
        #expect(fixture.objects("generations").count == 2)
    }

    /// It has no key that could prove anything, and says so.
    @Test func withoutKeyAnyManifestCounts() throws {
        try fixture.open(.delete).close()
        let follower = BackupFollower(fixture.file, fixture.repository) { nil }
        _ = try follower.store()
        let first = try #require(fixture.repository.manifests().first)
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: "generations/" + first.name))
        try fixture.forge(1, like: first, .withoutMAC, isLast: true)
        #expect(throws: Never.self) { _ = try follower.store(isLast: true) }
    }

    @Test func damagedPageInWALIsNotStored() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        let size = try Int(FileManager.default.attributesOfItem(atPath: fixture.path + "-wal")[.size] as? Int64 ?? 0)
        try flipByte(of: fixture.path + "-wal", at: size - 100)
        #expect(throws: (any Error).self) { try next(follower) }
        #expect(fixture.objects("generations").count == 1)
        try flipByte(of: fixture.path + "-wal", at: size - 100)
        #expect(try next(follower).isNew)
    }

    @Test func commitOfKilledWriterIsNone() throws {
        // Pages of a block: what the WAL has is stored without reading the database.
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 4096 }
        let queue = try fixture.open(.wal, format: format)
        defer { try? queue.close() }
        let follower = follower()
        _ = try follower.store()
        try change(queue, 1)
        _ = try next(follower)
        // What a writer leaves that is killed before it tells the others: frames with right checksums behind those in force. They are
        // made by a copy of the database.
        let copy = fixture.directory.file("copy.db")
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix)
        }
        let log = try Data(contentsOf: URL(fileURLWithPath: fixture.path + "-wal"))
        let other = try DatabaseQueue(
            path: copy,
            key: RepositoryFixture.key.key,
            configuration: Configuration { $0.format = format }
        )
        try other.inDatabase { try $0.executeUpdate("UPDATE people SET note = 1000000") }
        let longer = try Data(contentsOf: URL(fileURLWithPath: copy + "-wal"))
        try other.close()
        #expect(longer.count > log.count && longer.starts(with: log))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.path + "-wal"))
        try file.seekToEnd()
        try file.write(contentsOf: longer[log.count...])
        try file.close()
        #expect(try follower.store() == nil)
        // Fewer frames than the killed writer has left.
        for number in 2...3 {
            try change(queue, number)
            #expect(try next(follower).isNew)
            #expect(try fixture.answer(.newest, Self.sum, format: format) == "\(number * (number + 1) / 2)")
        }
    }
}
