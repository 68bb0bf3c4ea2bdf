import CipherDB
import CipherSystem
import Foundation
import TestSupport
import Testing

/// What a thief finds in the files that a database makes.
@Suite struct PlaintextTests {
    let directory: TemporaryDirectory
    let path: String
    static let markers = ["plaintextmarker", "CREATE TABLE", "people_name", "SQLite format 3", "secretnote"]

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    private func findings() throws -> [String] {
        var found: [String] = []
        for name in directory.names {
            let bytes = try FileState(directory.file(name)).bytes
            for marker in Self.markers where bytes.range(of: Data(marker.utf8)) != nil {
                found.append("\(marker) in \(name)")
            }
        }
        return found
    }

    private func use(_ mode: JournalMode) throws {
        let configuration = Configuration {
            $0.journalMode = mode
            // So small that pages are written to the file, and their old images to the journal, before the commit.
            $0.pageCacheSize = 16 << 10
        }
        let queue = try DatabaseQueue(path: path, key: .sample("secret"), configuration: configuration)
        try queue.inTransaction { try $0.executeStatements(SampleFile.content) }
        var names: Set<String> = []
        try queue.inTransaction { database in
            try database.executeUpdate("UPDATE people SET name = name || 'secretnote', note = randomblob(200)")
            let rows = try database.executeQuery("SELECT name FROM people ORDER BY note, name")
            while try rows.next() {}
            names = Set(directory.names)
            #expect(try findings() == [])
        }
        #expect(names.count > 1, "there was a journal or a log to look into: \(names)")
        #expect(try findings() == [])
        try queue.rekey(.sample("new"))
        #expect(try findings() == [])
        try queue.close()
        #expect(try findings() == [])
    }

    @Test(arguments: [JournalMode.delete, .truncate, .persist, .wal])
    func noFileHoldsPlaintext(mode: JournalMode) throws {
        try use(mode)
    }

    @Test func plaintextSearchFindsPlaintext() throws {
        // Or the search above would prove nothing.
        let plain = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plain.inDatabase { try $0.executeStatements(SampleFile.content) }
        #expect(try findings().count >= 4)
    }

    /// The contents of files that SQLite has open for what does not fit into its cache, also for other tests: they have no name in a directory
    /// any more.
    private static func spilled() -> [Data] {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return open.compactMap { descriptor in
            let link = "/proc/self/fd/\(descriptor)"
            let name = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            return name?.contains("/etilqs_") == true ? FileManager.default.contents(atPath: link) : nil
        }
    }

    private func spillFiles() throws -> [Data] {
        Self.spilled().filter { $0.range(of: Data("spillmarker".utf8)) != nil }
    }

    /// The spill files after a sort, and after a temporary table, of 8 MB each with a cache of 256 KB.
    private func spillFiles(of database: Database) throws -> [[Data]] {
        let numbers: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
        let sorted = try database.executeQuery(
            numbers + "SELECT hex(randomblob(200)) || 'spillmarker' AS b FROM n ORDER BY b"
        )
        #expect(try sorted.next())
        let ofSort = try spillFiles()
        sorted.close()
        try database.executeUpdate(
            "CREATE TEMP TABLE t AS " + numbers + "SELECT hex(randomblob(200)) || 'spillmarker' FROM n"
        )
        return try [ofSort, spillFiles()]
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "this system has no /proc"))
    func sortsAndTemporaryTablesStayInMemory() throws {
        var configuration = Configuration { $0.pageCacheSize = 256 << 10 }
        let database = Database(path: path, configuration: configuration)
        try database.open(key: .sample("secret"))
        #expect(try spillFiles(of: database) == [[], []])
        database.close()
        // What is asked to spill does, or this would prove nothing.
        configuration.unsafeAllowsAllSQL = true
        let spilling = Database(path: path, configuration: configuration)
        try spilling.open(key: .sample("secret"))
        try spilling.executeUpdate("PRAGMA temp_store = FILE")
        #expect(try !spillFiles(of: spilling).contains([]))
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/fd"), "this system has no /proc"))
    func vacuumSpillsCiphertextOnly() throws {
        let queue = try DatabaseQueue(
            path: path,
            key: .sample("secret"),
            configuration: Configuration { $0.pageCacheSize = 256 << 10 }
        )
        try queue.inDatabase { database in
            try database.executeStatements(
                """
                CREATE TABLE vacuummarker (id INTEGER PRIMARY KEY, a TEXT CHECK (length(a) > 1), b TEXT);
                CREATE INDEX by_b ON vacuummarker (b, a DESC) WHERE id > 10;
                CREATE TABLE named (k TEXT PRIMARY KEY, a) WITHOUT ROWID;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO vacuummarker SELECT i, 'vacuummarker' || i, hex(randomblob(200)) || 'vacuummarker' FROM n;
                INSERT INTO named SELECT b, a FROM vacuummarker;
                DELETE FROM vacuummarker WHERE id % 3 = 0;
                """
            )
        }
        let found = Lock<(largest: Int, hasMarker: Bool)>((0, false))
        let isDone = Lock(false)
        let watch = Thread {
            while !isDone.withLock({ $0 }) {
                for bytes in Self.spilled() {
                    let hasMarker = bytes.range(of: Data("vacuummarker".utf8)) != nil
                    found.withLock { $0 = (max($0.largest, bytes.count), $0.hasMarker || hasMarker) }
                }
            }
        }
        watch.start()
        // Until the watch has seen one that is most of the database.
        for _ in 0..<50 where found.withLock({ $0.largest }) < 5 << 20 { try queue.vacuum() }
        isDone.withLock { $0 = true }
        #expect(found.withLock { $0.largest >= 5 << 20 && !$0.hasMarker })
        // Temporary files of sorts are not encrypted: they are in memory again.
        #expect(try queue.inDatabase { try $0.int(forQuery: "PRAGMA temp_store") } == 2)
        try queue.close()
    }

    @Test(arguments: Engine.current.formats.filter { $0.pageAuthentication != nil }, CipherFormat.pageSizes.dropFirst())
    func vacuumKeepsRows(format: CipherFormat, pageSize: Int) throws {
        let format = try CipherFormat(format) { $0.pageSize = pageSize }
        let queue = try DatabaseQueue(
            path: path,
            key: .sample("secret"),
            configuration: Configuration { $0.format = format }
        )
        try queue.inDatabase { database in
            // With a small cache, the engine writes pages of the copy to its file and reads them back.
            try database.executeStatements(
                """
                PRAGMA cache_size = 10; CREATE TABLE t (id INTEGER PRIMARY KEY, a BLOB);
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
                INSERT INTO t SELECT i, randomblob(500) FROM n;
                """
            )
            let content: SQL = "SELECT group_concat(id || hex(a)) FROM (SELECT id, a FROM t ORDER BY id)"
            let before = try database.string(forQuery: content)
            try database.vacuum()
            #expect(try database.string(forQuery: content) == before && database.integrityCheck().isEmpty)
        }
        try queue.close()
    }

    @Test func vacuumKeepsTemporaryTables() throws {
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE t (a); CREATE TEMP TABLE u (a); INSERT INTO u VALUES (7)")
            try database.vacuum()
            #expect(try database.int(forQuery: "SELECT a FROM u") == 7)
        }
        try queue.close()
    }

    @Test func keylessFileNeedsAllowsPlaintext() throws {
        expect(throws: KeyError.keyMissing) { _ = try DatabaseQueue(path: path) }
        let database = Database(path: path)
        try database.open()
        expect(throws: KeyError.keyMissing) { try database.executeStatements("CREATE TABLE t (a)") }
        expect(throws: KeyError.keyMissing) { try database.executeUpdate("PRAGMA user_version = 1") }
        expect(throws: KeyError.keyMissing) { try database.beginTransaction() }
        database.close()
        #expect(directory.names.isEmpty)
    }

    @Test func emptyKeyNeverMakesFile() throws {
        #expect(throws: MalformedKey.self) { _ = try DatabaseQueue(path: path, key: .passphrase("")) }
        let database = Database(path: path)
        try database.open()
        #expect(throws: MalformedKey.self) { try database.setKey("") }
        expect(throws: KeyError.keyMissing) { try database.executeStatements("CREATE TABLE t (a)") }
        database.close()
        #expect(directory.names.isEmpty)
    }
}
