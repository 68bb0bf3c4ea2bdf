import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

/// The change of key that writes a new file.
@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct ChangeTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory
    let path: String
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let old = SampleKey.named("old")
    static let new = SampleKey.named("new")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    /// A database of this process's engine, open nowhere.
    private func make(_ mode: JournalMode = .delete, key: SampleKey = Self.old) throws {
        let queue = try DatabaseQueue(
            path: path,
            key: key.key,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    private func answer(_ key: DatabaseKey, at path: String? = nil) throws -> String? {
        let database = Database(path: path ?? self.path)
        try database.open(key: key, flags: .readWrite)
        defer { database.close() }
        return try database.string(forQuery: SampleFile.question)
    }

    @Test(arguments: StockShell.all, ["delete", "wal"])
    func shellOpensWithNewKeyOnly(shell: StockShell, mode: String) throws {
        for format in 2...shell.format {
            // Under a raw key formats 2 and 3 are the same.
            guard Extent.isComplete || format > 2 || (mode == "delete" && shell.isOfThisEngine) else { continue }
            let (old, new) = format == 2 ? (SampleKey.all[1], SampleKey.all[2]) : (Self.old, Self.new)
            for size in Extent.isComplete || format > 2 ? [1024, 4096, 65536] : [1024] {
                try? FileManager.default.removeItem(atPath: path)
                try SampleFile.make(
                    at: path,
                    by: shell,
                    key: old,
                    format: format,
                    pageSize: size,
                    before: "PRAGMA journal_mode = \(mode);"
                )
                try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
                let before = try FileState(path)
                let done = try file.changeKey(from: old.key, to: new.key)
                #expect(done.format?.version == format && done.pageSize == size)
                #expect(done.pages == before.bytes.count / size)
                let settings = shell.settings(forFormat: format) + ["cipher_page_size = \(size)"]
                let rows = try shell.run(
                    path,
                    key: new.pragma,
                    settings: settings,
                    SampleFile.query + "PRAGMA integrity_check; PRAGMA journal_mode;"
                )
                #expect(rows == [SampleFile.answer, "ok", mode], "format \(format), pages of \(size)")
                #expect(throws: StockShell.Failure.self) {
                    try shell.run(path, key: old.pragma, settings: settings, SampleFile.query)
                }
                let after = try FileState(path)
                #expect(after.bytes.count == before.bytes.count && after.bytes.prefix(16) != before.bytes.prefix(16))
                #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
                #expect(directory.names == ["test.db"])
            }
        }
    }

    @Test func filesOfFormat4OpenInPython() throws {
        let shell = try #require(StockShell.all.last)
        let (old, new) = (SampleKey.all[1], SampleKey.all[2])
        try SampleFile.make(at: path, by: shell, key: old, format: 4)
        try file.changeKey(from: old.key, to: new.key)
        let sql = "SELECT count(*) || '|' || sum(id) || '|' || max(name) FROM people"
        #expect(try StockShell.runPython(path, key: new.pragma, sql) == [SampleFile.answer])
        #expect(try StockShell.runPython(path, key: new.pragma, "PRAGMA cipher_integrity_check") == [])
    }

    @Test func samePassphraseIsAllowedNotSameRawKey() throws {
        let old = SampleKey.all[1]
        try make(key: old)
        let salt = try FileState(path).bytes.prefix(16)
        try file.changeKey(from: old.key, to: old.key)
        #expect(try FileState(path).bytes.prefix(16) != salt)
        #expect(try answer(old.key) == SampleFile.answer)
        let raw = try DatabaseKey.random()
        try file.changeKey(from: old.key, to: raw)
        #expect { try file.changeKey(from: raw, to: raw) } throws: {
            $0 as? RekeyError == RekeyError(.sameKey, path: path)
        }
        let salted = try DatabaseKey.raw(hex: String(repeating: "ab", count: 48))
        try file.changeKey(from: raw, to: salted)
        #expect(try FileState(path).bytes.prefix(16) == Data(repeating: 0xab, count: 16))
        #expect(try answer(salted) == SampleFile.answer)
    }

    /// Somebody who may write to the directory moves the file away, and gives its name to a file that everybody can read.
    @Test(arguments: [false, true])
    func movedFileIsNotReplaced(byLink: Bool) throws {
        try make()
        let (away, loot) = (directory.file("away.db"), directory.file("loot"))
        try #require(
            FileManager.default.createFile(atPath: loot, contents: Data(), attributes: [.posixPermissions: 0o666])
        )
        func moveAway(_ progress: FileProgress) {
            // The new file is beside it, and the old one is read.
            guard access(away, F_OK) != 0, rename(path, away) == 0 else { return }
            #expect((byLink ? symlink(loot, path) : link(loot, path)) == 0)
        }
        #expect {
            try file.decryptToPlaintext(key: Self.old.key, progress: moveAway)
        } throws: {
            "\($0)".contains("replaced meanwhile")
        }
        #expect(!directory.names.contains { $0.contains(".rekey-") }, "no plaintext is left")
        #expect(try FileState(loot).bytes.isEmpty)
        #expect(try answer(Self.old.key, at: away) == SampleFile.answer)
    }

    @Test func pathWithNULIsNoOtherPath() throws {
        try make()
        let before = try FileState(path)
        let other = DatabaseFile(path: path + "\0.copy")
        #expect(throws: (any Error).self) { try other.changeKey(from: Self.old.key, to: Self.new.key) }
        #expect(throws: (any Error).self) { try other.verify(key: Self.old.key) }
        #expect(throws: (any Error).self) { try other.inspect() }
        #expect(throws: (any Error).self) { try file.copy(key: Self.old.key, to: directory.file("a.db") + "\0.b") }
        #expect(throws: (any Error).self) {
            try file.changeKey(from: Self.old.key, to: Self.new.key, keepingOldAs: directory.file("kept") + "\0")
        }
        #expect(try FileState(path) == before && directory.names == ["test.db"])
    }

    @Test func damagedFileIsNotRewritten() throws {
        try make()
        let size = try #require(Engine.current.formats.first?.pageSize)
        for number in [5, 9] { try flipByte(of: path, at: (number - 1) * size + 9) }
        let before = try FileState(path)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [5, 9] }) {
            try file.changeKey(from: Self.old.key, to: Self.new.key)
        }
        #expect(try FileState(path) == before && directory.names == ["test.db"])
    }

    /// What a bad disk does to it between the writing and the reading back.
    @Test func corruptedNewFileIsNotUsed() throws {
        try make()
        let before = try FileState(path)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [3] }) {
            try file.changeKey(from: Self.old.key, to: Self.new.key) { progress in
                guard progress.stage == .writing, progress.done == progress.all else { return }
                let size = try #require(Engine.current.formats.first?.pageSize)
                let new = try #require(directory.names.first { $0.contains(".rekey-") })
                try flipByte(of: directory.file(new), at: 2 * size + 7)
            }
        }
        #expect(try FileState(path) == before)
        #expect(directory.names == ["test.db"])
    }

    /// By somebody who had the file open, and so would have what its blocks hold.
    @Test func oldFileIsOverwrittenWholly() throws {
        try make()
        let before = try FileState(path).bytes
        let reader = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        let after = try #require(try reader.readToEnd())
        #expect(after.count == before.count)
        let size = 512
        for start in stride(from: 0, to: before.count, by: size) {
            #expect(before[start..<(start + size)] != after[start..<(start + size)], "byte \(start)")
        }
    }

    @Test func finalizedJournalIsRemoved() throws {
        try make(.persist)
        #expect(directory.names == ["test.db", "test.db-journal"])
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        #expect(directory.names == ["test.db"])
        #expect(try answer(Self.new.key) == SampleFile.answer)
    }

    @Test func wrongKeyOrStopChangesNothing() throws {
        try make()
        let before = try FileState(path)
        expect(throws: KeyError.wrongKey) { try file.changeKey(from: .sample("wrong"), to: Self.new.key) }
        for stage in [FileProgress.Stage.writing, .verifying] {
            #expect(throws: Stop.self) {
                try file.changeKey(from: Self.old.key, to: Self.new.key) { if $0.stage == stage { throw Stop() } }
            }
        }
        #expect(try FileState(path) == before && directory.names == ["test.db"])
    }

    @Test func format1AdvisesMigration() throws {
        let shell = try #require(StockShell.all.first)
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[1], format: 1)
        #expect { try file.changeKey(from: SampleKey.all[1].key, to: Self.new.key) } throws: {
            "\($0)".contains("migrate")
        }
    }

    @Test(arguments: [JournalMode.delete, .truncate, .persist, .wal])
    func crashIsRecoveredFirst(mode: JournalMode) throws {
        // Copied while it is used: in WAL mode the rows stand in the log, else a transaction is half-written.
        let source = directory.file("source.db")
        let queue = try DatabaseQueue(
            path: source,
            key: Self.old.key,
            configuration: Configuration {
                $0.journalMode = mode
                $0.pageCacheSize = 1 << 15
            }
        )
        try queue.inDatabase { database in
            try database.executeStatements(SampleFile.content)
            try database.executeStatements("BEGIN; UPDATE people SET name = 'gone', note = randomblob(500)")
            for suffix in ["", "-journal", "-wal"] where FileManager.default.fileExists(atPath: source + suffix) {
                try FileManager.default.copyItem(atPath: source + suffix, toPath: path + suffix)
            }
            try database.executeStatements("ROLLBACK")
        }
        try queue.close()
        #expect(directory.names.contains(mode == .wal ? "test.db-wal" : "test.db-journal"))
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        #expect(try answer(Self.new.key) == SampleFile.answer)
        #expect(directory.names.filter { $0.hasPrefix("test") } == ["test.db"])
    }

    @Test func idleConnectionToOldFileGetsError() throws {
        for keptAs in [nil, directory.file("kept.db")] {
            for mode in ["delete", "truncate", "persist", "memory", "off"] {
                try? FileManager.default.removeItem(atPath: path)
                if let keptAs { try? FileManager.default.removeItem(atPath: keptAs) }
                try make()
                let idle = Database(path: path)
                try idle.open(key: Self.old.key)
                // Rollback mode: an idle connection holds no lock.
                try idle.executeStatements(SQL(unsafe: "PRAGMA journal_mode = \(mode)"))
                #expect(try idle.string(forQuery: SampleFile.question) == SampleFile.answer)
                try file.changeKey(from: Self.old.key, to: Self.new.key, keepingOldAs: keptAs)
                #expect(throws: (any Error).self) {
                    try idle.executeUpdate("INSERT INTO people (name) VALUES ('lost')")
                }
                #expect(throws: (any Error).self) { _ = try idle.string(forQuery: SampleFile.question) }
                idle.close()
                #expect(try answer(Self.new.key) == SampleFile.answer, "journal mode \(mode)")
                if let keptAs { #expect(try answer(Self.old.key, at: keptAs) == SampleFile.answer) }
            }
        }
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func connectionInUseStopsChange(mode: JournalMode) throws {
        try make(mode)
        let other = Database(path: path)
        try other.open(key: Self.old.key)
        let rows = try other.executeQuery("SELECT * FROM people")
        #expect(try rows.next())
        var file = file
        file.configuration.busyTimeout = .milliseconds(20)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect { try file.changeKey(from: Self.old.key, to: Self.new.key) } throws: {
            ($0 as? DatabaseError)?.code.primary == .busy
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        while try rows.next() {}
        other.close()
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        #expect(directory.names == ["test.db"])
    }

    @Test func keepOldOverwritesNothing() throws {
        try make()
        let kept = directory.file("kept.db")
        try file.changeKey(from: Self.old.key, to: Self.new.key, keepingOldAs: kept)
        #expect(try answer(Self.old.key, at: kept) == SampleFile.answer)
        #expect(try answer(Self.new.key) == SampleFile.answer)
        let before = try FileState(path)
        #expect(throws: FileError(.exists, path: kept)) {
            try file.changeKey(from: Self.new.key, to: Self.old.key, keepingOldAs: kept)
        }
        #expect(try FileState(path) == before && directory.names == ["kept.db", "test.db"])
    }

    @Test func keepOldWorksInOtherDirectory() throws {
        try make()
        let elsewhere = directory.file("elsewhere")
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: false)
        try file.changeKey(from: Self.old.key, to: Self.new.key, keepingOldAs: elsewhere + "/test.db")
        #expect(try answer(Self.old.key, at: elsewhere + "/test.db") == SampleFile.answer)
    }

    @Test func symbolicLinkStaysHardLinkIsRefused() throws {
        try make()
        let link = directory.file("link.db")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        try DatabaseFile(path: link).changeKey(from: Self.old.key, to: Self.new.key)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == path)
        #expect(try answer(Self.new.key, at: link) == SampleFile.answer)
        try FileManager.default.removeItem(atPath: link)
        try FileManager.default.linkItem(atPath: path, toPath: link)
        let before = try FileState(path)
        #expect(throws: FileError(.severalNames, path: path)) {
            try file.changeKey(from: Self.new.key, to: Self.old.key)
        }
        #expect(try FileState(path) == before)
    }

    @Test(arguments: [1, 2]) func killBeforeExchangeLeavesChangeableFile(kills: Int) throws {
        try make()
        for _ in 0..<kills {
            let name = try #require(try TemporaryName.database.link(to: path))
            #expect(FileManager.default.fileExists(atPath: name))
        }
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        #expect(try answer(Self.new.key, at: path) == SampleFile.answer)
        #expect(directory.names == ["test.db"])
    }

    /// What a descriptor of somebody else's shows of a decryption that failed, when the new file was to get its name.
    @Test func plaintextOfFailedDecryptionIsOverwritten() throws {
        try make()
        let (plaintext, directory) = (Lock<FileHandle?>(nil), directory)
        let order = FaultInjection.Order(prefix: path + ".rekey-", call: .rename, after: 0, code: EIO) {
            // The old file has a hard link by then, too.
            for name in directory.names where name.hasPrefix("test.db.rekey-") {
                guard let file = FileHandle(forReadingAtPath: directory.file(name)),
                    (try? file.read(upToCount: 15)) == Data("SQLite format 3".utf8)
                else { continue }
                plaintext.withLock { $0 = file }
            }
        }
        let (outcome, met) = FaultInjection.with(order) { try file.decryptToPlaintext(key: Self.old.key) }
        #expect(throws: (any Error).self) { try outcome.get() }
        let seen = try #require(plaintext.withLock { $0 })
        try seen.seek(toOffset: 0)
        let left = try #require(try seen.readToEnd())
        #expect(met && left.count > 10_000 && !left.starts(with: Data("SQLite".utf8)))
        #expect(left.range(of: Data("CREATE TABLE".utf8)) == nil)
        #expect(directory.names == ["test.db"])
        #expect(try answer(Self.old.key) == SampleFile.answer)
    }

    /// Somebody else gives the name of a leftover to another file before it is opened.
    @Test func anotherFileIsNotOverwrittenAsLeftover() throws {
        try make()
        let leftover = try directory.write([1, 2, 3], to: "test.db.rekey-0123456789abcdef")
        let victim = try directory.write([UInt8](repeating: 7, count: 5000), to: "victim")
        let order = FaultInjection.Order(prefix: leftover, call: .open, after: 0, code: nil) {
            _ = rename(victim, leftover)
        }
        let (outcome, met) = FaultInjection.with(order) { try file.cleanUp() }
        #expect(throws: (any Error).self) { try outcome.get() }
        #expect(try met && FileState(leftover).bytes == Data(repeating: 7, count: 5000))
    }

    @Test func leftoversAreRemovedAndNothingElse() throws {
        try make()
        let digits = "0123456789abcdef"
        let others = [
            "test.db.rekey-", "test.db.rekey-\(digits)0", "test.db.rekey-0123456789ABCDEF", "rest.db.rekey-\(digits)",
        ]
        for name in others { _ = try directory.write([1], to: name) }
        let linked = directory.file("test.db.rekey-aaaaaaaaaaaaaaaa")
        try FileManager.default.createSymbolicLink(atPath: linked, withDestinationPath: directory.file(others[0]))
        let leftover = try directory.write([1, 2, 3], to: "test.db.rekey-\(digits)")
        // What a run leaves that was killed between the two names of the old file and the exchange.
        let second = directory.file("test.db.rekey-bbbbbbbbbbbbbbbb")
        try FileManager.default.linkItem(atPath: path, toPath: second)
        let before = try FileState(path)
        #expect(try file.cleanUp() == [leftover, second])
        #expect(try FileState(path).bytes == before.bytes && answer(Self.old.key) == SampleFile.answer)
        #expect(directory.names == (others + ["test.db", "test.db.rekey-aaaaaaaaaaaaaaaa"]).sorted())
        _ = try directory.write([1], to: "test.db.rekey-\(digits)")
        try file.changeKey(from: Self.old.key, to: Self.new.key)
        #expect(directory.names == (others + ["test.db", "test.db.rekey-aaaaaaaaaaaaaaaa"]).sorted())
    }

    @Test func nobodyIsWaitedForWithoutLeftovers() throws {
        try make()
        let holder = Database(path: path)
        try holder.open(key: Self.old.key)
        try holder.executeStatements("BEGIN")
        #expect(try holder.int(forQuery: "SELECT count(*) FROM sqlite_master") != nil)
        let wait = LockWait(limit: .milliseconds(200))
        let removed = try LockWait.limiting(to: wait) { try file.cleanUp() }
        #expect(removed.isEmpty)
        #expect(wait.mayTryAgain(), "no time was used up")
        let leftover = try directory.write([1], to: "test.db.rekey-0123456789abcdef")
        #expect { try LockWait.limiting(to: wait) { try file.cleanUp() } } throws: {
            ($0 as? DatabaseError)?.code.primary == .busy
        }
        holder.close()
        #expect(try file.cleanUp() == [leftover])
    }

    @Test func journalInUseIsNoLeftover() throws {
        try make()
        let image = try directory.write([1, 2, 3], to: "test.db.rekey-0123456789abcdef")
        let journal = try directory.write([4, 5, 6], to: "test.db.rekey-0123456789abcdef-journal")
        let handle = try #require(FileHandle(forReadingAtPath: image))
        #expect(flock(handle.fileDescriptor, LOCK_EX) == 0)
        #expect(try file.cleanUp().isEmpty)
        #expect(FileManager.default.fileExists(atPath: journal))
        try handle.close()
        #expect(try file.cleanUp() == [image, journal])
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"))
    func fullDiskIsReportedBeforeWriting() throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let path = disk.file("test.db")
        let queue = try DatabaseQueue(path: path, key: Self.old.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        let before = try FileState(path)
        #expect {
            try DatabaseFile(path: path).changeKey(from: Self.old.key, to: Self.new.key)
        } throws: {
            ($0 as? FileError).map { $0.code == .noSpace && $0.needed! > $0.free! } ?? false
        }
        #expect(try FileState(path) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path) == ["test.db"])
    }

    @Test func unreadableJournalIsError() throws {
        try make()
        // A link that leads round in a circle: there is a journal, and nobody can say what is in it.
        let journal = path + "-journal"
        try FileManager.default.createSymbolicLink(atPath: journal, withDestinationPath: journal)
        let before = try FileState(path)
        #expect(throws: (any Error).self) { try file.changeKey(from: Self.old.key, to: Self.new.key) }
        #expect(try FileState(path) == before)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: journal) == journal)
    }

    @Test(arguments: ["-journal", "-wal", "-shm", ".rekey-0123456789abcdef"])
    func keepOldRefusesLeftoverName(suffix: String) throws {
        try make()
        #expect(throws: FileError(.belongs, path: path + suffix)) {
            try file.changeKey(from: Self.old.key, to: Self.new.key, keepingOldAs: path + suffix)
        }
        #expect(directory.names == ["test.db"])
    }

    @Test func waitingRunUsesReplacedFile() throws {
        try make()
        // The second begins while the first has the file locked, and gets the file that is in its place then.
        let second = Gate()
        let done = Gate()
        let path = path
        let outcome = Lock<Result<RewriteResult, any Error>?>(nil)
        try file.changeKey(from: Self.old.key, to: Self.new.key) { progress in
            guard progress.stage == .verifying, !second.passed else { return }
            second.open()
            Thread {
                let result = Result {
                    try DatabaseFile(path: path).changeKey(from: Self.old.key, to: .sample("third"))
                }
                outcome.withLock { $0 = result }
                done.open()
            }.start()
            Thread.sleep(forTimeInterval: 0.2)
        }
        // Without it nothing would ever open the gate.
        try #require(second.passed)
        done.wait()
        // Its key was that of the old file: it must neither call the new one damaged nor bring the old one back.
        #expect { try outcome.withLock { try $0?.get() } } throws: { error in
            (error as? DatabaseError)?.code.primary == .busy || (error as? KeyError)?.code == .wrongKey
        }
        #expect(try answer(Self.new.key) == SampleFile.answer)
        #expect(directory.names == ["test.db"])
    }

    @Test func stopInErasingComesTooLate() throws {
        try make()
        try file.changeKey(from: Self.old.key, to: Self.new.key) { if $0.stage == .erasing { throw Stop() } }
        #expect(try answer(Self.new.key) == SampleFile.answer && directory.names == ["test.db"])
    }

    /// The new key is derived while the old one is, for the format that the file most probably has.
    @Test func changeDerivesEachPassphraseOnce() async {
        // In a process of its own, because the count is the process's.
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let path = directory.file("test.db")
            try DatabaseQueue(path: path, key: .passphrase("old")).close()
            let derived = KeyDerivation.passphraseCount
            try DatabaseFile(path: path).changeKey(from: .passphrase("old"), to: .passphrase("new"))
            #expect(KeyDerivation.passphraseCount - derived == 2)
            try DatabaseQueue(path: path, key: .passphrase("new")).close()
        }
    }
}
