import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// Virtual tables of which the module's own tables are damaged.
@Suite(.atTheEnds) struct RecoverVirtualTableTests {
    let directory: TemporaryDirectory
    let path: String
    let saved: String
    let key: DatabaseKey
    private var file: DatabaseFile { DatabaseFile(path: path) }

    static let modules = Engine.current.has(.fts5) ? ["fts4", "fts5"] : ["fts4"]

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        saved = directory.file("saved.db")
        key = try DatabaseKey.random()
    }

    /// Documents in a table, and what `script` adds, in small pages.
    private func make(_ script: String) throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 1024 }
        let configuration = Configuration {
            $0.format = format
            // For schemas that SQL would not make.
            $0.unsafeAllowsAllSQL = true
        }
        let queue = try DatabaseQueue(path: path, key: key, configuration: configuration)
        try queue.inDatabase { database in
            try database.executeStatements("CREATE TABLE docs (id INTEGER PRIMARY KEY, title, body)")
            try database.executeStatements(SQL(unsafe: script))
            try database.executeStatements(
                """
                WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 600)
                INSERT INTO docs SELECT n, 'title' || n, 'common ' || hex(randomblob(40)) FROM n;
                """
            )
        }
        try queue.close()
    }

    /// An index of `docs`, which a trigger writes.
    private func index(_ module: String) -> String {
        let isFTS5 = module == "fts5"
        let option = isFTS5 ? "content='docs', content_rowid='id'" : "content=\"docs\""
        let rowID = isFTS5 ? "rowid" : "docid"
        return """
            CREATE VIRTUAL TABLE search USING \(module) (title, body, \(option));
            CREATE TRIGGER written AFTER INSERT ON docs BEGIN
            INSERT INTO search (\(rowID), title, body) VALUES (new.id, new.title, new.body); END;
            """
    }

    private func cutOff(at part: Double) throws {
        let size = try FileState(path).bytes.count
        let handle = try #require(FileHandle(forUpdatingAtPath: path))
        try handle.truncate(atOffset: UInt64(Double(size) * part))
        try handle.close()
    }

    private func damage(_ pages: some Sequence<Int>) throws {
        for page in pages { try flipByte(of: path, at: (page - 1) * 1024 + 500) }
    }

    private func open<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let database = Database(path: saved)
        try database.open(key: key)
        defer { database.close() }
        return try body(database)
    }

    /// The index finds all rows there are, new ones too, and can be dropped.
    private func expectUsable(_ done: Recovery) throws {
        #expect(done.problems.isEmpty && done.failures.isEmpty, "\(done.problems) \(done.failures)")
        #expect(try DatabaseFile(path: saved).verify(key: key).isSound)
        try open { database in
            let count = try database.int(forQuery: "SELECT count(*) FROM docs")
            let found: SQL = "SELECT count(*) FROM search WHERE search MATCH 'common'"
            #expect(try database.int(forQuery: found) == count)
            try database.executeStatements("INSERT INTO docs (title, body) VALUES ('new', 'common unique')")
            #expect(try database.int(forQuery: "SELECT count(*) FROM search WHERE search MATCH 'unique'") == 1)
            #expect(try database.int(forQuery: found) == (count ?? 0) + 1)
        }
        #expect(try DatabaseFile(path: saved).verify(key: key).isSound)
        try open { try $0.executeStatements("DROP TRIGGER written; DROP TABLE search") }
    }

    @Test(arguments: modules, [0.2, 0.45, 0.8]) func truncatedIndexIsRebuilt(_ module: String, _ part: Double) throws {
        try make(index(module))
        try cutOff(at: part)
        let done = try file.recover(key: key, to: saved)
        #expect(done.remadeTables == [try #require(done.remadeTables.first)] && done.remadeTables[0].name == "search")
        #expect(!done.remadeTables[0].isEmpty && !done.missingPages.isEmpty)
        // Of the index itself nothing is missing.
        #expect(done.isComplete == done.tables.first { $0.name == "docs" }?.isComplete)
        try expectUsable(done)
    }

    @Test(arguments: modules) func overwrittenBeginningLeavesSoundFile(_ module: String) throws {
        try make(index(module))
        try damage(2...11)
        let done = try file.recover(key: key, to: saved)
        #expect(done.problems.isEmpty)
        #expect(try DatabaseFile(path: saved).verify(key: key).isSound)
        // The definitions may be on those pages.
        if done.isSchemaWhole { try expectUsable(done) }
    }

    @Test(arguments: modules) func lostPageOfIndexLosesNothing(_ module: String) throws {
        try make(index(module))
        var remade = 0
        let kinds = try file.map(key: key)
        for page in kinds.indices.filter({ $0 > 11 && kinds[$0] != .free }).map({ $0 + 1 }).suffix(25) {
            try damage([page])
            let done = try file.recover(key: key, to: saved)
            try damage([page])
            if !done.remadeTables.isEmpty { remade += 1 }
            if done.tables.first(where: { $0.name == "docs" })?.isComplete == true {
                #expect(done.isComplete, "page \(page)")
            }
            try expectUsable(done)
            try FileManager.default.removeItem(atPath: saved)
        }
        #expect(remade > 0)
    }

    /// An index that is whole names rows that its content table has lost.
    @Test(arguments: modules) func lostRowsAreLostInIndex(_ module: String) throws {
        try make(index(module))
        let kinds = try file.map(key: key)
        var tried = 0
        for page in kinds.indices.filter({ $0 > 11 && $0 % 3 == 0 && kinds[$0] != .free }).map({ $0 + 1 })
        where tried < 2 {
            try damage([page])
            let done = try file.recover(key: key, to: saved)
            try damage([page])
            let incomplete = done.tables.filter { !$0.isComplete }.map(\.name)
            if incomplete == ["docs"] {
                tried += 1
                try expectUsable(done)
            }
            try FileManager.default.removeItem(atPath: saved)
        }
        #expect(tried == 2)
    }

    @Test(arguments: modules) func indexKeepsOwnContent(_ module: String) throws {
        try make(
            """
            CREATE VIRTUAL TABLE search USING \(module) (title, body);
            CREATE TRIGGER written AFTER INSERT ON docs BEGIN INSERT INTO search VALUES (new.title, new.body); END;
            """
        )
        let kinds = try file.map(key: key)
        let leaves = kinds.indices.filter { kinds[$0] == .tableLeaf && $0 > 10 }.map { $0 + 1 }
        for page in leaves.suffix(20) {
            try damage([page])
            let done = try file.recover(key: key, to: saved)
            try damage([page])
            #expect(done.problems.isEmpty && done.failures.isEmpty, "page \(page): \(done.problems)")
            let kept = done.tables.first { $0.name == "search_content" }?.rows
            let found = try open { try $0.int(forQuery: "SELECT count(*) FROM search WHERE search MATCH 'common'") }
            #expect(found == kept)
            try FileManager.default.removeItem(atPath: saved)
        }
    }

    @Test(.enabled(if: Engine.current.has(.fts5), "this engine has no FTS5")) func contentlessIndexIsEmptied() throws {
        try make(
            """
            CREATE VIRTUAL TABLE search USING fts5 (title, body, content='');
            CREATE TRIGGER written AFTER INSERT ON docs BEGIN
            INSERT INTO search (rowid, title, body) VALUES (new.id, new.title, new.body); END;
            """
        )
        try cutOff(at: 0.45)
        let done = try file.recover(key: key, to: saved)
        #expect(done.remadeTables.map(\.isEmpty) == [true] && done.problems.isEmpty && done.failures.isEmpty)
        try open { try $0.executeStatements("INSERT INTO docs (title, body) VALUES ('new', 'common unique')") }
        #expect(try DatabaseFile(path: saved).verify(key: key).isSound)
    }

    @Test(arguments: modules) func tableThatCannotBeMadeIsNamed(_ module: String) throws {
        try make(
            index(module)
                + """
                CREATE TABLE log (a); CREATE TRIGGER logged AFTER INSERT ON docs BEGIN INSERT INTO log VALUES (new.id); END;
                """
        )
        let other = Database(path: path, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        try other.open(key: key)
        try other.executeStatements(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = replace(sql, 'title,', 'title, tokenize=nosuchtokenizer,') WHERE name = 'search';
            """
        )
        other.close()
        try cutOff(at: 0.5)
        let done = try file.recover(key: key, to: saved)
        #expect(done.failures.map(\.name).sorted() == ["search", "written"], "\(done.failures)")
        #expect(done.failures.contains { $0.reason.contains("tokenizer") } && done.problems.isEmpty)
        #expect(try DatabaseFile(path: saved).verify(key: key).isSound)
        try open { database in
            try database.executeStatements("DELETE FROM log; INSERT INTO docs (title) VALUES ('new')")
            #expect(try database.int(forQuery: "SELECT count(*) FROM log") == 1)
            try database.executeStatements(SQL(unsafe: "CREATE VIRTUAL TABLE search USING \(module) (title)"))
        }
    }

    @Test func triggerOfLostTableIsNamed() throws {
        try make(
            """
            CREATE TABLE log (a); CREATE TRIGGER logged AFTER INSERT ON docs BEGIN INSERT INTO "log" VALUES (new.id); END;
            CREATE TRIGGER of_log AFTER INSERT ON log BEGIN SELECT 1; END;
            CREATE TRIGGER kept AFTER INSERT ON docs BEGIN SELECT 'logs'; END;
            """
        )
        let other = Database(path: path, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        try other.open(key: key)
        try other.executeStatements(
            "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = 'CREATE TABLE log (' WHERE name = 'log'"
        )
        other.close()
        let done = try file.recover(key: key, to: saved)
        #expect(done.failures.map(\.name).sorted() == ["log", "logged", "of_log"], "\(done.failures)")
        try open { database in
            try database.executeStatements("INSERT INTO docs (title) VALUES ('new')")
            #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == 1)
        }
    }

    @Test func unknownModuleStays() throws {
        try make(
            """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql)
            VALUES ('table', 'foreign_one', 'foreign_one', 0, 'CREATE VIRTUAL TABLE foreign_one USING nosuchmodule (a)');
            """
        )
        let done = try file.recover(key: key, to: saved)
        #expect(done.failures.isEmpty && done.remadeTables.isEmpty)
        #expect(try open { try $0.tableExists("foreign_one") })
    }
}
