import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Encrypting, decrypting and migrating: everything that a database holds comes along.
@Suite(
    .slow,
    .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
    .atTheEnds
)
struct MigrateTests {
    let directory: TemporaryDirectory
    let path: String
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let key = SampleKey.named("secret")
    static let other = SampleKey.named("other")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private static var own: Int { Engine.current.formats.first?.version ?? 0 }

    /// What a copy by rows could lose.
    private static let rich =
        """
        CREATE TABLE plain (a, b); INSERT INTO plain VALUES (1, 'x'), (2.0, x'00ff'), (NULL, ''), ('9', zeroblob(3));
        DELETE FROM plain WHERE rowid IN (1, 3); INSERT INTO plain (rowid, a) VALUES (1000000000000, 'far');
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, t TEXT UNIQUE, n INTEGER CHECK (n > 0) DEFAULT 5);
        INSERT INTO counted (t) VALUES ('one'), ('two'), ('three'); DELETE FROM counted WHERE id = 3;
        PRAGMA ignore_check_constraints = ON; INSERT INTO counted (t, n) VALUES ('bad', -1);
        CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO keyed VALUES ('b', 1), ('a', 2);
        CREATE TABLE hidden (rowid TEXT, _rowid_ TEXT); INSERT INTO hidden (oid, rowid) VALUES (77, 'shown');
        CREATE TABLE child (p REFERENCES counted (id)); INSERT INTO child VALUES (99);
        CREATE TABLE "odd ""na""me" ("a b" INTEGER); INSERT INTO "odd ""na""me" VALUES (1);
        CREATE INDEX by_a ON plain (a DESC, b) WHERE a IS NOT NULL; CREATE UNIQUE INDEX by_n ON counted (n + id);
        CREATE VIEW seen AS SELECT a FROM plain;
        CREATE TRIGGER told AFTER INSERT ON child BEGIN INSERT INTO plain VALUES ('trigger', NEW.p); END;
        CREATE VIRTUAL TABLE words USING fts4 (text); INSERT INTO words (docid, text) VALUES (5, 'hello plaintextmarker');
        ANALYZE; PRAGMA user_version = 123; PRAGMA application_id = 456;
        """

    private static let questions =
        """
        SELECT type, name, tbl_name, replace(sql, char(10), ' ') FROM sqlite_master ORDER BY type, name;
        SELECT rowid, quote(a), quote(b) FROM plain; SELECT rowid, id, t, n FROM counted; SELECT * FROM keyed;
        SELECT oid, rowid FROM hidden; SELECT * FROM child; SELECT * FROM "odd ""na""me"; SELECT name, seq FROM sqlite_sequence;
        SELECT * FROM seen; SELECT docid, text FROM words WHERE words MATCH 'hello'; SELECT * FROM sqlite_stat1 ORDER BY 1, 2;
        PRAGMA user_version; PRAGMA application_id; PRAGMA auto_vacuum; PRAGMA encoding; PRAGMA journal_mode;
        INSERT INTO counted (t) VALUES ('next'); SELECT max(id) FROM counted; DELETE FROM counted WHERE t = 'next';
        INSERT INTO child VALUES (7); SELECT count(*) FROM plain WHERE a = 'trigger';
        """

    /// The row against its constraint is there on purpose.
    private static let soundness = "PRAGMA ignore_check_constraints = ON; PRAGMA integrity_check;"

    /// What engines have since SQLite 3.31 and 3.37.
    private static let newer = """
        CREATE TABLE made (a, b AS (a + 1) STORED, c AS (a * 2)); INSERT INTO made (rowid, a) VALUES (9, 5);
        CREATE TABLE strictly (n INT, t TEXT) STRICT; INSERT INTO strictly VALUES (1, 'x');
        CREATE VIRTUAL TABLE notes USING fts5 (body); INSERT INTO notes (rowid, body) VALUES (8, 'fifth of its kind');
        """
    private static let newerQuestions =
        "SELECT rowid, a, b, c FROM made; SELECT * FROM strictly; SELECT rowid, body FROM notes WHERE notes MATCH 'kind';"

    private static var content: String { Engine.current.has(.generatedColumns) ? rich + newer : rich }
    private static var answers: String {
        Engine.current.has(.generatedColumns) ? questions + newerQuestions : questions
    }

    @Test(arguments: [("delete", 0, "UTF-8"), ("wal", 1, "UTF-16le"), ("delete", 2, "UTF-16be")], [512, 4096])
    func everythingComesAlong(kind: (mode: String, autoVacuum: Int, encoding: String), pageSize: Int) throws {
        let shell = try #require(StockShell.ofThisFormat)
        try shell.run(
            path,
            key: nil,
            """
            PRAGMA page_size = \(pageSize); PRAGMA encoding = '\(kind.encoding)'; PRAGMA auto_vacuum = \(kind.autoVacuum);
            PRAGMA journal_mode = \(kind.mode);
            """ + Self.content
        )
        let copy = directory.file("copy.db")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let before = try shell.run(copy, key: nil, Self.answers)
        #expect(before.contains("123") && before.contains("5|hello plaintextmarker"))

        try FileManager.default.removeItem(atPath: copy)
        let encrypted = try file.encrypt(with: Self.key.key)
        #expect(encrypted.format?.version == Self.own && encrypted.pageSize == encrypted.format?.pageSize)
        let state = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(state.range(of: Data("plaintextmarker".utf8)) == nil)
        #expect(try shell.run(path, key: Self.key.pragma, Self.answers) == before)
        #expect(
            try shell.run(path, key: Self.key.pragma, Self.soundness) == ["ok"]
        )

        // By pages, whose reserve stays.
        try file.decryptToPlaintext(key: Self.key.key)
        #expect(try shell.run(path, key: nil, Self.soundness) == ["ok"])
        try file.encrypt(with: Self.other.key)
        #expect(try shell.run(path, key: Self.other.pragma, Self.soundness) == ["ok"])
        #expect(directory.names == ["test.db"])
    }

    @Test(arguments: Extent.share(Extent.pairs(StockShell.all, ["delete", "wal"])))
    func everyFormatMigratesToEveryOther(shell: StockShell, mode: String) throws {
        for old in 1...shell.format where old <= Self.own {
            // Under a raw key format 1 is not looked for, and formats 2 and 3 are the same.
            let key = old <= 2 ? SampleKey.all[0] : Self.key
            for new in 2...Self.own {
                guard Extent.isComplete || ([old, new].contains(Self.own) && (old > 2 || mode == "delete")) else {
                    continue
                }
                try? FileManager.default.removeItem(atPath: path)
                try SampleFile.make(
                    at: path,
                    by: shell,
                    key: key,
                    format: old,
                    before: "PRAGMA journal_mode = \(mode); PRAGMA user_version = 9;"
                )
                let format = try #require(CipherFormat.standard.first { $0.version == new })
                guard old != new else {
                    #expect { try file.migrate(key: key.key, format: format) } throws: {
                        "\($0)".contains("already")
                    }
                    continue
                }
                let done = try file.migrate(key: key.key, format: format)
                let isSameAsThird = new == 2 && !key.key.isPassphrase
                #expect(done.format == (isSameAsThird ? .v3 : format))
                let own = try #require(StockShell.ofThisFormat)
                let rows = try own.run(
                    path,
                    key: key.pragma,
                    settings: own.settings(forFormat: new),
                    SampleFile.query + "PRAGMA integrity_check; PRAGMA user_version; PRAGMA journal_mode;"
                )
                #expect(rows == [SampleFile.answer, "ok", "9", mode], "from \(old) to \(new)")
                #expect(directory.names == ["test.db"])
            }
        }
    }

    @Test func otherParametersAndAnotherKeyAreTakenOn() throws {
        let shell = try #require(StockShell.ofThisFormat)
        // Iterations are those of a passphrase.
        let (key, other) = (SampleKey.all[0], SampleKey.all[1])
        try SampleFile.make(at: path, by: shell, key: key)
        let own = try #require(Engine.current.formats.first)
        let larger = try CipherFormat(own) { $0.pageSize = 16384 }
        try file.migrate(key: key.key, to: other.key, format: larger)
        let settings = ["cipher_page_size = 16384"]
        #expect(
            try shell.run(path, key: other.pragma, settings: settings, SampleFile.query) == [SampleFile.answer]
        )
        let slower = try CipherFormat(larger) { $0.iterations = own.iterations + 1 }
        // By pages: the layout is the same.
        try file.migrate(key: other.key, format: slower)
        #expect(
            try shell.run(
                path,
                key: other.pragma,
                settings: settings + ["kdf_iter = \(own.iterations + 1)"],
                SampleFile.query
            ) == [SampleFile.answer]
        )
    }

    @Test func unsupportedFormatIsReportedBeforeWriting() throws {
        let shell = try #require(StockShell.all.last)
        try shell.run(path, key: nil, SampleFile.script)
        let before = try FileState(path)
        guard Self.own < 4 else {
            return try #expect(file.encrypt(with: Self.key.key, format: .v4).format == .v4)
        }
        #expect { try file.encrypt(with: Self.key.key, format: .v4) } throws: {
            "\($0)".contains("SQLCipher 4 or later")
        }
        #expect(try FileState(path) == before)
    }

    @Test func encryptNeedsPlaintextDecryptNeedsEncrypted() throws {
        let queue = try DatabaseQueue(path: path, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.close()
        #expect { try file.encrypt(with: Self.other.key) } throws: {
            "\($0)".contains("not a plaintext SQLite database")
        }
        let plain = directory.file("plain.db")
        try #require(StockShell.all.last).run(plain, key: nil, "CREATE TABLE t (a)")
        expect(throws: KeyError.notEncrypted) { try DatabaseFile(path: plain).decryptToPlaintext(key: Self.key.key) }
    }

    @Test func databaseInUseIsNotTouched() throws {
        let shell = try #require(StockShell.all.last)
        try shell.run(path, key: nil, "PRAGMA journal_mode = WAL;" + SampleFile.script)
        let other = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try other.open()
        #expect(try other.string(forQuery: SampleFile.question) == SampleFile.answer)
        var file = file
        file.configuration.busyTimeout = .milliseconds(20)
        #expect { try file.encrypt(with: Self.key.key) } throws: { ($0 as? DatabaseError)?.code.primary == .busy }
        #expect(try other.string(forQuery: SampleFile.question) == SampleFile.answer)
        other.close()
        try file.encrypt(with: Self.key.key)
    }

    @Test(arguments: [true, false])
    func fileIsLockedUntilExchange(byPages: Bool) throws {
        let shell = try #require(StockShell.ofThisFormat)
        // By pages only the iterations can change, which are those of a passphrase.
        let key = byPages ? SampleKey.all[0] : Self.key
        try SampleFile.make(at: path, by: shell, key: key)
        let own = try #require(Engine.current.formats.first)
        let format =
            byPages
            ? try CipherFormat(own) { $0.iterations = own.iterations + 1 }
            : try CipherFormat(own) { $0.pageSize = 8192 }
        var asked: Set<FileProgress.Stage> = []
        try file.migrate(key: key.key, format: format) { progress in
            guard progress.stage != .erasing, asked.insert(progress.stage).inserted else { return }
            // Another process: locks of this one would not be seen by its own connections.
            for sql in ["SELECT count(*) FROM people;", "DELETE FROM people;"] {
                #expect { try shell.run(path, key: key.pragma, sql) } throws: {
                    ($0 as? StockShell.Failure)?.errors.contains("locked") == true
                }
            }
        }
        #expect(asked.isSuperset(of: byPages ? [.writing, .verifying] : [.verifying]))
    }

    @Test func damagedPageIsNotMigratedNorForgotten() throws {
        let queue = try DatabaseQueue(path: path, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        // A page of an index, which copying the rows would not read.
        let kinds = try file.map(key: Self.key.key)
        let leaf = try #require(kinds.firstIndex(of: .indexLeaf))
        let size = try FileState(path).bytes.count / kinds.count
        try flipByte(of: path, at: leaf * size + 99)
        let before = try FileState(path)
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 8192 }
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [leaf + 1] }) {
            try file.migrate(key: Self.key.key, format: format)
        }
        #expect(try FileState(path) == before && directory.names == ["test.db"])
    }

    @Test func damagedFileInThatFormatIsDamaged() throws {
        let queue = try DatabaseQueue(path: path, key: Self.key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        #expect(throws: RekeyError.self) { try file.migrate(key: Self.key.key) }
        try flipByte(of: path, at: 9 * #require(Engine.current.formats.first).pageSize + 40)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [10] }) { try file.migrate(key: Self.key.key) }
    }

    @Test func migrationsContinueAfterConversion() throws {
        let older = try #require(CipherFormat.standard.first { $0.version == Self.own - 1 })
        let steps = (1...3).map { number in
            Migration("step \(number)") { try $0.executeStatements(SQL(unsafe: "CREATE TABLE t\(number) (a)")) }
        }
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.format = older }
        )
        try queue.inDatabase { try $0.migrate(Array(steps.prefix(2))) }
        try queue.close()
        try file.migrate(key: Self.key.key, to: Self.other.key)
        let pool = try DatabasePool(path: path, key: Self.other.key)
        #expect(try pool.inDatabase { $0.cipherFormat?.version } == Self.own)
        #expect(try pool.inDatabase { try $0.migrate(steps) } == ["step 3"])
        #expect(try pool.read { try $0.completedMigrations.map(\.name) } == steps.map(\.name))
        try pool.rekey(Self.key.key)
        #expect(try pool.inDatabase { try $0.migrate(steps) } == [])
        try pool.close()
        #expect(try file.verify(key: Self.key.key).isSound)
    }
}
