import CipherBackup
import CipherDB
import CipherKeys
import Foundation
import Rekeying
import SQLiteFormat
import TestSupport
import Testing

/// A WAL or journal whose pages have another size than those of the file: it is another database's, and SQLite would act on it.
@Suite(.atTheEnds) struct ForeignPageSizeTests {
    private let directory: TemporaryDirectory
    private let path: String
    private let key: DatabaseKey

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("a.db")
        key = try .sample("k")
    }

    private static func layout(_ pageSize: Int) throws -> CipherFormat {
        try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = pageSize }
    }

    /// A database of 300 rows.
    private func makeDatabase(_ pageSize: Int, _ key: DatabaseKey, at path: String) throws {
        let layout = try Self.layout(pageSize)
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = layout })
        try queue.inDatabase {
            try $0.executeStatements(
                """
                CREATE TABLE t (a); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO t SELECT hex(randomblob(50)) FROM n
                """
            )
        }
        try queue.close()
    }

    // MARK: What another database leaves

    private static func random(_ count: Int, like beginning: [UInt8] = []) -> [UInt8] {
        var random = SplitMix(UInt64(count))
        return beginning + (beginning.count..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
    }

    /// A WAL of one transaction, from page 1 on.
    private static func log(_ pageSize: Int, isBigEndian: Bool, _ images: [[UInt8]]) -> [UInt8] {
        var sums: (UInt32, UInt32) = (0, 0)
        func add(_ bytes: [UInt8]) {
            for place in stride(from: 0, to: bytes.count, by: 8) {
                let words = [place, place + 4].map { at in
                    let word = bytes[at..<at + 4]
                    return (isBigEndian ? Array(word) : word.reversed()).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                }
                sums.0 = sums.0 &+ words[0] &+ sums.1
                sums.1 = sums.1 &+ words[1] &+ sums.0
            }
        }
        var log = [isBigEndian ? 0x377f_0683 : 0x377f_0682, 3_007_000, pageSize, 0, 7, 9].flatMap(MadeJournal.bigEndian)
        add(log)
        log += MadeJournal.bigEndian(Int(sums.0)) + MadeJournal.bigEndian(Int(sums.1))
        for (index, image) in images.enumerated() {
            let start =
                MadeJournal.bigEndian(index + 1) + MadeJournal.bigEndian(index == images.count - 1 ? images.count : 0)
            add(start)
            add(image)
            log +=
                start + [7, 9].flatMap(MadeJournal.bigEndian) + MadeJournal.bigEndian(Int(sums.0))
                + MadeJournal.bigEndian(Int(sums.1)) + image
        }
        return log
    }

    // MARK: What is expected

    /// Nothing takes it for the file's own, and nothing changes.
    private func expectRefusals(_ suffix: String, _ comment: String) throws {
        let before = try [path, path + suffix].map { try FileState($0) }
        let file = DatabaseFile(path: path)
        let keyring = directory.file("keyring")
        let operations: [(String, () throws -> Void)] = [
            ("queue", { _ = try DatabaseQueue(path: path, key: key) }),
            ("pool", { _ = try DatabasePool(path: path, key: key) }),
            (
                "any format",
                { _ = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = .any }) }
            ),
            ("verify", { _ = try file.verify(key: key) }),
            ("inspect", { _ = try file.inspect(key: key) }),
            ("map", { _ = try file.map(key: key) }),
            ("copy", { try file.copy(key: key, to: directory.file("copy.db")) }),
            ("change", { try file.changeKey(from: key, to: .sample("new")) }),
            ("change in place", { _ = try file.changeKeyInPlace(from: key, to: .sample("new")) }),
            ("migrate", { try file.migrate(key: key, to: .sample("new")) }),
            ("decrypt", { try file.decryptToPlaintext(key: key) }),
            ("back up", { try file.backUp(to: BackupRepository(directory.file("backups")), key: key) }),
            (
                "keyring",
                {
                    let keyring = try Keyring(path: keyring).create(with: .sample("secret"))
                    _ = try file.moveToKeyring(keyring, from: key)
                }
            ),
        ]
        for (name, run) in operations {
            expect(throws: KeyError.journalUnderOtherKey, "\(name), \(comment)") { try run() }
            #expect(try [path, path + suffix].map { try FileState($0) } == before, "\(name), \(comment)")
        }
        try? FileManager.default.removeItem(atPath: keyring)
        try expectRecovery(comment)
        #expect(try [path, path + suffix].map { try FileState($0) } == before, "recover, \(comment)")
    }

    private func expectRecovery(_ comment: String) throws {
        let saved = directory.file("saved.db")
        defer { try? FileManager.default.removeItem(atPath: saved) }
        let recovery = try DatabaseFile(path: path).recover(key: key, to: saved)
        #expect(recovery.damagedPages.isEmpty && !recovery.isComplete, "\(comment)")
        let queue = try DatabaseQueue(path: saved, key: key, configuration: Configuration { $0.format = .any })
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM t") } == 300, "\(comment)")
        try queue.close()
    }

    // MARK: Tests

    @Test(arguments: [1024, 4096, 65536]) func logOfOtherSizeIsRefused(pageSize: Int) throws {
        try makeDatabase(pageSize, key, at: path)
        for (index, size) in CipherFormat.pageSizes.enumerated() where size != pageSize {
            let images = [Self.random(size), Self.random(size)]
            _ = try directory.write(Self.log(size, isBigEndian: index % 2 == 0, images), to: "a.db-wal")
            try expectRefusals("-wal", "\(size)")
        }
    }

    @Test func partOfLogOfOtherSizeIsRefused() throws {
        try makeDatabase(4096, key, at: path)
        let whole = Self.log(1024, isBigEndian: false, [Self.random(1024)])
        let plaintext = Self.log(1024, isBigEndian: true, [Self.random(1024, like: Array("SQLite format 3\0".utf8))])
        let own = try FileState(path).bytes.prefix(4096)
        let beginsAsOwn = Self.log(8192, isBigEndian: false, [Self.random(8192, like: Array(own))])
        for (name, log) in [
            ("cut off", whole + whole[32...].prefix(500)), ("plaintext", plaintext), ("begins as own", beginsAsOwn),
        ] {
            _ = try directory.write(log, to: "a.db-wal")
            try expectRefusals("-wal", name)
        }
    }

    /// The images are authentic, of another database with the same key and salt.
    @Test(arguments: [(4096, 1024), (1024, 4096)]) func logUnderSameKeyAndSaltIsRefused(sizes: (Int, Int)) throws {
        let key = SampleKey.all[6].key
        try makeDatabase(sizes.0, key, at: path)
        let other = directory.file("other.db")
        let layout = try Self.layout(sizes.1)
        let queue = try DatabaseQueue(
            path: other,
            key: key,
            configuration: Configuration {
                $0.format = layout
                $0.journalMode = .wal
            }
        )
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE u (b); INSERT INTO u VALUES (1)") }
        try FileManager.default.copyItem(atPath: other + "-wal", toPath: path + "-wal")
        try queue.close()
        let before = try [path, path + "-wal"].map { try FileState($0) }
        for format in [CipherFormat.any, layout, try Self.layout(sizes.0)] {
            expect(throws: KeyError.journalUnderOtherKey, "\(format)") {
                _ = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = format })
            }
        }
        expect(throws: KeyError.journalUnderOtherKey) { _ = try DatabaseFile(path: path).verify(key: key) }
        #expect(try [path, path + "-wal"].map { try FileState($0) } == before)
        let saved = directory.file("saved.db")
        _ = try DatabaseFile(path: path).recover(key: key, to: saved)
        let found = try DatabaseQueue(path: saved, key: key, configuration: Configuration { $0.format = .any })
        #expect(try found.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM t") } == 300)
    }

    @Test(arguments: [1024, 65536]) func journalOfOtherSizeIsRefused(size: Int) throws {
        try makeDatabase(4096, key, at: path)
        _ = try directory.write(MadeJournal.bytes(size, [(1, Self.random(size))], pageCount: 1), to: "a.db-journal")
        try expectRefusals("-journal", "\(size)")
    }

    /// SQLite reads nothing of it either; what is told of it names no page of the file.
    @Test func logOfOtherSizeIsNotSearched() throws {
        try makeDatabase(4096, key, at: path)
        var log = Self.log(1024, isBigEndian: false, (0..<8).map { Array(Self.random(1024 + $0).suffix(1024)) })
        for frame in 0..<8 { log[32 + frame * 1048 + 20] ^= 1 }
        _ = try directory.write(log, to: "a.db-wal")
        let found = try DatabaseFile(path: path).verify(key: key)
        #expect(!found.isSound && found.damagedPages.isEmpty && found.problems.count == 1)
        try expectRecovery("wrong checksums")
    }

    /// Without MACs the size of the pages is all that tells.
    @Test(.enabled(if: Engine.current.writes(.v1), "this engine does not write format 1"))
    func formatWithoutMACsHasOwnPageSize() throws {
        let key = try DatabaseKey.passphrase("format 1")
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = .v1 })
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.close()
        for (suffix, bytes) in [
            ("-wal", Self.log(4096, isBigEndian: true, [Self.random(4096)])),
            ("-journal", MadeJournal.bytes(4096, [(1, Self.random(4096))], pageCount: 1)),
        ] {
            _ = try directory.write(bytes, to: "a.db" + suffix)
            let before = try [path, path + suffix].map { try FileState($0) }
            expect(throws: KeyError.journalUnderOtherKey, "\(suffix)") {
                _ = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = .v1 })
            }
            expect(throws: KeyError.journalUnderOtherKey, "\(suffix)") {
                _ = try DatabaseFile(path: path).verify(key: key)
            }
            #expect(try [path, path + suffix].map { try FileState($0) } == before, "\(suffix)")
            try FileManager.default.removeItem(atPath: path + suffix)
        }
    }

    /// SQLite reads nothing of it.
    @Test func logWithoutWholeFrameIsNone() throws {
        try makeDatabase(4096, key, at: path)
        _ = try directory.write(Self.log(1024, isBigEndian: false, [Self.random(1024)]).dropLast(), to: "a.db-wal")
        let queue = try DatabaseQueue(path: path, key: key)
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM t") } == 300)
    }

    /// Of a file whose page 1 is damaged, the others are recovered.
    @Test(arguments: [1024, 4096]) func foreignLogHidesNoPageBesideDamage(size: Int) throws {
        try makeDatabase(4096, key, at: path)
        try flipByte(of: path, at: 200)
        _ = try directory.write(
            Self.log(size, isBigEndian: false, (0..<6).map { Array(Self.random(size + $0).suffix(size)) }),
            to: "a.db-wal"
        )
        let file = DatabaseFile(path: path)
        expect(throws: KeyError.journalUnderOtherKey) { _ = try file.verify(key: key) }
        let recovery = try file.recover(key: key, to: directory.file("saved.db"))
        #expect(recovery.damagedPages == [1] && recovery.unassignedRows?.rows == 300)
    }
}
