import CipherDB
import CipherKeys
import CipherPages
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(.slow, .atTheEnds) struct RecoverTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory
    let path: String
    let saved: String
    let key: DatabaseKey
    var file: DatabaseFile { DatabaseFile(path: path) }

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        saved = directory.file("saved.db")
        key = try DatabaseKey.random()
    }

    /// All that a database can hold, in pages of 1,024 bytes so that trees have several levels.
    static let script: SQL = """
        CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, size REAL, note BLOB);
        CREATE INDEX people_name ON people (name);
        WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1500)
        INSERT INTO people SELECT n, 'Person-' || n, n * 1.0, randomblob(100) FROM n;
        CREATE TABLE plain (a, b);
        INSERT INTO plain (rowid, a, b) SELECT id * 7, name, size FROM people WHERE id <= 500;
        CREATE TABLE words (word TEXT, language TEXT, count INT, PRIMARY KEY (language, word)) WITHOUT ROWID;
        INSERT INTO words SELECT name, 'l' || (id % 7), id FROM people WHERE id <= 900;
        CREATE TABLE large (a INTEGER PRIMARY KEY AUTOINCREMENT, b BLOB);
        INSERT INTO large (b) VALUES (randomblob(20000)), (randomblob(30000)), (randomblob(5)), (zeroblob(70000));
        CREATE VIRTUAL TABLE texts USING fts4 (body);
        INSERT INTO texts SELECT name || ' text' FROM people WHERE id <= 200;
        CREATE TABLE late (a); INSERT INTO late VALUES (1), (2); ALTER TABLE late ADD COLUMN b DEFAULT 'new';
        INSERT INTO late VALUES (3, NULL);
        CREATE VIEW names AS SELECT name FROM people;
        CREATE TABLE log (a); CREATE TRIGGER on_late AFTER INSERT ON late BEGIN INSERT INTO log VALUES (new.a); END;
        CREATE TABLE kept (a UNIQUE, b); INSERT INTO kept SELECT id, name FROM people WHERE id <= 300;
        INSERT INTO kept VALUES (NULL, x''), ('', 1e300), (-1, 9223372036854775807), (x'00ff', -9223372036854775808);
        CREATE TABLE gone (a); INSERT INTO gone SELECT randomblob(300) FROM people LIMIT 200; DROP TABLE gone;
        PRAGMA user_version = 77; PRAGMA application_id = 4711; ANALYZE;
        """

    static let tables = [
        "people", "plain", "words", "large", "texts_content", "late", "log", "kept", "sqlite_sequence",
    ]

    private func make(_ before: SQL = "", _ script: SQL = RecoverTests.script) throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 1024 }
        let configuration = Configuration {
            $0.format = format
            // For schemas that SQL would not make.
            $0.unsafeAllowsAllSQL = true
        }
        let queue = try DatabaseQueue(path: path, key: key, configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(before + script) }
        try queue.close()
    }

    private func damage(_ page: Int) throws {
        try flipByte(of: path, at: (page - 1) * 1024 + 500)
    }

    /// All rows of a table, with their identifiers where it has some, as text that tells the kinds of values apart.
    private func rows(_ table: String, of path: String) throws -> [String] {
        let database = Database(path: path)
        try database.open(key: key)
        let columns = try database.tableSchema(table)
        var names: [String] = []
        while try columns.next() { names.append("quote(\"\(try columns.string(forColumn: "name") ?? "")\")") }
        if !["words"].contains(table) { names.insert("rowid", at: 0) }
        let result = try database.executeQuery(
            SQL(unsafe: "SELECT \(names.joined(separator: " || '|' || ")) FROM \"\(table)\"")
        )
        var rows: [String] = []
        while try result.next() { rows.append(try result.string(forColumnIndex: 0) ?? "") }
        return rows.sorted()
    }

    private func pages(_ kind: PageKind) throws -> [Int] {
        let kinds = try file.map(key: key)
        return kinds.indices.filter { kinds[$0] == kind }.map { $0 + 1 }
    }

    @Test(arguments: [
        "", "PRAGMA auto_vacuum = 1;", "PRAGMA auto_vacuum = 2;", "PRAGMA encoding = 'UTF-16le';",
        "PRAGMA encoding = 'UTF-16be';", "PRAGMA journal_mode = WAL;",
    ])
    func soundFileIsSavedWhole(before: String) throws {
        try make(SQL(unsafe: before))
        let old = try FileState(path)
        let done = try file.recover(key: key, to: saved)
        #expect(done.isComplete && done.damagedPages.isEmpty)
        #expect(try FileState(path) == old && directory.names == ["saved.db", "test.db"])
        #expect(try FileState(saved).bytes.prefix(16) != old.bytes.prefix(16))
        for table in Self.tables { #expect(try rows(table, of: saved) == rows(table, of: path), "\(table)") }
        let (first, second) = (Database(path: path), Database(path: saved))
        try first.open(key: key)
        try second.open(key: key)
        let schema: SQL = "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_master ORDER BY type, name)"
        #expect(try second.string(forQuery: schema) == first.string(forQuery: schema))
        for pragma in ["user_version", "application_id", "auto_vacuum", "encoding", "journal_mode"] {
            #expect(
                try second.string(forQuery: SQL(unsafe: "PRAGMA \(pragma)"))
                    == first.string(forQuery: SQL(unsafe: "PRAGMA \(pragma)")),
                "\(pragma)"
            )
        }
        #expect(try second.int(forQuery: "SELECT count(*) FROM texts WHERE texts MATCH 'text'") == 200)
        #expect(try second.int(forQuery: "SELECT count(*) FROM sqlite_stat1") ?? 0 > 2)
        #expect(try second.string(forQuery: "PRAGMA integrity_check") == "ok")
    }

    @Test(arguments: Extent.share(PageKind.allCases.filter { $0 != .damaged }))
    func rowsOfOtherPagesAreSaved(kind: PageKind) throws {
        try make()
        let whole = try Dictionary(uniqueKeysWithValues: Self.tables.map { ($0, try rows($0, of: path)) })
        var random = SplitMix(11)
        let lost = try pages(kind).filter { $0 > 1 }.shuffled(using: &random).prefix(8)
        var tried = 0
        for page in lost {
            try damage(page)
            let done = try file.recover(key: key, to: saved)
            try damage(page)
            defer { try? FileManager.default.removeItem(atPath: saved) }
            // What a free page holds does not matter, unless it is one that names others.
            #expect(done.damagedPages == [page] || (kind == .free && done.damagedPages.isEmpty), "page \(page)")
            #expect(done.failures.isEmpty)
            // The schema has pages of its own, which another test is about.
            guard done.isSchemaWhole else { continue }
            tried += 1
            var missing = 0
            for table in Self.tables {
                let (before, after) = (try #require(whole[table]), Set(try rows(table, of: saved)))
                #expect(after.isSubset(of: before), "page \(page): \(table)")
                let account = try #require(done.tables.first { $0.name == table })
                #expect(account.rows == after.count)
                missing += before.count - after.count
                guard before.count > after.count, table != "words" else { continue }
                let identifiers = before.filter { !after.contains($0) }.compactMap { Int64($0.prefix { $0 != "|" }) }
                let known = identifiers.filter { id in account.missingRowIDs.contains { $0.contains(id) } }
                #expect(known.count + account.brokenRows == identifiers.count, "page \(page): \(table)")
            }
            switch kind {
            case .tableInterior: #expect(missing == 0 && done.unassignedRows == nil, "page \(page)")
            case .overflow: #expect(missing <= 1 && done.tables.map(\.brokenRows).reduce(0, +) == missing)
            case .free: #expect(missing == 0 && done.isComplete, "page \(page)")
            default: #expect(missing < 200 && (missing == 0 || !done.isComplete), "page \(page)")
            }
        }
        #expect(tried > 0)
    }

    @Test func rowsWithoutSchemaAreKept() throws {
        try make(
            "",
            """
            CREATE TABLE first (a INTEGER PRIMARY KEY, b, c);
            WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
            INSERT INTO first SELECT n, 'Row-' || n, CASE n % 3 WHEN 0 THEN NULL WHEN 1 THEN n / 4.0 ELSE x'0102' END FROM n;
            CREATE TABLE second (a); INSERT INTO second VALUES ('only');
            """
        )
        try damage(1)
        let done = try file.recover(key: key, to: saved)
        #expect(!done.isComplete && !done.isSchemaWhole && done.damagedPages == [1] && done.tables.isEmpty)
        let unassigned = try #require(done.unassignedRows)
        #expect(unassigned.name == "lost_and_found" && unassigned.rows == 301 && unassigned.brokenRows == 0)
        let database = Database(path: saved)
        try database.open(key: key)
        let found = try database.string(
            forQuery: "SELECT c1 || '|' || quote(c2) || '|' || nfield FROM lost_and_found WHERE id = 100 AND nfield = 3"
        )
        #expect(found == "Row-100|25.0|3")
        #expect(try database.int(forQuery: "SELECT count(DISTINCT pgno) FROM lost_and_found") ?? 0 > 5)
        #expect(try database.string(forQuery: "SELECT c0 FROM lost_and_found WHERE nfield = 1") == "only")
    }

    /// The database after `changes`, with page 1 as it was before, as of a backup.
    private func recoverWithOlderPageOne(_ changes: (Database) throws -> Void) throws -> Recovery {
        let first = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(1024)
        let queue = try DatabaseQueue(path: path, key: key)
        try queue.inTransaction { try changes($0) }
        try queue.close()
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.write(contentsOf: first)
        try handle.close()
        return try file.recover(key: key, to: saved)
    }

    @Test func newTableThatOlderPageOneLacksIsKept() throws {
        try make("", "CREATE TABLE t (a); INSERT INTO t VALUES (1);")
        let found = try recoverWithOlderPageOne { database in
            try database.executeStatements("CREATE TABLE new (a)")
            for number in 1...100 { try database.executeUpdate("INSERT INTO new VALUES (?)", "row \(number)") }
        }
        #expect(found.isSchemaWhole && !found.isComplete && found.unassignedRows?.rows == 100)
    }

    @Test(
        arguments: [
            "ALTER TABLE t ADD COLUMN b; UPDATE t SET b = a", "CREATE INDEX new ON t (a)",
            // In a page that was free, as page 1 counts.
            "DROP TABLE other; CREATE INDEX new ON t (a)",
        ] as [SQL]
    )
    func whatOlderPageOneLacksIsNoticed(_ change: SQL) throws {
        try make("", "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE other (a)")
        let found = try recoverWithOlderPageOne { try $0.executeStatements(change) }
        #expect(!found.isSchemaWhole && !found.isComplete)
    }

    @Test func usedPageThatOlderPageOneHasFreeIsKept() throws {
        try make("", "CREATE TABLE t (a); CREATE TABLE other (a); INSERT INTO t VALUES (1); DROP TABLE other")
        let found = try recoverWithOlderPageOne { database in
            try database.executeStatements("CREATE TABLE new (a)")
            for number in 1...100 { try database.executeUpdate("INSERT INTO new VALUES (?)", "row \(number)") }
        }
        #expect(!found.isComplete && found.unassignedRows?.rows == 100)
    }

    @Test func changesOfRowsLeaveOlderPageOneRight() throws {
        try make("", "CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE other (a); CREATE INDEX i ON t (a)")
        let found = try recoverWithOlderPageOne {
            try $0.executeStatements("UPDATE t SET a = 2; INSERT INTO other VALUES (3)")
        }
        #expect(found.isComplete && found.tables.map(\.rows) == [1, 1])
    }

    /// What was deleted, and is free in a list that cannot be read whole, is not taken for rows that were lost.
    @Test func damagedListOfFreePagesBringsNothingBack() throws {
        try make(
            "PRAGMA secure_delete = OFF;",
            """
            CREATE TABLE t (a); INSERT INTO t VALUES (1); CREATE TABLE gone (a, b);
            WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 500)
            INSERT INTO gone SELECT n, 'gone ' || n FROM n;
            DROP TABLE gone;
            """
        )
        let bytes = try Array(FileState(path).bytes)
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 1024 }
        let cipher = try PageCipher(key: key.derive(salt: Array(bytes.prefix(16)), format: format), format: format)
        let first = try cipher.decrypt(bytes[..<1024], number: 1)
        try damage(Int(first[34]) << 8 | Int(first[35]))
        let found = try file.recover(key: key, to: saved)
        #expect(found.tables.map(\.rows) == [1] && found.unassignedRows == nil)
    }

    @Test func withoutRowidRowsAreKept() throws {
        try make(
            "",
            "CREATE TABLE kv (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO kv VALUES ('a', 'first'), ('b', 2)"
        )
        try damage(1)
        let done = try file.recover(key: key, to: saved)
        #expect(done.unassignedRows?.rows == 2)
        let database = Database(path: saved)
        try database.open(key: key)
        #expect(try database.string(forQuery: "SELECT c1 FROM lost_and_found WHERE c0 = 'a' AND id IS NULL") == "first")
    }

    @Test func definitionsAreFoundWithoutPageOne() throws {
        try make()
        let whole = try rows("people", of: path)
        try damage(1)
        let done = try file.recover(key: key, to: saved)
        #expect(!done.isSchemaWhole && !done.isComplete)
        // Larger than a page, the schema has its rows on others; what the header said is lost.
        #expect(try rows("people", of: saved) == whole)
        let database = Database(path: saved)
        try database.open(key: key)
        #expect(try database.userVersion == 0)
        #expect(try database.int(forQuery: "SELECT count(*) FROM people WHERE name = 'Person-77'") == 1)
    }

    @Test func ambiguousRowsAreUnassigned() throws {
        try make(
            "",
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, x NOT NULL); CREATE TABLE b (id INT, x, y);
            WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
            INSERT INTO a SELECT n, hex(randomblob(20)) FROM n;
            INSERT INTO b SELECT id, x, x FROM a;
            """
        )
        let second = try rows("b", of: path)
        let roots = try pages(.tableInterior)
        #expect(roots.count == 2)
        for root in roots { try damage(root) }
        let done = try file.recover(key: key, to: saved)
        // Three fields are more than a has; two may be b's, from before a column was added.
        #expect(done.tables.map(\.rows) == [0, 400] && done.unassignedRows?.rows == 400)
        #expect(done.tables.allSatisfy { $0.lostPages == 1 && $0.missingRowIDs == [Int64.min...Int64.max] })
        #expect(try rows("b", of: saved) == second)
    }

    @Test func unrestorableObjectsAreNamed() throws {
        try make(
            "",
            """
            CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (2), (3); CREATE INDEX twice ON t (a);
            CREATE TABLE other (b); INSERT INTO other VALUES ('kept');
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE UNIQUE INDEX twice ON t (a)' WHERE name = 'twice';
            UPDATE sqlite_master SET sql = sql || '; CREATE TABLE injected (x)' WHERE name = 'other';
            """
        )
        let done = try file.recover(key: key, to: saved)
        #expect(!done.isComplete && done.failures.map(\.name).sorted() == ["other", "twice"] && done.problems.isEmpty)
        #expect(done.unassignedRows?.rows == 1)
        let database = Database(path: saved)
        try database.open(key: key)
        #expect(try database.int(forQuery: "SELECT count(*) FROM t WHERE a = 2") == 2)
        #expect(try database.string(forQuery: "PRAGMA integrity_check") == "ok")
        #expect(try !database.tableExists("injected"))
    }

    @Test(
        .enabled(
            if: Engine.current.sqliteVersion.compare("3.37", options: .numeric) != .orderedAscending,
            "tables are strict from SQLite 3.37 on"
        )
    )
    func refusedRowLosesNoOther() throws {
        try make(
            "",
            """
            CREATE TABLE t (a ANY); INSERT INTO t VALUES (1), ('text'), (3);
            PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE t (a INT) STRICT' WHERE name = 't';
            """
        )
        let done = try file.recover(key: key, to: saved)
        let table = try #require(done.tables.first)
        #expect(table.rows == 2 && table.refusedRows == 1 && !done.isComplete && done.failures.isEmpty)
    }

    @Test func truncatedFileIsSaved() throws {
        try make("", SampleFile.content)
        let whole = Set(try rows("people", of: path))
        let pages = try FileState(path).bytes.count / 1024
        let half = pages / 2 * 1024 + 100
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: UInt64(half))
        try handle.close()
        let done = try file.recover(key: key, to: saved)
        #expect(!done.isComplete && done.damagedPages == Array((half / 1024 + 1)...pages))
        let kept = Set(try rows("people", of: saved))
        #expect(kept.count > 200 && kept.isSubset(of: whole))
    }

    @Test func ofManyLostPagesNothingIsInvented() throws {
        try make()
        let sound = try Data(contentsOf: URL(fileURLWithPath: path))
        let whole = try Dictionary(uniqueKeysWithValues: Self.tables.map { ($0, Set(try rows($0, of: path))) })
        let count = sound.count / 1024
        var trials = RandomTrials("files with pages lost", "CIPHERDB_LOSSES", rounds: 3)
        while trials.goesOn() {
            let part = Int.random(in: 1...8, using: &trials.random)
            let lost = Array(2...count).shuffled(using: &trials.random).prefix(count * part / 20)
            for page in lost { try damage(page) }
            let done = try file.recover(key: key, to: saved)
            #expect(Set(done.damagedPages).isSubset(of: lost) && !done.isComplete)
            for table in done.tables {
                guard let all = whole[table.name] else { continue }
                let found = Set(try rows(table.name, of: saved))
                #expect(found.isSubset(of: all) && found.count == table.rows, "\(table.name)")
            }
            try sound.write(to: URL(fileURLWithPath: path))
            try FileManager.default.removeItem(atPath: saved)
        }
    }

    @Test func unfinishedTransactionIsOmitted() throws {
        try make("", "CREATE TABLE t (a); INSERT INTO t VALUES (1);" + SampleFile.content)
        // Copied while its pages are in the file already, and their images in the journal.
        let database = Database(path: path)
        try database.open(key: key)
        try database.executeStatements("PRAGMA cache_size = 1; BEGIN; UPDATE people SET note = randomblob(90)")
        try database.executeStatements("DELETE FROM t; UPDATE people SET name = 'x'")
        let copy = directory.file("copy.db")
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        try database.rollback()
        database.close()
        let before = try (FileState(copy), FileState(copy + "-journal"))
        let done = try DatabaseFile(path: copy).recover(key: key, to: saved)
        #expect(done.isComplete)
        #expect(try before == (FileState(copy), FileState(copy + "-journal")))
        #expect(try rows("people", of: saved) == rows("people", of: path))
        #expect(try rows("t", of: saved) == rows("t", of: path))
    }

    @Test func walIsRecovered() throws {
        let format = try #require(Engine.current.formats.first)
        let queue = try DatabaseQueue(
            path: path,
            key: key,
            configuration: Configuration { $0.journalMode = .wal }
        )
        try queue.inDatabase { try $0.executeStatements("PRAGMA wal_autocheckpoint = 0;" + SampleFile.content) }
        let copy = directory.file("copy.db")
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        try queue.close()
        let done = try DatabaseFile(path: copy).recover(key: key, to: saved)
        #expect(done.isComplete && done.file.pageSize == format.pageSize)
        #expect(try rows("people", of: saved) == rows("people", of: path))
    }

    @Test func failedRecoveryLeavesNothing() throws {
        try make()
        let names = directory.names
        expect(throws: KeyError.wrongKey) { try file.recover(key: .random(), to: saved) }
        #expect(throws: FileError(.exists, path: path)) { try file.recover(key: key, to: path) }
        for stage in [FileProgress.Stage.checking, .writing, .verifying] {
            #expect(throws: Stop.self, "\(stage)") {
                try file.recover(key: key, to: saved) { if $0.stage == stage { throw Stop() } }
            }
        }
        let database = Database(path: path)
        try database.open(key: key)
        try database.executeStatements("BEGIN IMMEDIATE")
        var impatient = file
        impatient.configuration.busyTimeout = .milliseconds(50)
        let error = #expect(throws: DatabaseError.self) { try impatient.recover(key: key, to: saved) }
        #expect(error?.code.primary == .busy)
        try database.rollback()
        database.close()
        #expect(directory.names == names)
        let other = try DatabaseKey.sample("another")
        let done = try file.recover(key: key, to: saved, newKey: other)
        #expect(done.isComplete)
        let opened = Database(path: saved)
        try opened.open(key: other)
    }

    /// Garbage that passes for pages: format 1 authenticates nothing.
    @Test(
        .enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"),
        arguments: Extent.isComplete ? 1...6 : 1...2
    )
    func garbageEndsInErrorOrAccount(seed: Int) throws {
        let shell = try #require(StockShell.all.last)
        let key = SampleKey.all[0]
        try SampleFile.make(at: path, by: shell, key: key, format: 1)
        var random = SplitMix(UInt64(seed))
        let size = try FileState(path).bytes.count
        for _ in 0..<(seed * 40) { try flipByte(of: path, at: .random(in: 1024..<size, using: &random)) }
        do {
            let done = try file.recover(key: key.key, to: saved)
            #expect(done.file.format?.version == 1 && done.tables.count == 1)
        } catch is DatabaseError, is KeyError {
            #expect(!directory.names.contains("saved.db"))
        }
    }
}
