import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// Files go both ways between this library and the stock shells, whatever engine this library runs on.
@Suite(.slow, .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct InteroperabilityTests {
    struct Pairing: Sendable, CustomTestStringConvertible {
        let shell: StockShell
        let format: CipherFormat
        let key: SampleKey
        var testDescription: String { "\(shell), format \(format.version), \(key)" }

        /// Every format that both the shell and this engine have, with every kind of key; by default the other passphrases than
        /// the first are divided, and formats that are not a shell's own have a passphrase and a raw key only.
        static let all: [Pairing] = {
            var all: [Pairing] = []
            for shell in StockShell.all {
                for format in Engine.current.formats where format.version <= shell.format {
                    let isOwn = format == Engine.current.formats.first && format.version == shell.format
                    let keys = Extent.isComplete ? SampleKey.all : isOwn ? SampleKey.some : SampleKey.few
                    for key in keys { all.append(Pairing(shell: shell, format: format, key: key)) }
                }
            }
            return all
        }()
    }

    /// Where it does not matter which: one without a derivation.
    private static let key = SampleKey.named("secret")
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func configuration(_ format: CipherFormat, _ mode: JournalMode? = nil) -> Configuration {
        Configuration {
            $0.format = format
            $0.journalMode = mode
        }
    }

    @Test(arguments: Pairing.all)
    func fileOpensInShell(pairing: Pairing) throws {
        if pairing.format.pageAuthentication == nil, !pairing.key.key.isPassphrase {
            // No later opening could prove the key.
            _ = #expect(throws: UnusableCipherFormat.rawKeyWithoutAuthentication) {
                try DatabaseQueue(path: path, key: pairing.key.key, configuration: configuration(pairing.format))
            }
            return #expect(directory.names.isEmpty)
        }
        let queue = try DatabaseQueue(path: path, key: pairing.key.key, configuration: configuration(pairing.format))
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        let rows = try pairing.shell.run(
            path,
            key: pairing.key.pragma,
            settings: pairing.shell.settings(forFormat: pairing.format.version),
            SampleFile.query + "PRAGMA integrity_check;"
        )
        #expect(rows == [SampleFile.answer, "ok"])
    }

    @Test(arguments: Pairing.all)
    func shellFileOpens(pairing: Pairing) throws {
        try SampleFile.make(at: path, by: pairing.shell, key: pairing.key, format: pairing.format.version)
        let queue = try DatabaseQueue(path: path, key: pairing.key.key, configuration: configuration(pairing.format))
        let answer: String = try queue.inDatabase { try $0.first(SampleFile.question) }
        #expect(answer == SampleFile.answer)
        try queue.inDatabase { try $0.executeUpdate("INSERT INTO people (name) VALUES (?)", "added here") }
        try queue.close()
        let rows = try pairing.shell.run(
            path,
            key: pairing.key.pragma,
            settings: pairing.shell.settings(forFormat: pairing.format.version),
            "SELECT name FROM people WHERE id = 601;"
        )
        #expect(rows == ["added here"])
    }

    @Test(
        .enabled(if: Engine.current.has(.cipherCompatibility), "SQLCipher 3 has no format 4"),
        arguments: SampleKey.some
    )
    func format4FileOpensInPython(key: SampleKey) throws {
        let queue = try DatabaseQueue(path: path, key: key.key)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        #expect(try StockShell.runPython(path, key: key.pragma, SampleFile.query) == [SampleFile.answer])
        // And what Python writes is read here.
        let made = directory.file("python.db")
        _ = try Program.run(
            StockShell.python,
            [
                "-c",
                """
                import sys, sqlcipher3
                connection = sqlcipher3.connect(sys.argv[1])
                connection.execute("PRAGMA " + sys.argv[2])
                connection.executescript(sys.argv[3])
                connection.commit()
                """, made, key.pragma, SampleFile.script,
            ]
        )
        let reader = try DatabaseQueue(path: made, key: key.key)
        let answer: String = try reader.inDatabase { try $0.first(SampleFile.question) }
        #expect(answer == SampleFile.answer)
    }

    @Test(arguments: StockShell.all)
    func anyPageSizeOpensWithoutBeingNamed(shell: StockShell) throws {
        guard let format = Engine.current.formats.first(where: { $0.version == shell.format }) else {
            // This engine cannot open the format of the other; that it says so is tested with the key errors.
            return
        }
        for size in [1024, 2048, 8192, 65536] {
            let path = directory.file("\(size).db")
            try SampleFile.make(at: path, by: shell, key: Self.key, pageSize: size)
            let queue = try DatabaseQueue(path: path, key: Self.key.key, configuration: configuration(format))
            let found: (String, Int?) = try queue.inDatabase {
                (try $0.first(SampleFile.question), $0.cipherFormat?.pageSize)
            }
            #expect(found == (SampleFile.answer, size))
        }
    }

    @Test(arguments: StockShell.all.filter { $0.format == Engine.current.formats.first?.version })
    func rekeyInWALByShellIsFollowed(shell: StockShell) throws {
        let (new, newest) = (SampleKey.named("new"), SampleKey.named("newest"))
        // The file's own page 1 is still under the old key, and authentic: only the test SELECT tells.
        let original = directory.file("original.db")
        try SampleFile.make(
            at: original,
            by: shell,
            key: Self.key,
            format: shell.format,
            before: "PRAGMA journal_mode = WAL;"
        )
        try shell.run(
            original,
            key: Self.key.pragma,
            "PRAGMA wal_autocheckpoint = 0; PRAGMA re\(new.pragma);\n"
                + ".shell cp '\(original)' '\(path)'\n.shell cp '\(original)-wal' '\(path)-wal'\n"
        )
        let before = [try FileState(path), try FileState(path + "-wal")]
        expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: Self.key.key) }
        // SQLite 3.15 moves the log into the file when it closes; nothing is lost, and the new key opens it.
        if Engine.current.has(.cipherIntegrityCheck) {
            #expect([try FileState(path), try FileState(path + "-wal")] == before)
        }
        try FileManager.default.removeItem(atPath: path)
        try? FileManager.default.removeItem(atPath: path + "-wal")
        try shell.run(
            original,
            key: new.pragma,
            "PRAGMA wal_autocheckpoint = 0; PRAGMA re\(newest.pragma);\n"
                + ".shell cp '\(original)' '\(path)'\n.shell cp '\(original)-wal' '\(path)-wal'\n"
        )
        let queue = try DatabaseQueue(path: path, key: newest.key)
        let answer: String = try queue.inDatabase { try $0.first(SampleFile.question) }
        #expect(answer == SampleFile.answer)
    }

    @Test(arguments: StockShell.all.filter { $0.format == Engine.current.formats.first?.version })
    func openingConnectionDropsNoLockOfAnother(shell: StockShell) throws {
        // POSIX locks are the process's: closing any descriptor of the file would drop those of the first connection.
        let key = Self.key
        let configuration = Configuration { $0.busyTimeout = .milliseconds(20) }
        let queue = try DatabaseQueue(path: path, key: key.key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
        try queue.inTransaction(.immediate) { database in
            try database.executeUpdate("INSERT INTO t VALUES (1)")
            let write = "INSERT INTO t VALUES (2);"
            #expect(throws: StockShell.Failure.self) { try shell.run(path, key: key.pragma, write) }
            try Database(path: path, configuration: configuration).open(key: key.key)
            expect(throws: KeyError.wrongKey) {
                try Database(path: path, configuration: configuration).open(key: .sample("wrong"))
            }
            #expect(throws: StockShell.Failure.self, "the lock is still there") {
                try shell.run(path, key: key.pragma, write)
            }
        }
        try shell.run(path, key: key.pragma, "INSERT INTO t VALUES (2);")
        let count: Int = try queue.inDatabase { try $0.first("SELECT count(*) FROM t") }
        #expect(count == 2)
    }

    @Test func textKeysMatchShell() throws {
        let database = Database(path: path)
        try database.open()
        try database.setKey("x'\(String(repeating: "0A", count: 32))'")
        try database.executeStatements("CREATE TABLE t (a)")
        database.close()
        let again = Database(path: path)
        try again.open(key: .raw(hex: String(repeating: "0a", count: 32)))
        try again.executeStatements("SELECT a FROM t")
    }

    @Test func dataKeysArePassphrases() throws {
        let bytes = Data((0..<32).map { UInt8($0) })
        let database = Database(path: path)
        try database.open()
        try database.setKeyWithData(bytes)
        try database.executeStatements("CREATE TABLE t (a)")
        database.close()
        let again = Database(path: path)
        expect(throws: KeyError.wrongKey) { try again.open(key: .raw(SecretBytes(copying: Array(bytes)))) }
        try again.open(key: .passphrase(SecretBytes(copying: Array(bytes))))
    }
}

extension Database {
    /// The first column of the first row.
    func first<Value: ColumnDecodable>(_ sql: SQL, _ values: (any ColumnEncodable)?...) throws -> Value {
        let rows = try executeQuery(sql, values: StatementValues(values))
        defer { rows.close() }
        #expect(try rows.next(), "no row: \(sql.text)")
        return try rows[0]
    }
}
