import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

/// Damage in what stands beside a database, which the engine would ignore without an error.
@Suite(.atTheEnds) struct SideFileDamageTests {
    private let directory: TemporaryDirectory
    private let path: String
    private static let key = SampleKey.named("secret")
    private let file: DatabaseFile
    private static let frame = 24 + 1024

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        file = DatabaseFile(path: path)
    }

    /// The files as a killed program leaves them: six transactions in the WAL, and of a seventh the frames without a commit.
    private func makeLog(_ key: DatabaseKey?) throws -> (log: [UInt8], commits: [Int]) {
        let live = directory.file("live.db")
        let database = try open(live, key)
        try database.executeStatements("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        try database.checkpoint(.truncate)
        try database.executeStatements("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5")
        for number in 0..<6 { try database.executeUpdate("INSERT INTO t VALUES (zeroblob(3000) || ?)", number) }
        try database.executeStatements("BEGIN")
        for _ in 0..<20 { try database.executeStatements("INSERT INTO t VALUES (zeroblob(3000))") }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix) }
        try database.rollback()
        database.close()
        let log = try Array(FileState(path + "-wal").bytes)
        let frames = (log.count - 32) / Self.frame
        let commits = (0..<frames).filter { log[(36 + $0 * Self.frame)..<(40 + $0 * Self.frame)].contains { $0 != 0 } }
        #expect(commits.count == 6 && frames > commits[5] + 1)
        return (log, commits)
    }

    /// A database with pages of 1,024 bytes; nil stands for plaintext.
    private func open(_ path: String, _ key: DatabaseKey?) throws -> Database {
        let layout = try Self.layout
        if key == nil {
            let shell = try #require(StockShell.ofThisFormat)
            try shell.run(path, key: nil, "PRAGMA page_size = 1024; VACUUM; CREATE TABLE made (a);")
        }
        let database = Database(
            path: path,
            configuration: Configuration {
                $0.format = layout
                $0.allowsPlaintext = key == nil
            }
        )
        if let key { try database.open(key: key) } else { try database.open() }
        return database
    }

    /// Every operation that would let the engine act on the side files fails, and leaves all files as they are.
    private func expectRefusals(_ comment: String) throws {
        let before = try [path, path + "-wal"].map { try FileState($0) }
        let key = Self.key.key
        #expect(try !file.verify(key: key, checksStructure: false).isSound, "\(comment)")
        let operations: [(String, () throws -> Void)] = [
            ("change", { try file.changeKey(from: key, to: .sample("new")) }),
            ("change in place", { _ = try file.changeKeyInPlace(from: key, to: .sample("new")) }),
            ("decrypt", { try file.decryptToPlaintext(key: key) }),
            ("migrate", { try file.migrate(key: key, to: .sample("new")) }),
            ("copy", { try file.copy(key: key, to: directory.file("copy.db")) }),
        ]
        for (name, run) in operations {
            let error = #expect(throws: DatabaseError.self, "\(name), \(comment)") { try run() }
            #expect(error?.code.primary == .corrupt, "\(name), \(comment)")
        }
        #expect(try [path, path + "-wal"].map { try FileState($0) } == before, "\(comment)")
        let saved = directory.file("saved.db")
        #expect(try !file.recover(key: key, to: saved).isComplete, "\(comment)")
        try FileManager.default.removeItem(atPath: saved)
    }

    @Test func flippedBitInLastCommitIsDamage() throws {
        let (log, commits) = try makeLog(Self.key.key)
        let last = 32 + commits[5] * Self.frame
        // Nothing behind the commit that would show that it was whole.
        let end = last + Self.frame
        var random = SplitMix(7)
        for place in [0, 3, 4, 7, 8, 12, 16, 23, 24, 100, 1047] {
            var flipped = Array(log[..<end])
            flipped[last + place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            _ = try directory.write(flipped, to: "test.db-wal")
            try expectRefusals("byte \(place)")
        }
    }

    @Test func frameAfterDestroyedCommitProvesLoss() throws {
        let (log, commits) = try makeLog(Self.key.key)
        let last = 32 + commits[5] * Self.frame
        var destroyed = log
        for place in 200..<300 { destroyed[last + place] ^= 0x5a }
        _ = try directory.write(destroyed, to: "test.db-wal")
        try expectRefusals("100 bytes")
    }

    /// A killed writer leaves this where it had written the header of a frame, and not its page.
    @Test func commitWithoutItsPageIsNoDamage() throws {
        let (log, commits) = try makeLog(Self.key.key)
        let (first, last) = (32 + commits[0] * Self.frame, 32 + commits[5] * Self.frame)
        let torn = Array(log[..<(last + 24)]) + log[(first + 24)..<(first + Self.frame)]
        _ = try directory.write(torn, to: "test.db-wal")
        #expect(try file.verify(key: Self.key.key).isSound)
        try file.changeKey(from: Self.key.key, to: .sample("new"))
        let database = Database(path: path, configuration: Configuration { $0.format = try? Self.layout })
        try database.open(key: .sample("new"))
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 5)
    }

    private static var layout: CipherFormat {
        get throws { try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 1024 } }
    }

    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
    func damagedWALStopsEncryption() throws {
        let (log, commits) = try makeLog(nil)
        for frame in [0, commits[2], commits[5]] {
            var flipped = Array(log[..<(32 + (commits[5] + 1) * Self.frame)])
            flipped[32 + frame * Self.frame + 500] ^= 4
            _ = try directory.write(flipped, to: "test.db-wal")
            let before = try [path, path + "-wal"].map { try FileState($0) }
            let error = #expect(throws: DatabaseError.self) { try file.encrypt(with: Self.key.key) }
            #expect(error?.code.primary == .corrupt && error?.message.contains("frame \(frame + 1)") == true)
            #expect(try [path, path + "-wal"].map { try FileState($0) } == before)
        }
        _ = try directory.write(log, to: "test.db-wal")
        try file.encrypt(with: Self.key.key)
        let database = Database(path: path)
        try database.open(key: Self.key.key)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 6)
    }

    @Test(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
    func damagedJournalStopsEncryption() throws {
        let live = directory.file("live.db")
        let database = try open(live, nil)
        try database.executeStatements("PRAGMA cache_size = 2;" + SampleFile.content)
        try database.executeStatements("BEGIN; UPDATE people SET note = zeroblob(100)")
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix)
        }
        try database.rollback()
        database.close()
        let journal = try FileState(path + "-journal").bytes
        // The first record: page number, two bytes that SQLite sums, checksum; and the size in the header.
        for place in [514, 512 + 4 + 1024 - 200, 512 + 4 + 224, 512 + 1028 + 3, 18] {
            var flipped = journal
            flipped[place] ^= 2
            _ = try directory.write(flipped, to: "test.db-journal")
            let before = try [path, path + "-journal"].map { try FileState($0) }
            let error = #expect(throws: DatabaseError.self, "\(place)") { try file.encrypt(with: Self.key.key) }
            #expect(error?.code.primary == .corrupt, "\(place)")
            #expect(try [path, path + "-journal"].map { try FileState($0) } == before, "\(place)")
        }
        _ = try directory.write(journal, to: "test.db-journal")
        try file.encrypt(with: Self.key.key)
        let encrypted = Database(path: path)
        try encrypted.open(key: Self.key.key)
        #expect(try encrypted.string(forQuery: SampleFile.question) == SampleFile.answer)
    }

    /// A database, and the pages that it has.
    private func makeWithPages() throws -> [(number: Int, image: [UInt8])] {
        let database = try open(path, Self.key.key)
        try database.executeStatements(SampleFile.content)
        database.close()
        let bytes = try Array(FileState(path).bytes)
        return stride(from: 0, to: bytes.count, by: 1024).map { ($0 / 1024 + 1, Array(bytes[$0..<($0 + 1024)])) }
    }

    @Test func journalIsPlayedBackForWritingOnly() throws {
        let pages = try makeWithPages()
        _ = try directory.write(MadeJournal.bytes(1024, pages, pageCount: pages.count), to: "test.db-journal")
        try flipByte(of: path, at: 200)
        let before = try [path, path + "-journal"].map { try FileState($0) }
        let reader = Database(path: path)
        #expect {
            try reader.open(key: Self.key.key, flags: .readOnly)
        } throws: {
            ($0 as? DatabaseError)?.code.primary == .readOnly
        }
        reader.close()
        #expect(try [path, path + "-journal"].map { try FileState($0) } == before)
        let writer = Database(path: path)
        try writer.open(key: Self.key.key)
        #expect(try writer.string(forQuery: SampleFile.question) == SampleFile.answer)
    }

    @Test func journalThatContradictsItselfIsDamaged() throws {
        let pages = try makeWithPages()
        for (records, count, problem) in [
            (pages + [pages[0]], pages.count, "image of page 1"), (pages, pages.count + 1, "the size is not that"),
        ] {
            _ = try directory.write(MadeJournal.bytes(1024, records, pageCount: count), to: "test.db-journal")
            let found = try file.verify(key: Self.key.key)
            #expect(found.problems.count == 1 && found.problems[0].contains(problem), "\(found.problems)")
        }
        _ = try directory.write(MadeJournal.bytes(1024, pages, pageCount: pages.count), to: "test.db-journal")
        #expect(try file.verify(key: Self.key.key).isSound)
    }

    /// Written without syncing it counts no records, and ends where a checksum is wrong: behind it stand those of an older transaction.
    @Test func recordsBehindEndOfUncountedJournalAreNoDamage() throws {
        let pages = try makeWithPages()
        var journal = Array(MadeJournal.bytes(1024, pages, pageCount: pages.count))
        for place in 8..<12 { journal[place] = 0xff }
        let last = Array(journal.suffix(8 + 1024))
        _ = try directory.write(journal, to: "test.db-journal")
        #expect(try file.verify(key: Self.key.key).isSound)
        _ = try directory.write(journal + last.dropLast() + [last[last.count - 1] ^ 1], to: "test.db-journal")
        #expect(try file.verify(key: Self.key.key).isSound)
    }

    @Test func dryRunPrecedesRecovery() throws {
        struct Planned: Error {}
        _ = try makeLog(Self.key.key)
        let before = try [path, path + "-wal"].map { try FileState($0) }
        var asking = file
        asking.willRewrite = { plan in
            #expect(plan.size > 0 && plan.size % 1024 == 0)
            throw Planned()
        }
        #expect(throws: Planned.self) { try asking.changeKey(from: Self.key.key, to: .sample("new")) }
        #expect(try [path, path + "-wal"].map { try FileState($0) } == before)
        #expect(directory.names.sorted().filter { $0.hasPrefix("test.db") } == ["test.db", "test.db-wal"])
    }

    @Test(arguments: [1, 1024, 1500, 20 * 1024])
    func truncatedFileNamesMissingPages(length: Int) throws {
        let database = try open(path, Self.key.key)
        try database.executeStatements(SampleFile.content)
        database.close()
        let bytes = try FileState(path).bytes
        let pages = bytes.count / 1024
        _ = try directory.write(Array(bytes[..<(1024 + length - 1)]), to: "test.db")
        let whole = (1024 + length - 1) / 1024
        let isMissing = { (error: KeyError) in error.damagedPages == Array((whole + 1)...pages) }
        let (key, new) = try (Self.key.key, DatabaseKey.sample("new"))
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 4096 }
        expect(throws: KeyError.damaged, where: isMissing) { try file.changeKey(from: key, to: new) }
        expect(throws: KeyError.damaged, where: isMissing) { try file.changeKeyInPlace(from: key, to: new) }
        expect(throws: KeyError.damaged, where: isMissing) { try file.copy(key: key, to: directory.file("copy.db")) }
        expect(throws: KeyError.damaged, where: isMissing) { try file.decryptToPlaintext(key: key) }
        expect(throws: KeyError.damaged, where: isMissing) { try file.migrate(key: key, to: new, format: format) }
        let found = try file.verify(key: key)
        #expect(found.damagedPages == Array((whole + 1)...pages))
    }

    /// The pages that the log has are behind many that neither file has.
    @Test func commitsOfLogOutliveCutFile() throws {
        let live = directory.file("live.db")
        let database = try open(live, Self.key.key)
        try database.executeStatements("PRAGMA journal_mode = WAL; CREATE TABLE t (a, b)")
        for number in 0..<200 { try database.executeUpdate("INSERT INTO t VALUES (?, zeroblob(900))", number) }
        try database.checkpoint(.truncate)
        for number in 0..<20 { try database.executeUpdate("INSERT INTO t VALUES (?, zeroblob(900))", 1000 + number) }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: live + suffix, toPath: path + suffix) }
        database.close()
        _ = try directory.write(Array(FileState(path).bytes[..<(30 * 1024)]), to: "test.db")
        let (key, new) = try (Self.key.key, DatabaseKey.sample("new"))
        let isDamage = { (error: KeyError) in error.damagedPages?.first == 31 }
        expect(throws: KeyError.damaged, where: isDamage) { try file.changeKey(from: key, to: new) }
        expect(throws: KeyError.damaged, where: isDamage) { try file.changeKeyInPlace(from: key, to: new) }
        expect(throws: KeyError.damaged, where: isDamage) { try file.decryptToPlaintext(key: key) }
        // An engine that finds no damage itself meets a later page first.
        expect(throws: KeyError.damaged, where: { $0.damagedPages?.first ?? 0 >= 31 }) {
            try file.copy(key: key, to: directory.file("copy.db"))
        }
        let found = try file.verify(key: key)
        #expect(found.damagedPages.first == 31 && found.pages > 200)
        let recovery = try file.recover(key: key, to: directory.file("saved.db"))
        #expect(!recovery.isComplete && recovery.damagedPages == found.damagedPages && recovery.missingPages.isEmpty)
        let saved = Database(path: directory.file("saved.db"))
        try saved.open(key: key)
        #expect(try saved.int(forQuery: "SELECT count(*) FROM t WHERE a >= 1000") == 20)
    }

    @Test func frameOfNoPageMakesDatabaseNoLonger() throws {
        let (log, commits) = try makeLog(Self.key.key)
        var forged = log
        let last = 32 + commits[5] * Self.frame
        for place in [last, last + 4] { forged.replaceSubrange(place..<(place + 4), with: [0, 1, 0, 0]) }
        _ = try directory.write(forged, to: "test.db-wal")
        let found = try file.verify(key: Self.key.key, checksStructure: false)
        #expect(!found.isSound && found.pages < 100)
    }

    @Test func lostJournalIsReported() throws {
        let live = directory.file("live.db")
        let database = try open(live, Self.key.key)
        try database.executeStatements("PRAGMA cache_size = 2;" + SampleFile.content)
        try database.executeStatements("BEGIN; INSERT INTO people (note) SELECT note FROM people")
        try FileManager.default.copyItem(atPath: live, toPath: path)
        try database.rollback()
        database.close()
        let found = try file.verify(key: Self.key.key)
        #expect(!found.isSound && found.problems.contains { $0.contains("its journal is lost") })
        let recovery = try file.recover(key: Self.key.key, to: directory.file("saved.db"))
        #expect(!recovery.isComplete && recovery.problems.contains { $0.contains("its journal is lost") })
    }
}
