import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

@Suite(.atTheEnds) struct RepositoryBackupTests {
    let fixture: RepositoryFixture
    static let key = RepositoryFixture.key.key
    static let names: SQL = "SELECT group_concat(name) FROM (SELECT name FROM people WHERE id < 4 ORDER BY id)"

    init() throws {
        fixture = try RepositoryFixture()
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func laterBackupStoresChangesOnly(mode: JournalMode) throws {
        let queue = try fixture.open(mode)
        defer { try? queue.close() }
        let first = try fixture.backUp()
        #expect(first.isNew && first.generation.number == 1)
        #expect(first.generation.storedSize > first.generation.databaseSize)
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET name = 'changed' WHERE id = 2") }
        let second = try fixture.backUp()
        #expect(second.isNew && second.generation.number == 2)
        #expect(second.generation.storedSize < first.generation.storedSize / 2)
        #expect(try fixture.answer(.number(1)) == SampleFile.answer)
        #expect(
            try fixture.answer(.newest, Self.names)
                == "Person-1-plaintextmarker,changed,Person-3-plaintextmarker"
        )
        #expect(try fixture.repository.check().problems == [])
    }

    @Test func unchangedDatabaseMakesNoGeneration() throws {
        try fixture.open().close()
        try fixture.backUp()
        let again = try fixture.backUp()
        #expect(!again.isNew && again.generation.number == 1)
        #expect(fixture.objects("segments").count == 1)
        #expect(fixture.objects("generations").count == 1)
    }

    @Test func backupWithoutKeyIsNotProved() throws {
        try fixture.open(.wal).close()
        let done = try fixture.backUp(nil)
        #expect(done.format == nil && !done.generation.isAuthenticated)
        #expect(throws: BackupError(.unauthenticated, path: fixture.objects("generations")[0])) { try fixture.answer() }
        #expect(try fixture.answer(acceptsUnauthenticated: true) == SampleFile.answer)
        // With the key, the same state becomes a generation that is proved.
        #expect(try fixture.backUp().isNew)
        #expect(try fixture.answer() == SampleFile.answer)
    }

    /// A free page is one that SQLite's own check does not look at.
    @Test func damagedFreePageIsNotRestored() throws {
        let queue = try fixture.open()
        try queue.inDatabase {
            try $0.executeStatements(
                "CREATE TABLE large (a); INSERT INTO large VALUES (zeroblob(100000)); DROP TABLE large"
            )
        }
        try queue.close()
        let kinds = try fixture.file.map(key: RepositoryFixture.key.key)
        let free = try #require(kinds.lastIndex(of: .free))
        try flipByte(of: fixture.path, at: free * RepositoryFixture.pageSize + 100)
        try fixture.backUp(nil)
        let restored = DatabaseFile(path: fixture.directory.file("restored.db"))
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [free + 1] }) {
            try restored.restore(
                from: fixture.repository,
                key: RepositoryFixture.key.key,
                acceptsUnauthenticated: true
            )
        }
        #expect(!fixture.directory.names.contains("restored.db"))
    }

    @Test func formatsAreBackedUpAndRestored() throws {
        let own = try #require(Engine.current.formats.first)
        var formats = try [1024, 2048, 8192, 65536].map { size in try own.changed { $0.pageSize = size } }
        if own.version == 4 { formats.append(try own.changed { $0.plaintextHeaderSize = 32 }) }
        for format in formats {
            let fixture = try RepositoryFixture()
            let raw = try DatabaseKey.sample("backup")
            let key = format.plaintextHeaderSize > 0 ? try raw.with(salt: [UInt8](0..<16)) : raw
            let queue = try fixture.open(.wal, format: format, key: key)
            try fixture.backUp(nil)
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET name = 'changed' WHERE id = 2") }
            var file = fixture.file
            file.configuration.format = format
            #expect(try file.backUp(to: fixture.repository, key: key).format == format)
            try queue.close()
            #expect(
                try fixture.answer(.newest, Self.names, key: key, format: format)
                    == "Person-1-plaintextmarker,changed,Person-3-plaintextmarker"
            )
        }
    }

    @Test func changeOfKeyLeavesEarlierGenerationsReadable() throws {
        try fixture.open().close()
        try fixture.backUp()
        let other = SampleKey.named("other").key
        try fixture.file.changeKey(from: Self.key, to: other)
        #expect(try fixture.backUp(other).isNew)
        #expect(try fixture.answer(.number(1)) == SampleFile.answer)
        #expect(try fixture.answer(.number(2), key: other) == SampleFile.answer)
        expect(throws: KeyError.wrongKey) { try fixture.answer(.number(2)) }
    }

    @Test func keyCanChangeWhenStateWasRead() throws {
        try fixture.open(.wal).close()
        let queue = try DatabaseQueue(
            path: fixture.path,
            key: Self.key,
            configuration: Configuration {
                $0.journalMode = .wal
                $0.busyTimeout = .zero
            }
        )
        var refusals = 0
        var isChanged = false
        // While the database is read, and before what was read is stored.
        try fixture.file.backUp(to: fixture.repository, key: Self.key) { _ in
            guard !isChanged else { return }
            do {
                // The wait of the backup is not that of the change.
                try LockWait.$current.withValue(nil) { try queue.rekey(SampleKey.named("other").key) }
                isChanged = true
            } catch let error as DatabaseError where error.code == .busy {
                refusals += 1
            }
        }
        #expect(isChanged && refusals > 0)
        #expect(try fixture.answer() == SampleFile.answer)
        try queue.close()
    }

    @Test func damagedPageStopsBackup() throws {
        try fixture.open().close()
        try fixture.backUp()
        try flipByte(of: fixture.path, at: 2 * RepositoryFixture.pageSize + 7)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [3] }) { try fixture.backUp() }
        #expect(fixture.objects("generations").count == 1)
        #expect(fixture.objects("segments").count == 1)
        #expect(try fixture.answer() == SampleFile.answer)
    }

    @Test func onlyEncryptedDatabasesAreBackedUp() throws {
        let plaintext = try fixture.directory.write(
            "SQLite format 3\0".utf8 + [UInt8](repeating: 0, count: 4080),
            to: "p.db"
        )
        let text = try fixture.directory.write([UInt8](repeating: 65, count: 8192), to: "t.db")
        let empty = try fixture.directory.write([], to: "e.db")
        for (path, code) in [(plaintext, KeyError.notEncrypted), (text, .notADatabase), (empty, .notADatabase)] {
            expect(throws: code) { try DatabaseFile(path: path).backUp(to: fixture.repository) }
        }
        #expect(throws: FileError(.missing, path: fixture.path)) { try fixture.backUp(nil) }
        #expect(throws: BackupError.self) { try fixture.repository.generations() }
    }

    @Test func restoreReplacesNoFile() throws {
        try fixture.open().close()
        try fixture.backUp()
        let before = try FileState(fixture.path)
        #expect(throws: FileError(.exists, path: fixture.path)) { try fixture.file.restore(from: fixture.repository) }
        #expect(try FileState(fixture.path) == before)
    }

    @Test func damagedBlockIsRefusedWithoutKey() throws {
        try fixture.open().close()
        try fixture.backUp()
        let segment = fixture.objects("segments")[0]
        try flipByte(of: fixture.path(ofObject: "segments/" + segment), at: 1000)
        let restored = DatabaseFile(path: fixture.directory.file("restored.db"))
        #expect(throws: BackupError(.damagedObject, path: "segments/" + segment)) {
            try restored.restore(from: fixture.repository)
        }
        #expect(!FileManager.default.fileExists(atPath: restored.path))
    }

    @Test func restoreChoosesGeneration() throws {
        try fixture.open().close()
        try fixture.backUp()
        let location = fixture.directory.file("repository")
        #expect(try fixture.answer(.at(.now)) == SampleFile.answer)
        for choice in [GenerationChoice.number(2), .at(.distantPast)] {
            #expect(throws: BackupError(.noGeneration, path: location)) { try fixture.answer(choice) }
        }
        let restored = DatabaseFile(path: fixture.directory.file("restored.db"))
        #expect(throws: BackupError(.outdated, newest: 1, expected: 2)) {
            try restored.restore(from: fixture.repository, atLeast: 2)
        }
        #expect(try fixture.repository.check(atLeast: 2).problems.count == 1)
        #expect(!FileManager.default.fileExists(atPath: restored.path))
    }

    @Test func manyChangesNeedFewSegments() throws {
        let queue = try fixture.open(.wal)
        defer { try? queue.close() }
        // One or two rows in a page: the changes are in different ones.
        try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = zeroblob(2000)") }
        for number in 1...70 {
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = \(number * 7)") }
            #expect(try fixture.backUp().generation.segmentCount <= 34)
        }
        let sum: SQL = "SELECT sum(note) FROM people WHERE typeof(note) = 'integer'"
        for number in [1, 33, 34, 35, 69, 70] {
            #expect(try fixture.answer(.number(UInt64(number)), sum) == "\(number * (number + 1) / 2)")
        }
        #expect(try fixture.repository.check().problems == [])
        // Then what the others needed is of no use.
        let done = try fixture.repository.prune(keeping: RetentionPolicy(newest: 1))
        #expect(done.kept == [70] && done.removed.count == 69 && done.removedSegments > 30)
        #expect(try fixture.repository.check() == fixture.repository.check(atLeast: 70))
        #expect(try fixture.repository.check().problems == [])
        #expect(try fixture.answer(.newest, sum) == "2485")
    }

    @Test func pruneKeepsWhatRulesName() throws {
        let queue = try fixture.open()
        for number in 1...4 {
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = 1") }
            try fixture.backUp()
        }
        try queue.close()
        let all = try fixture.repository.prune(keeping: RetentionPolicy(age: .seconds(3600)))
        #expect(all.kept == [1, 2, 3, 4] && all.removedSegments == 0)
        let two = try fixture.repository.prune(keeping: RetentionPolicy(newest: 2))
        #expect(two.kept == [3, 4] && two.removed == [1, 2])
        let day = try fixture.repository.prune(keeping: RetentionPolicy(days: 1))
        #expect(day.kept == [4] && day.removed == [3])
        #expect(fixture.objects("prunes").count == 1)
        #expect(try fixture.repository.check().problems == [])
        #expect(try fixture.answer(.newest, "SELECT note FROM people WHERE id = 1") == "4")
    }

    /// Generations of five days, two of each.
    @Test func policyOfDaysKeepsLastOfEachDay() {
        let generations = (UInt64(0)..<10).map { place -> (number: UInt64, time: UInt64, isAuthenticated: Bool) in
            (place + 1, place / 2 * 86_400, true)
        }
        func kept(_ days: Int) -> [UInt64] {
            RetentionPolicy(days: days).kept(generations, now: 5 * 86_400).sorted()
        }
        #expect(kept(0) == [10] && kept(1) == [10])
        #expect(kept(2) == [8, 10] && kept(3) == [6, 8, 10])
        #expect(kept(5) == [2, 4, 6, 8, 10] && kept(9) == kept(5))
    }

    /// A large segment is rewritten when three quarters of it are unused; a small one only with others.
    @Test func wastedSegmentIsReplaced() throws {
        try fixture.open().close()
        try fixture.backUp()
        let stored = try #require(fixture.repository.manifests().first).manifest
        let segment = stored.segments[0]
        func replaced(_ size: Int, needing needed: Int?) -> Set<SegmentIdentifier> {
            let manifest = Manifest(
                repository: stored.repository,
                number: 1,
                time: 1,
                previous: Digest(),
                keyIdentifier: nil,
                databaseSize: stored.databaseSize,
                storedSize: 0,
                root: stored.root,
                segments: [
                    SegmentSummary(identifier: segment.identifier, size: UInt64(size), nodes: 0, digest: segment.digest)
                ]
            )
            return Compaction(manifest, needed: needed.map { [segment.identifier: $0] } ?? [:]).replaced
        }
        let large = Compaction.smallSize
        #expect(replaced(large, needing: large / Compaction.wasteFactor - 1) == [segment.identifier])
        #expect(replaced(large, needing: nil) == [segment.identifier])
        #expect(replaced(large, needing: large / Compaction.wasteFactor) == [])
        #expect(replaced(large - 1, needing: nil) == [])
    }

    /// A server that fails at times; what is not of the transport is not tried again.
    @Test func failureOfTransportIsTriedAgain() throws {
        var attempts = 0
        func answer(failing failures: Int, _ code: ErrorCode<BackupError>) throws -> Int {
            attempts = 0
            return try RcloneCommand.repeating {
                attempts += 1
                if attempts <= failures { throw BackupError(code, message: "away") }
                return attempts
            }
        }
        #expect(try answer(failing: 2, .transport) == 3)
        expect(throws: BackupError.busy) { try answer(failing: 1, .busy) }
        #expect(attempts == 1)
    }

    @Test func missingGenerationIsNoticed() throws {
        let queue = try fixture.open()
        for number in 1...3 {
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = \(number) WHERE id = 1") }
            try fixture.backUp()
        }
        try queue.close()
        try FileManager.default.removeItem(
            atPath: fixture.path(ofObject: "generations/" + fixture.objects("generations")[1])
        )
        #expect(try fixture.repository.check().problems == ["missing, and not pruned: generation 2"])
    }

    @Test func surplusBytesAreNoMissingPage() throws {
        try fixture.open().close()
        let handle = try #require(FileHandle(forWritingAtPath: fixture.path))
        let pages = try Int(handle.seekToEnd()) / RepositoryFixture.pageSize
        try handle.write(contentsOf: Data(repeating: 7, count: 100))
        try handle.close()
        let found = try fixture.file.verify(key: RepositoryFixture.key.key)
        #expect(found.damagedPages == [pages + 1] && found.missingPages.isEmpty)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [pages + 1] }) { try fixture.backUp() }
    }

    @Test func generationsWithoutMarkerAreNotARepository() throws {
        try fixture.open().close()
        try fixture.backUp()
        try FileManager.default.removeItem(atPath: fixture.path(ofObject: "repository"))
        let location = fixture.directory.file("repository")
        for run in [{ try fixture.backUp() }, { try fixture.backUp(nil) }] {
            #expect(throws: (any Error).self) { _ = try run() }
        }
        #expect(throws: BackupError(.notARepository, path: location)) { try fixture.repository.prepare() }
        #expect(!FileManager.default.fileExists(atPath: fixture.path(ofObject: "repository")))
    }

    #if DEBUG || FAULTS
        /// Each object, and then its name; what fails leaves nothing that a generation was to have.
        @Test func objectsAreSyncedBeforeTheirNames() throws {
            let queue = try fixture.open()
            defer { try? queue.close() }
            try fixture.backUp()
            for (number, directory) in ["segments", "generations"].enumerated() {
                for after in 0...1 {
                    try queue.inDatabase {
                        try $0.executeUpdate("UPDATE people SET note = ? WHERE id = 1", 10 * number + after)
                    }
                    let before = (fixture.objects("segments"), fixture.objects("generations"))
                    let order = FaultInjection.Order(
                        prefix: fixture.directory.file("repository/\(directory)/"),
                        call: .sync,
                        after: after,
                        code: EIO
                    )
                    let (outcome, met) = FaultInjection.with(order) { try fixture.backUp() }
                    #expect(met, "\(directory) \(after)")
                    #expect(throws: BackupError.self) { try outcome.get() }
                    guard directory == "segments" || after == 0 else { continue }
                    #expect(fixture.objects("generations") == before.1 && fixture.objects("segments") == before.0)
                }
            }
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 'last' WHERE id = 1") }
            #expect(try fixture.backUp().isNew)
        }
    #endif

    @Test func writersOfRepositoryExcludeEachOther() throws {
        try fixture.open().close()
        try fixture.backUp()
        let descriptor = try Platform.openForReading(fixture.path(ofObject: "repository"))
        defer { Platform.close(descriptor) }
        #expect(try FileCalls.tryLockOwnFile(descriptor, "", exclusively: false))
        var file = fixture.file
        file.configuration.busyTimeout = .zero
        #expect(throws: BackupError(.busy, path: fixture.directory.file("repository"))) {
            try file.backUp(to: fixture.repository)
        }
        // Readers share the lock.
        #expect(try fixture.repository.generations().count == 1)
    }

    @Test func leftoverOfKilledBackupIsRemoved() throws {
        try fixture.open().close()
        try fixture.backUp()
        let leftover = fixture.path(ofObject: "segments/" + String(repeating: "0", count: 32) + ".new-0123456789abcdef")
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: leftover))
        let orphan = fixture.path(ofObject: "segments/" + String(repeating: "0", count: 32))
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: orphan))
        try fixture.repository.prune(keeping: RetentionPolicy(newest: 9))
        #expect(fixture.objects("segments").count == 1)
        #expect(try fixture.answer() == SampleFile.answer)
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: StockShell.python),
            "Python is missing: run make engines"
        )
    )
    func pythonReaderRestoresTheSame() throws {
        let queue = try fixture.open(.wal)
        for number in 1...2 {
            try queue.inDatabase { try $0.executeUpdate("UPDATE people SET note = 'a' WHERE id = \(number * 99)") }
            try fixture.backUp()
        }
        try queue.close()
        let script = Program.packageDirectory + "/Tests/Readers/backup.py"
        let page = try fixture.directory.write(DatabaseKey.sampleBytes("backup"), to: "page-key")
        let repository = fixture.directory.file("repository")
        for number in 1...2 {
            let (ours, theirs) = (fixture.directory.file("ours\(number)"), fixture.directory.file("theirs\(number)"))
            try DatabaseFile(path: ours).restore(from: fixture.repository, .number(UInt64(number)))
            let outcome = try Program.run(
                StockShell.python,
                [script, repository, theirs, "--generation", "\(number)", "--page-key-file", page]
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
            #expect(try FileState(theirs).bytes == FileState(ours).bytes)
        }
        // It refuses what the library refuses.
        for segment in fixture.objects("segments") {
            try flipByte(of: fixture.path(ofObject: "segments/" + segment), at: 5000)
        }
        let refused = try Program.run(
            StockShell.python,
            [script, repository, fixture.directory.file("no"), "--generation", "1"]
        )
        #expect(refused.status == 1 && refused.output.hasPrefix("refused: segment"), "\(refused.output)")
    }
}
