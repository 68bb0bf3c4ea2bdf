import CipherDB
import Foundation
import TestSupport
import Testing

@testable import Rekeying

/// Databases whose b-trees are copied to pages of another size.
@Suite(.atTheEnds) struct TreeRewriteTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    /// Tables and indexes with rows of every size, of which some were deleted.
    private static func content(pageSize: Int, autoVacuum: Int, _ random: inout SplitMix) -> String {
        var script = """
            PRAGMA page_size = \(pageSize); PRAGMA auto_vacuum = \(autoVacuum); PRAGMA user_version = 7;
            CREATE TABLE sized (id INTEGER PRIMARY KEY, a TEXT UNIQUE, b); CREATE INDEX sized_b ON sized (b, a DESC);
            CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE TABLE hollow (a UNIQUE);
            CREATE TABLE small (a); CREATE INDEX small_a ON small (a) WHERE a IS NULL; CREATE INDEX small_c ON small (1);
            INSERT INTO small VALUES (NULL), (1), (0), (x''), (''), (9223372036854775807), (-9223372036854775808), (1e300);
            INSERT INTO small (rowid, a) VALUES (-9223372036854775808, 'first'), (9223372036854775807, 'last');
            """
        for number in 0..<Int.random(in: 1...40, using: &random) {
            let text = String(repeating: "x", count: number * 9)
            script += "CREATE TABLE t\(number) (a, b, c CHECK (c IS NOT '\(text)'));"
        }
        for _ in 0..<3 {
            let (count, size) = (Int.random(in: 1...700, using: &random), Int.random(in: 0...3000, using: &random))
            script += """
                INSERT OR REPLACE INTO sized (a, b)
                WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < \(count))
                SELECT hex(randomblob(8)), zeroblob(n * \(size) / \(count)) FROM n;
                INSERT OR IGNORE INTO keyed SELECT a || substr(hex(b), 1, length(b) % 900), length(b) FROM sized;
                DELETE FROM sized WHERE id % 5 = 1;
                """
        }
        return script + "INSERT INTO sized (b) VALUES (zeroblob(\(Int.random(in: 100_000...900_000, using: &random))));"
    }

    private func answer(_ database: Database) throws -> [String] {
        var lines: [String] = try database.integrityCheck()
        for query in [
            "SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_master ORDER BY rowid",
            "SELECT id || ' ' || coalesce(a, '') || ' ' || length(b) FROM sized", "SELECT k || v FROM keyed",
            "SELECT a FROM sized ORDER BY b, a DESC", "SELECT rowid || ' ' || quote(a) FROM small",
            "PRAGMA auto_vacuum", "PRAGMA user_version", "SELECT count(*) FROM sized WHERE hex(b) GLOB '*[^0]*'",
        ] { lines += try database.fetchAll(String?.self, SQL(unsafe: query)).map { $0 ?? "NULL" } }
        return lines
    }

    /// The content under a key, before and after it was written to.
    private func answers(_ key: DatabaseKey) throws -> [String] {
        let queue = try DatabaseQueue(path: path, key: key, configuration: Configuration { $0.format = .any })
        defer { try? queue.close() }
        return try queue.inDatabase { database in
            let first = try answer(database)
            try database.executeStatements(
                """
                BEGIN; DELETE FROM sized WHERE id % 2 = 0; INSERT INTO keyed SELECT k || k, v FROM keyed; DROP TABLE t0;
                PRAGMA incremental_vacuum;
                """
            )
            #expect(try database.executeQuery("PRAGMA integrity_check").fetchAll(String.self) == ["ok"])
            try database.executeStatements("ROLLBACK")
            return first
        }
    }

    @Test(arguments: [0, 1, 2], [UInt64](1...4)) func everyEntryComesAlong(autoVacuum: Int, seed: UInt64) throws {
        var random = SplitMix(seed << 8 | UInt64(autoVacuum))
        let sizes = [512, 1024, 4096, 65536]
        let database = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try database.open()
        let size = sizes.randomElement(using: &random) ?? 512
        try database.executeStatements(SQL(unsafe: Self.content(pageSize: size, autoVacuum: autoVacuum, &random)))
        let before = try answer(database)
        database.close()
        let (key, file) = (try DatabaseKey.sample("secret"), DatabaseFile(path: path))
        try file.encrypt(with: key)
        #expect(try answers(key) == before)
        for size in sizes.dropFirst().shuffled(using: &random) {
            var change = FormatChange()
            change.pageSize = size
            do {
                try file.migrate(key: key, changing: change)
            } catch RekeyError.notNeeded {
                continue
            }
            #expect(try answers(key) == before, "pages of \(size) bytes")
        }
    }

    @Test func fileThatAnotherEncryptedIsNotCalledDamaged() throws {
        let database = Database(path: path)
        try database.open(key: .sample("secret"))
        try database.executeStatements("CREATE TABLE t (a)")
        database.close()
        // As where it was plaintext when its header was looked at.
        #expect { try DatabaseFile(path: path).lockAtRest(nil).release() } throws: {
            ($0 as? DatabaseError)?.code == .busy
        }
    }

    /// As a bug of another program leaves the schema.
    @Test func pageOfTwoTreesIsNotCopiedTwice() throws {
        let key = try DatabaseKey.sample("secret")
        let database = Database(path: path, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        try database.open(key: key)
        try database.executeStatements(
            """
            CREATE TABLE a (x); INSERT INTO a VALUES (1); CREATE TABLE b (x); PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'a') WHERE name = 'b';
            """
        )
        database.close()
        let before = try FileState(path)
        var change = FormatChange()
        change.pageSize = 8192
        #expect(throws: (any Error).self) { try DatabaseFile(path: path).migrate(key: key, changing: change) }
        #expect(try FileState(path) == before && directory.names == ["test.db"])
    }

    /// So many roots that a pointer map stands between the old ones, and none between the new.
    @Test(arguments: [1, 2]) func rootsOnBothSidesOfPointerMapComeAlong(autoVacuum: Int) throws {
        let database = Database(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try database.open()
        let tables = (1...150).map { "CREATE TABLE t\($0) (a); INSERT INTO t\($0) VALUES (\($0));" }.joined()
        try database.executeStatements(
            SQL(unsafe: "PRAGMA page_size = 512; PRAGMA auto_vacuum = \(autoVacuum); BEGIN; \(tables) COMMIT")
        )
        database.close()
        let key = try DatabaseKey.sample("secret")
        try DatabaseFile(path: path).encrypt(with: key)
        let queue = try DatabaseQueue(path: path, key: key)
        defer { try? queue.close() }
        try queue.inDatabase { database in
            let check: SQL = "PRAGMA integrity_check"
            #expect(try database.executeQuery(check).fetchAll(String.self) == ["ok"])
            try database.executeStatements("CREATE TABLE last (a); INSERT INTO last VALUES (1); DROP TABLE t1")
            #expect(try database.executeQuery(check).fetchAll(String.self) == ["ok"])
            #expect(try database.int(forQuery: "SELECT a FROM t150") == 150)
        }
    }
}
