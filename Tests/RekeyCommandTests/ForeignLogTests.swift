import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// A write-ahead log beside a database that is not its own: SQLite would copy its pages into the file.
@Suite(.atTheEnds) struct ForeignLogTests {
    let directory: TemporaryDirectory
    let path: String
    let database: [UInt8]
    let pageSize: Int

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("a.db")
        let queue = try DatabaseQueue(path: path, key: .sample("k"))
        try queue.inDatabase {
            try $0.executeStatements(
                """
                CREATE TABLE t (a); WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
                INSERT INTO t SELECT hex(randomblob(50)) FROM n
                """
            )
        }
        try queue.close()
        database = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        pageSize = try #require(Engine.current.formats.first).pageSize
        _ = try directory.write(DatabaseKey.sampleBytes("k"), to: "k")
        _ = try directory.write(DatabaseKey.sampleBytes("new"), to: "new")
        _ = try directory.write("the passphrase\n".utf8, to: "p")
    }

    private func rekey(_ arguments: String) throws -> Program.Outcome {
        try Program.rekey(arguments, in: directory, input: "")
    }

    /// Half of that of the file, the same, and twice that.
    static let pageSizes = [1, 2, 4].map { (Engine.current.formats.first?.pageSize ?? 4096) * $0 / 2 }.filter {
        $0 > 512
    }

    /// Puts the log of another database beside the file; of one page of it without page 1.
    private func putForeignLog(withFirstPage: Bool, _ size: Int) throws {
        let other = directory.file("other.db")
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = size }
        let queue = try DatabaseQueue(
            path: other,
            key: .sample("other"),
            configuration: Configuration {
                $0.journalMode = .wal
                $0.format = format
            }
        )
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE u (b); INSERT INTO u VALUES (1)")
            if !withFirstPage {
                try database.checkpoint(.truncate)
                try database.executeStatements("UPDATE u SET b = 2")
            }
        }
        try FileManager.default.copyItem(atPath: other + "-wal", toPath: path + "-wal")
        try queue.close()
    }

    /// A log of one frame, whose checksums need no key.
    private func putLog(page: Int, count: Int) throws {
        var log = [0x377f_0682, 3_007_000, pageSize, 0, 1, 2].flatMap(bigEndian)
        var sums: (UInt32, UInt32) = (0, 0)
        func add(_ bytes: [UInt8]) {
            for place in stride(from: 0, to: bytes.count, by: 8) {
                let words = [place, place + 4].map { at in
                    bytes[at..<at + 4].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                }
                sums.0 = sums.0 &+ words[0] &+ sums.1
                sums.1 = sums.1 &+ words[1] &+ sums.0
            }
        }
        add(log)
        log += bigEndian(Int(sums.0)) + bigEndian(Int(sums.1))
        let start = bigEndian(page) + bigEndian(count)
        let image = Array(database[(page - 1) * pageSize..<page * pageSize])
        add(start)
        add(image)
        log += start + [1, 2].flatMap(bigEndian) + bigEndian(Int(sums.0)) + bigEndian(Int(sums.1)) + image
        _ = try directory.write(log, to: "a.db-wal")
    }

    private func bigEndian(_ number: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) } }

    private var isUnchanged: Bool {
        get throws {
            try Data(contentsOf: URL(fileURLWithPath: path)) == Data(database)
                && FileManager.default.fileExists(atPath: path + "-wal")
        }
    }

    @Test(arguments: [true, false], pageSizes) func commandsLeaveFileAsItWas(withFirstPage: Bool, size: Int) throws {
        try putForeignLog(withFirstPage: withFirstPage, size)
        let commands = [
            "change a.db --new-key-file new", "change a.db --in-place --new-key-file new",
            "change a.db --dry-run --new-key-file new", "migrate a.db --page-size 8192",
            "decrypt a.db --yes-write-plaintext", "keyring init a.db --new-passphrase-file p", "verify a.db",
            "inspect a.db", "status a.db", "copy a.db b.db", "backup a.db backups", "verify a.db --pages-only",
        ]
        for command in commands {
            let done = try rekey("\(command) --key-file k")
            #expect(done.status == 65 && (done.output + done.errors).contains("-wal"), "\(command): \(done.errors)")
            #expect(try isUnchanged, "\(command)")
        }
    }

    @Test(arguments: [true, false], pageSizes) func recoveryReadsFileWithoutIt(withFirstPage: Bool, size: Int) throws {
        try putForeignLog(withFirstPage: withFirstPage, size)
        let saved = try rekey("recover a.db b.db --key-file k")
        #expect(saved.output.contains("table t: 300 rows"), "\(saved.output)\(saved.errors)")
        #expect(try isUnchanged)
    }

    @Test(arguments: [true, false], pageSizes) func openingRefusesIt(withFirstPage: Bool, size: Int) throws {
        try putForeignLog(withFirstPage: withFirstPage, size)
        expect(throws: KeyError.journalUnderOtherKey) { _ = try DatabaseQueue(path: path, key: .sample("k")) }
        expect(throws: KeyError.journalUnderOtherKey) { _ = try DatabasePool(path: path, key: .sample("k")) }
        expect(throws: KeyError.journalUnderOtherKey) {
            let database = Database(path: path)
            try database.open()
            defer { database.close() }
            try database.setKey(.sample("k"))
        }
        #expect(try isUnchanged)
        try FileManager.default.removeItem(atPath: path + "-wal")
        let queue = try DatabaseQueue(path: path, key: .sample("k"))
        #expect(try queue.inDatabase { try $0.int(forQuery: "SELECT count(*) FROM t") } == 300)
    }

    /// One that somebody made of the file's own pages, to make it shorter.
    @Test func otherSizeIsRefused() throws {
        try putLog(page: 1, count: 1)
        for command in [
            "change a.db --new-key-file new", "migrate a.db --page-size 8192", "verify a.db", "copy a.db b.db",
        ] {
            let done = try rekey("\(command) --key-file k")
            #expect(done.status == 65, "\(command): \(done.output)\(done.errors)")
            #expect(try isUnchanged, "\(command)")
        }
        try putLog(page: 1, count: database.count / pageSize)
        let done = try rekey("verify a.db --key-file k")
        #expect(done.status == 0, "\(done.output)\(done.errors)")
    }
}
