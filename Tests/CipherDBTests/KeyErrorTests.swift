import CipherDB
import Foundation
import TestSupport
import Testing

/// What SQLite calls code 26 is seven different things; each is told, and none touches the file.
@Suite struct KeyErrorTests {
    let directory: TemporaryDirectory
    let path: String
    static let key = SampleKey.named("secret").key
    static let modes: [JournalMode] = [.delete, .wal]

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func make(_ mode: JournalMode, key: DatabaseKey = Self.key) throws {
        let configuration = Configuration { $0.journalMode = mode }
        let queue = try DatabaseQueue(path: path, key: key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
    }

    /// Opens with `key` and expects an error with `code`; the files in the directory must be as they were, byte and time.
    private func refuses(
        _ code: ErrorCode<KeyError>,
        pages: [Int]? = nil,
        in other: CipherFormat? = nil,
        key: DatabaseKey? = Self.key,
        format: CipherFormat? = nil,
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        let before = try directory.names.map { try FileState(directory.file($0)) }
        let names = directory.names
        let configuration = Configuration { $0.format = format }
        let isExpected = { (error: KeyError) in error.damagedPages == pages && error.format == other }
        let ofQueue = expect(throws: code, where: isExpected) {
            _ = try DatabaseQueue(path: path, key: key, configuration: configuration, flags: flags)
        }
        #expect(ofQueue?.path == path)
        let database = Database(path: path, configuration: configuration)
        let ofDatabase = expect(throws: code, where: isExpected) {
            try database.open(flags: flags)
            if let key { try database.setKey(key) }
            try database.executeStatements("SELECT count(*) FROM sqlite_master")
        }
        database.close()
        #expect(ofDatabase.map { "\($0)".hasPrefix("\(path): ") } == true)
        #expect(directory.names == names)
        #expect(try directory.names.map { try FileState(directory.file($0)) } == before)
    }

    @Test(arguments: modes) func wrongKey(mode: JournalMode) throws {
        try make(mode)
        for flags in [[.readWrite, .create], .readOnly] as [OpenFlags] {
            try refuses(.wrongKey, key: .random(), flags: flags)
            try refuses(.wrongKey, key: .rawWithSalt(SecretBytes.random(count: 48)), flags: flags)
        }
    }

    @Test(.once) func passphraseThatIsNearlyRightOne() throws {
        try make(.delete, key: SampleKey.all[1].key)
        for wrong in ["Pässwörd 密码 🔑", "pässwörd 密码 🔑 ", "wrong"] { try refuses(.wrongKey, key: .passphrase(wrong)) }
    }

    @Test(arguments: modes) func noKey(mode: JournalMode) throws {
        try make(mode)
        try refuses(.keyMissing, key: nil)
    }

    @Test func noKeyForNewFile() throws {
        try refuses(.keyMissing, key: nil)
        #expect(directory.names == ["test.db"] || directory.names.isEmpty)
        #expect(try directory.names.allSatisfy { try FileState(directory.file($0)).bytes.isEmpty })
    }

    @Test(arguments: modes) func plaintextDatabase(mode: JournalMode) throws {
        let configuration = Configuration {
            $0.allowsPlaintext = true
            $0.journalMode = mode
        }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        try refuses(.notEncrypted)
        try refuses(.notEncrypted, key: nil)
    }

    @Test func somethingElseThanDatabase() throws {
        let texts = [
            Data("x".utf8), Data(count: 1), Data(count: 511), Data(count: 4096), Data(count: 100_000),
            Data(String(repeating: "This is a text and no database. ", count: 300).utf8),
        ]
        for bytes in texts {
            try bytes.write(to: URL(fileURLWithPath: path))
            try refuses(.notADatabase)
            try refuses(.notADatabase, key: nil)
        }
    }

    @Test(arguments: modes) func damagedFirstPage(mode: JournalMode) throws {
        try make(mode)
        for offset in [16, 40, 100, 900] {
            try flipByte(of: path, at: offset)
            try refuses(.damaged, pages: [1])
            try refuses(.wrongKey, key: .sample("wrong"))
            try flipByte(of: path, at: offset)
        }
    }

    @Test(arguments: modes) func damagedSaltLooksLikeWrongPassphrase(mode: JournalMode) throws {
        try make(mode, key: SampleKey.all[1].key)
        try flipByte(of: path, at: 3)
        try refuses(.wrongKey, key: SampleKey.all[1].key)
    }

    @Test(arguments: modes) func rawKeyWithDamagedSaltIsNotWrong(mode: JournalMode) throws {
        try make(mode)
        try flipByte(of: path, at: 3)
        try refuses(.otherMACKey)
        try refuses(.wrongKey, key: .random())
    }

    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"), arguments: modes)
    func anotherFormatOfShell(mode: JournalMode) throws {
        for shell in StockShell.all {
            for format in 1...shell.format where format != Engine.current.formats.first?.version {
                try? FileManager.default.removeItem(atPath: path)
                // Format 1, which authenticates nothing, is not looked for under a raw key; 2 and 3 differ by a passphrase only.
                // Of each format under a passphrase one file, by default.
                guard Extent.isComplete || format > 2 || (mode == .delete && shell.isOfThisEngine) else {
                    continue
                }
                let key = format <= 2 ? SampleKey.all[1] : SampleKey.named("secret")
                try SampleFile.make(
                    at: path,
                    by: shell,
                    key: key,
                    format: format,
                    before: "PRAGMA journal_mode = \(mode.rawValue);"
                )
                let standard = try #require(CipherFormat.standard.first { $0.version == format })
                try refuses(.otherFormat, in: standard, key: key.key)
            }
        }
    }

    @Test(
        .atTheEnds,
        arguments: Extent.isComplete ? modes : [.delete]
    )
    func anotherFormatThanConfigured(mode: JournalMode) throws {
        // Under a raw key formats 2 and 3 are the same.
        let key = SampleKey.all[1].key
        try make(mode, key: key)
        let own = try #require(Engine.current.formats.first)
        let other = try #require(CipherFormat.standard.first { $0.version == own.version - 1 })
        try refuses(.otherFormat, in: own, key: key, format: other)
    }

    @Test(.atTheEnds)
    func otherIterationsThanConfiguredAreAnotherFormat() throws {
        let key = SampleKey.all[1].key
        try make(.delete, key: key)
        let own = try #require(Engine.current.formats.first)
        try refuses(.otherFormat, in: own, key: key, format: CipherFormat(own) { $0.iterations = 300_000 })
    }

    @Test(arguments: [JournalMode.wal]) func openingBesideCheckpointingWriterNeverFails(mode: JournalMode) throws {
        let configuration = Configuration { $0.journalMode = mode }
        let key = try DatabaseKey.random()
        let queue = try DatabaseQueue(path: path, key: key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); PRAGMA wal_autocheckpoint = 1") }
        let stop = Gate()
        let done = Gate()
        Thread {
            var version = 0
            while !stop.passed {
                version += 1
                // Page 1 changes each time, in the log and by the checkpoint in the file.
                try? queue.inDatabase { try $0.executeStatements(SQL(unsafe: "PRAGMA user_version = \(version)")) }
            }
            done.open()
        }.start()
        for _ in 0..<300 { _ = try DatabaseQueue(path: path, key: key) }
        stop.open()
        done.wait()
    }

    @Test func newFileInUnsupportedFormatIsRefused() throws {
        guard let lacking = CipherFormat.standard.first(where: { !Engine.current.formats.contains($0) }) else {
            #expect(Engine.current.formats.count == 4, "an engine that lacks no format has all four")
            return
        }
        try refuses(.otherFormat, in: lacking, format: lacking)
        #expect(directory.names.isEmpty)
    }

    @Test(arguments: modes) func damagedPagesAreNamedOthersReadable(mode: JournalMode) throws {
        try make(mode)
        let queue = try DatabaseQueue(path: path, key: Self.key)
        let size = try #require(try queue.inDatabase { $0.cipherFormat?.pageSize })
        try queue.close()
        let last = try FileState(path).bytes.count / size
        for number in [last, last - 3] { try flipByte(of: path, at: (number - 1) * size + 50) }
        let damaged = try DatabaseQueue(path: path, key: Self.key)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [last - 3, last] }) {
            try damaged.inDatabase { database in
                let rows = try database.executeQuery("SELECT count(note) FROM people")
                while try rows.next() {}
            }
        }
        let name: String = try damaged.inDatabase { try $0.first("SELECT name FROM people WHERE id = 1") }
        #expect(name == "Person-1-plaintextmarker")
    }

    @Test(arguments: modes) func keyChangedByAnotherConnectionIsWrongKey(mode: JournalMode) throws {
        try make(.delete)
        let first = try DatabaseQueue(path: path, key: Self.key)
        let other = try DatabaseQueue(path: path, key: Self.key)
        try other.rekey(.sample("changed"))
        expect(throws: KeyError.wrongKey) {
            try first.inDatabase { try $0.executeStatements("SELECT count(*) FROM people") }
        }
    }

    @Test(arguments: modes) func wrongKeyLeavesCrashedWAL(mode: JournalMode) throws {
        // A copy of the file and its log while they are in use is what a killed process leaves.
        let configuration = Configuration { $0.journalMode = .wal }
        let original = directory.file("original.db")
        let queue = try DatabaseQueue(path: original, key: Self.key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements("PRAGMA wal_autocheckpoint = 0; " + SampleFile.content) }
        try FileManager.default.copyItem(atPath: original, toPath: path)
        try FileManager.default.copyItem(atPath: original + "-wal", toPath: path + "-wal")
        try queue.close()
        try refuses(.wrongKey, key: .sample("wrong"))
        let recovered = try DatabaseQueue(path: path, key: Self.key)
        let answer: String = try recovered.inDatabase { try $0.first(SampleFile.question) }
        #expect(answer == SampleFile.answer)
    }

    /// The old key still fits the file, but no more what counts: the log with everything under the new one.
    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
    func walUnderOtherKeyStays() throws {
        let shell = try #require(StockShell.ofThisFormat)
        let (old, new) = (SampleKey.named("old"), SampleKey.named("new"))
        let original = directory.file("original.db")
        let queue = try DatabaseQueue(
            path: original,
            key: old.key,
            configuration: Configuration { $0.journalMode = .wal }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        // While somebody reads, the log stays.
        let reader = try queue.openConnection()
        try reader.beginTransaction(.deferred)
        #expect(try reader.string(forQuery: SampleFile.question) == SampleFile.answer)
        _ = try shell.run(original, key: old.pragma, "PRAGMA re\(new.pragma);")
        try FileManager.default.copyItem(atPath: original, toPath: path)
        try FileManager.default.copyItem(atPath: original + "-wal", toPath: path + "-wal")
        reader.close()
        let before = [try FileState(path), try FileState(path + "-wal")]
        expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: old.key) }
        // SQLite 3.15, in SQLCipher 3.4.1, cannot leave a log on closing; what it writes then is the log's.
        if Engine.current.formats.first?.version == 4 {
            #expect(try [FileState(path), FileState(path + "-wal")] == before)
        }
        let opened = try DatabaseQueue(path: path, key: new.key)
        #expect(try opened.inDatabase { try $0.string(forQuery: SampleFile.question) } == SampleFile.answer)
    }

    @Test func hotJournalRollsBackForRightKeyOnly() throws {
        // A copy of the file and its journal in the middle of a transaction is what a killed process leaves.
        let configuration = Configuration { $0.pageCacheSize = 16 << 10 }
        let original = directory.file("original.db")
        let queue = try DatabaseQueue(path: original, key: Self.key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.inTransaction { database, rollback in
            try database.executeUpdate("UPDATE people SET id = id + 1000, name = name || id, note = randomblob(150)")
            try FileManager.default.copyItem(atPath: original, toPath: path)
            try FileManager.default.copyItem(atPath: original + "-journal", toPath: path + "-journal")
            rollback = true
        }
        // Page 1 as a power cut may leave it: until the rollback not even the right key fits.
        try flipByte(of: path, at: 50)
        let before = [try FileState(path), try FileState(path + "-journal")]
        #expect(throws: KeyError.self) { _ = try DatabaseQueue(path: path, key: .sample("wrong")) }
        #expect([try FileState(path), try FileState(path + "-journal")] == before)
        let recovered = try DatabaseQueue(path: path, key: Self.key)
        let answer: String = try recovered.inDatabase { try $0.first(SampleFile.question) }
        #expect(answer == SampleFile.answer)
        #expect(!directory.names.contains("test.db-journal"))
    }

    @Test func wrongKeyPlaysNoPlantedJournal() throws {
        try make(.delete)
        let size = try #require(Engine.current.formats.first?.pageSize)
        func bytes(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        // A header that says: the database had two pages, and nothing was journaled.
        let header: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let journal = header + bytes(0) + bytes(1) + bytes(2) + bytes(512) + bytes(size)
        _ = try directory.write(journal + [UInt8](repeating: 0, count: 512 - journal.count), to: "test.db-journal")
        try refuses(.wrongKey, key: .sample("wrong"))
    }

    @Test(arguments: ["-journal", "-wal"]) func fifoAsJournalIsRefused(suffix: String) throws {
        try make(.delete)
        #expect(mkfifo(path + suffix, 0o600) == 0)
        #expect(throws: DatabaseError.self) { _ = try DatabaseQueue(path: path, key: Self.key) }
    }

    @Test(arguments: ["-journal", "-wal"]) func emptyFileWithSideFilesIsNotNew(suffix: String) throws {
        _ = try directory.write([], to: "test.db")
        _ = try directory.write([UInt8](repeating: 1, count: 600), to: "test.db" + suffix)
        try refuses(.notADatabase)
    }

    @Test func errorIsCaughtByItsCause() throws {
        try make(.delete)
        do {
            _ = try DatabaseQueue(path: path, key: .random())
            Issue.record("a wrong key opens")
        } catch KeyError.keyMissing {
            Issue.record("another cause matches")
        } catch KeyError.wrongKey {
            // As it should be.
        }
        do {
            _ = try Keyring(path: directory.file("no")).unlock(.passphrase("secret"))
            Issue.record("a missing keyring opens")
        } catch KeyringError.exists {
            Issue.record("another cause matches")
        } catch KeyringError.missing {
            // As it should be.
        }
    }

    @Test func codeMatchesWhateverComesWithIt() throws {
        let errors: [any Error] = [KeyError.damage([2, 3], of: "a.db"), KeyError(.damaged)]
        for error in errors {
            switch error {
            case KeyError.otherFormat, KeyringError.damaged, KeyError.wrongKey: Issue.record("another code matches")
            case KeyError.damaged: break
            default: Issue.record("no code matches")
            }
            #expect((error as? KeyError)?.code == .damaged && (error as? KeyError)?.code != .otherFormat)
        }
        let keyring: any Error = KeyringError(.damaged, offset: 4)
        if case KeyError.damaged = keyring { Issue.record("an error of another type matches") }
        guard case KeyringError.damaged = keyring else { throw keyring }
        #expect(KeyError.damage([1], of: "a.db") != KeyError.damage([2], of: "a.db"))
        #expect(KeyError.damage([1], of: "a.db") != KeyError.damage([1], of: "b.db"))
        #expect(KeyError.damage([1], of: "a.db") == KeyError.damage([1], of: "a.db"))
        #expect(KeyError.damaged.rawValue == "damaged" && KeyringError.noSuchSlot.rawValue == "noSuchSlot")
    }

    @Test(arguments: modes) func integrityCheckFindsDamageAlsoInFreePages(mode: JournalMode) throws {
        try make(mode)
        let queue = try DatabaseQueue(path: path, key: Self.key)
        #expect(try queue.read { try $0.integrityCheck() } == [])
        #expect(try queue.write { try $0.integrityCheck() } == [])
        try queue.write { try $0.executeUpdate("DROP TABLE people") }
        let size = try #require(try queue.inDatabase { $0.cipherFormat?.pageSize })
        try queue.close()
        let last = try FileState(path).bytes.count / size
        try flipByte(of: path, at: (last - 1) * size + 50)
        let damaged = try DatabaseQueue(path: path, key: Self.key)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [last] }) {
            try damaged.read { try $0.integrityCheck() }
        }
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [last] }) { try damaged.integrityCheck() }
    }

    @Test func integrityCheckListsWhatSQLiteFinds() throws {
        func open() throws -> DatabaseQueue {
            try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        }
        let queue = try open()
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.close()
        // The number of free pages in the header.
        try flipByte(of: path, at: 39)
        let problems = try open().read { try $0.integrityCheck() }
        #expect(problems.count == 1 && problems.first?.lowercased().contains("freelist") == true, "\(problems)")
    }

    @Test func attachedDatabaseIsNamedByItsError() throws {
        try make(.delete)
        let other = directory.file("other.db")
        try FileManager.default.copyItem(atPath: path, toPath: other)
        try DatabaseQueue(path: path, key: Self.key).inDatabase { database in
            let error = expect(throws: KeyError.wrongKey) { try database.attach(other, as: "other", key: .random()) }
            #expect(error?.path == other)
        }
    }

    @Test func everyErrorHasAdvice() {
        let codes: [ErrorCode<KeyError>] = [
            .wrongKey, .keyMissing, .notEncrypted, .notADatabase, .engineHasNoEncryption,
        ]
        let errors =
            codes.map { KeyError($0) } + [.damage([2, 3], of: "")]
            + [.v3, .v4].map { KeyError(.otherFormat, format: $0) }
        for error in errors { #expect("\(error)".count > 20) }
        #expect(Set(errors.map { "\($0)" }).count == errors.count)
        #expect("\(KeyError.damage([2, 3, 7], of: ""))".contains("pages 2 to 3, 7"))
    }
}
