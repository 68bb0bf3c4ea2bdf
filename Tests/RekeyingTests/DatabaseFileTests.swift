import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct DatabaseFileTests {
    let directory: TemporaryDirectory
    let path: String
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let key = SampleKey.named("secret")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private static var own: Int { Engine.current.formats.first?.version ?? 0 }

    @Test func filesAreRecognisedWithoutKey() throws {
        for (bytes, kind) in [
            (Data(), Inspection.Kind.empty), (Data("SQLite format 3\0".utf8) + Data(count: 500), .plaintext),
            (Data("text".utf8), .notADatabase), (Data(count: 10_000), .notADatabase),
        ] {
            try bytes.write(to: URL(fileURLWithPath: path))
            let found = try file.inspect()
            #expect(found.kind == kind && found.size == Int64(bytes.count))
            #expect(found.format == nil && found.pageCount == nil)
        }
    }

    @Test(arguments: StockShell.all)
    func formatIsFoundOnEveryEngine(shell: StockShell) throws {
        for format in 1...shell.format where format > 2 || shell.isOfThisEngine {
            // Under a raw key format 1 is not looked for, and formats 2 and 3 are the same.
            let key = format <= 2 ? SampleKey.all[1] : Self.key
            for size in Extent.isComplete || format > 2 ? [1024, 16384] : [16384] {
                try? FileManager.default.removeItem(atPath: path)
                try SampleFile.make(at: path, by: shell, key: key, format: format, pageSize: size)
                let before = try FileState(path)
                #expect(try file.inspect().kind == .encrypted)
                let found = try file.inspect(key: key.key)
                #expect(found.format?.version == format && found.format?.pageSize == size)
                #expect(found.pageCount == before.bytes.count / size)
                expect(throws: KeyError.wrongKey) { try file.inspect(key: .sample("wrong")) }
                #expect(try FileState(path) == before)
            }
        }
    }

    @Test(arguments: StockShell.all.filter { $0.format <= Self.own }, ["delete", "wal"])
    func soundFileIsUnchanged(shell: StockShell, mode: String) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key, before: "PRAGMA journal_mode = \(mode);")
        let before = try FileState(path)
        var last: FileProgress?
        let found = try file.verify(key: Self.key.key) { last = $0 }
        #expect(found.isSound && found.pages > 20 && found.format.version == shell.format)
        #expect(last?.stage == .checking && last?.done == Int64(before.bytes.count) && last?.all == last?.done)
        #expect(try FileState(path) == before)
        #expect(directory.names == ["test.db"])
    }

    @Test(arguments: StockShell.all.filter { $0.format <= Self.own })
    func damagedPagesAreListed(shell: StockShell) throws {
        try SampleFile.make(at: path, by: shell, key: Self.key)
        let size = shell.format == 4 ? 4096 : 1024
        for number in [2, 7, 20] { try flipByte(of: path, at: (number - 1) * size + 77) }
        let found = try file.verify(key: Self.key.key)
        #expect(found.damagedPages == [2, 7, 20] && !found.isSound && !found.problems.isEmpty)
        try flipByte(of: path, at: 500)
        #expect(try file.verify(key: Self.key.key).damagedPages == [1, 2, 7, 20])
        expect(throws: KeyError.wrongKey) { try file.verify(key: .sample("wrong")) }
    }

    private func makeWithUncheckedSchema(_ sql: SQL) throws {
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.unsafeAllowsAllSQL = true }
        )
        try queue.inDatabase { try $0.executeStatements(sql) }
        try queue.close()
    }

    @Test func structuralErrorsAreFound() throws {
        try makeWithUncheckedSchema(
            """
            CREATE TABLE t (a, b); CREATE INDEX i ON t (a); CREATE INDEX j ON t (b); INSERT INTO t VALUES (1, 2), (3, 4);
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, '(a)', '(b)') WHERE name = 'i';
            """
        )
        let found = try file.verify(key: Self.key.key)
        #expect(found.damagedPages == [] && !found.isSound && found.problems.contains { $0.contains("index i") })
    }

    @Test func unreadableSchemaIsNoWrongKey() throws {
        try makeWithUncheckedSchema(
            "CREATE TABLE t (a); PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE NONSENSE';"
        )
        let found = try file.verify(key: Self.key.key)
        #expect(found.damagedPages == [] && found.pages > 1 && found.problems.count == 1)
    }

    @Test func verifyingGoesOnBesideWriter() throws {
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.journalMode = .wal }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        let stop = Gate()
        let done = Gate()
        Thread {
            var number = 0
            while !stop.passed {
                number += 1
                try? queue.inDatabase {
                    try $0.executeUpdate("UPDATE people SET note = ? WHERE id % 7 = 0", "\(number)")
                }
            }
            done.open()
        }.start()
        for _ in 0..<10 { #expect(try file.verify(key: Self.key.key).isSound) }
        stop.open()
        done.wait()
    }

    @Test func format1IsNotTriedWithRawKey() throws {
        // An attacker could forge the file in format 1 without the key; nothing would authenticate it.
        let shell = try #require(StockShell.all.first)
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[5], format: 1)
        #expect { try file.inspect(key: SampleKey.all[5].key) } throws: { isWithoutMACs($0) }
        #expect { try file.verify(key: SampleKey.all[5].key) } throws: { isWithoutMACs($0) }
    }

    private func isWithoutMACs(_ error: any Error) -> Bool {
        if case KeyError.withoutMACs = error { true } else { false }
    }

    /// Stock SQLCipher would make such files, and nothing could prove their key.
    @Test func noFileOfFormat1GetsRawKey() throws {
        let shell = try #require(StockShell.all.first)
        try SampleFile.make(at: path, by: shell, key: SampleKey.all[0], format: 1)
        let (old, before) = (SampleKey.all[0].key, try FileState(path))
        let refusal = UnusableCipherFormat.rawKeyWithoutAuthentication
        for new in [try DatabaseKey.random(), try .rawWithSalt(.random(count: 48))] {
            // No key of format 1 is changed by a new file.
            #expect(throws: RekeyError.self) { try file.changeKey(from: old, to: new) }
            #expect(throws: (any Error).self) { _ = try file.changeKeyInPlace(from: old, to: new) }
            #expect(throws: refusal) { try file.copy(key: old, to: directory.file("copy"), newKey: new) }
        }
        let keyring = Keyring(besideDatabase: path)
        let unlocked = try keyring.create(with: .keyFile(.random(count: 32)), for: path)
        #expect(throws: RekeyError.self) { try file.moveToKeyring(unlocked, from: old) }
        #expect(throws: refusal) { _ = try file.changeKeyInPlace(from: old, to: .random()) }
        #expect(try FileState(path) == before)
        #expect(Set(directory.names) == ["test.db", "test.db.keyring"])
    }

    @Test func passphraseSpelledAsRawKeyOpensInShells() throws {
        let literal = "x'" + String(repeating: "0123456789abcdef", count: 4) + "'"
        let shell = try #require(StockShell.all.first)
        try SampleFile.make(at: path, by: shell, key: Self.key)
        try file.changeKey(from: Self.key.key, to: .passphrase(literal))
        #expect(try shell.run(path, key: "key = \"\(literal)\"", SampleFile.query) == [SampleFile.answer])
        #expect(try file.verify(key: .raw(hex: String(repeating: "0123456789abcdef", count: 4))).isSound)
    }

    @Test func manyDamagedPagesAreFoundQuickly() throws {
        let queue = try DatabaseQueue(path: path, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        let size = try #require(try queue.inDatabase { $0.cipherFormat?.pageSize })
        try queue.close()
        let pages = try FileState(path).bytes.count / size
        for number in 3...pages { try flipByte(of: path, at: (number - 1) * size + 30) }
        #expect(try file.verify(key: Self.key.key).damagedPages == Array(3...pages))
    }

    @Test(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk"), arguments: ["delete", "wal"])
    func fullDiskLeavesOldKeyInForce(mode: String) throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let path = disk.file("test.db")
        let mode = try #require(JournalMode(rawValue: mode))
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (a); PRAGMA wal_autocheckpoint = 20")
            for _ in 0..<160 { try database.executeUpdate("INSERT INTO t VALUES (randomblob(4000))") }
            try database.executeStatements("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        // SQLCipher 3.4.1 and 4.6.1 answer OK here.
        do {
            try queue.rekey(.sample("new"))
            Issue.record("the key was changed on a full disk")
        } catch RekeyError.oldKeyInForce {}
        let count: Int = try queue.inDatabase { database in
            let rows = try database.executeQuery("SELECT count(*) FROM t WHERE length(a) = 4000")
            _ = try rows.next()
            return try rows[0]
        }
        #expect(count == 160)
        try queue.close()
        expect(throws: KeyError.wrongKey) { try DatabaseFile(path: path).verify(key: .sample("new")) }
        #expect(try DatabaseFile(path: path).verify(key: Self.key.key).isSound)
    }

    @Test func nonFilesAreRefused() throws {
        #expect(throws: FileError(.missing, path: path)) { try file.inspect() }
        let inDirectory = DatabaseFile(path: directory.path)
        #expect(throws: FileError(.notAFile, path: directory.path)) { try inDirectory.verify(key: Self.key.key) }
        #expect(directory.names.isEmpty)
    }

    @Test func throwFromProgressEndsVerification() throws {
        struct Stop: Error {}
        _ = try DatabaseQueue(path: path, key: Self.key.key)
        #expect(throws: Stop.self) { try file.verify(key: Self.key.key) { _ in throw Stop() } }
    }
}
