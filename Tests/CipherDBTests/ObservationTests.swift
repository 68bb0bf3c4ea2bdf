import CSQLCipher
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Values that follow the database.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct ObservationTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    static var key: DatabaseKey { get throws { try .raw(hex: String(repeating: "5c", count: 32)) } }

    private func queue(_ script: SQL = "") throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, key: Self.key)
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE a (i INTEGER PRIMARY KEY, v); CREATE TABLE b (v);" + script)
        }
        return queue
    }

    private func pool() throws -> DatabasePool {
        try queue().close()
        // Commits need not reach the disk here.
        let configuration = Configuration {
            $0.prepareDatabase = { try $0.executeStatements("PRAGMA synchronous = OFF") }
        }
        return try DatabasePool(path: path, key: Self.key, configuration: configuration)
    }

    /// The names of the tables that are told to be changed by `body`; all of them as `*`.
    private func told(_ queue: DatabaseQueue, _ body: (Database) throws -> Void) throws -> Set<String> {
        let before = queue.log.commit
        try queue.inDatabase(body)
        let change = queue.log.changes(of: TableSelection(tables: nil), since: before).change
        guard !change.changesSchema else { return ["*"] }
        return Set(change.tables.map { ($0.schema == "main" ? "" : "\($0.schema ?? "?").") + $0.name })
    }

    // MARK: What a commit touches

    static let writes: [(sql: String, tables: Set<String>)] = [
        ("INSERT INTO a (v) VALUES (1)", ["a"]),
        ("UPDATE a SET v = 2", ["a"]),
        ("REPLACE INTO a VALUES (1, 3)", ["a"]),
        ("DELETE FROM a", ["a"]),
        ("DELETE FROM a WHERE i = 1", ["a"]),
        ("INSERT INTO b SELECT v FROM a", ["b"]),
        ("INSERT INTO fires VALUES (1)", ["fires", "b"]),
        ("DELETE FROM parent", ["parent", "child"]),
        ("INSERT INTO w VALUES ('x')", ["w"]),
        ("DELETE FROM w", ["w"]),
        ("INSERT INTO seen VALUES (1)", ["seen", "a"]),
        ("BEGIN; INSERT INTO a (v) VALUES (1); INSERT INTO b VALUES (1); COMMIT", ["a", "b"]),
        ("SAVEPOINT s; INSERT INTO b VALUES (1); RELEASE s", ["b"]),
        ("BEGIN; INSERT INTO a (v) VALUES (1); ROLLBACK", []),
        ("BEGIN; INSERT INTO a (v) VALUES (1); ROLLBACK; INSERT INTO b VALUES (1)", ["b"]),
        ("UPDATE a SET v = 2 WHERE i = 99", []),
        ("SELECT * FROM a", []),
        ("BEGIN IMMEDIATE; COMMIT", []),
        ("PRAGMA user_version = 3", ["*"]),
        ("PRAGMA main.application_id(7)", ["*"]),
        ("PRAGMA user_version", []),
        ("BEGIN; PRAGMA user_version = 3; ROLLBACK", []),
        ("CREATE TABLE c (x)", ["*"]),
        ("ALTER TABLE a ADD COLUMN x", ["*"]),
        ("DROP TABLE b", ["*"]),
        ("CREATE INDEX by_v ON a (v)", ["*"]),
        ("VACUUM", ["*"]),
        ("CREATE TABLE IF NOT EXISTS a (x); INSERT INTO b VALUES (1)", ["b"]),
        ("UPDATE a SET v = 2 WHERE i = 99; INSERT INTO b VALUES (1)", ["b"]),
    ]

    static let script: SQL = """
        INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO b VALUES (1);
        CREATE TABLE fires (x); CREATE TRIGGER t AFTER INSERT ON fires BEGIN INSERT INTO b VALUES (NEW.x); END;
        CREATE TABLE parent (id INTEGER PRIMARY KEY); INSERT INTO parent VALUES (1);
        CREATE TABLE child (p REFERENCES parent (id) ON DELETE CASCADE); INSERT INTO child VALUES (1);
        CREATE TABLE w (k TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO w VALUES ('y');
        CREATE VIEW seen AS SELECT v FROM a;
        CREATE TRIGGER u INSTEAD OF INSERT ON seen BEGIN INSERT INTO a (v) VALUES (NEW.v); END;
        """

    @Test(arguments: writes)
    func commitReportsWrittenTables(sql: String, tables: Set<String>) throws {
        let queue = try queue(Self.script)
        #expect(try told(queue) { try $0.executeStatements(SQL(unsafe: sql)) } == tables)
        // Also where a statement was compiled before.
        guard tables == ["a"] || tables == ["b"], !sql.contains(";") else { return }
        for _ in 0..<2 {
            #expect(try told(queue) { try $0.executeUpdate(SQL(unsafe: sql)) }.subtracting(tables).isEmpty)
        }
    }

    @Test func everyWriteIsReported() throws {
        let queue = try queue("INSERT INTO a VALUES (1, zeroblob(10));")
        let byBlob = try told(queue) { database in
            let blob = try database.openBlob(inTable: "A", column: "v", row: 1, writable: true)
            try blob.write(Data([1]), at: 0)
            try blob.close()
        }
        #expect(byBlob == ["a"])
        if Engine.current.has(.returning) {
            let byReturning = try told(queue) { database in
                let rows = try database.executeQuery("INSERT INTO b VALUES (1), (2) RETURNING v")
                _ = try rows.next()
                rows.close()
            }
            #expect(byReturning == ["b"])
        }
        let byStatement = try told(queue) { database in
            let statement = try database.prepare("INSERT INTO b VALUES (?)")
            for i in 0..<3 { try statement.executeUpdate(i) }
        }
        #expect(byStatement == ["b"])
        let other = Database(path: directory.file("other.db"))
        try other.open(key: Self.key)
        try other.executeStatements("CREATE TABLE elsewhere (x)")
        let byBackup = try told(queue) { try other.backup(to: $0) }
        #expect(byBackup == ["*"])
        #expect(throws: DatabaseError.self) { try queue.inDatabase { try $0.validateSQL("SELECT * FROM a") } }
    }

    @Test func commitsAreReportedAfterRekey() throws {
        let queue = try queue()
        // As many as before it: the engine counts from the beginning for each connection.
        for key in [try DatabaseKey.random(), try DatabaseKey.random()] {
            #expect(try told(queue) { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") } == ["a"])
            try queue.rekey(key)
            #expect(try queue.checkForForeignChanges(), "nobody knows")
            #expect(try told(queue) { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") } == ["a"])
        }
    }

    @Test func importIsReportedAbandonedBackupIsNot() throws {
        struct Enough: Error {}
        let queue = try queue()
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try plain.executeStatements("CREATE TABLE p (v); INSERT INTO p VALUES (1)")
        let other = Database(path: directory.file("other.db"))
        try other.open(key: Self.key)
        try other.executeStatements("CREATE TABLE big (v); INSERT INTO big VALUES (zeroblob(200000))")
        let givenUp = try told(queue) { database in
            try? other.backup(to: database, pagesPerStep: 1) { _ in throw Enough() }
        }
        #expect(givenUp == [])
        guard Engine.current.has(.exportFromAttached) else { return }
        let empty = try DatabaseQueue(path: directory.file("empty.db"), key: Self.key)
        let exported = try told(empty) { try plain.backup(to: $0) }
        #expect(exported == ["*"])
    }

    /// SQLite tells of neither what these read nor, of some, that it is written.
    @Test(arguments: [
        "SELECT count(*) FROM pragma_foreign_key_check", "SELECT seq FROM sqlite_sequence",
        "SELECT rowid FROM texts WHERE texts MATCH 'x'",
    ]) func observationDependsOnWhatIsReadInside(_ sql: SQL) async throws {
        guard Engine.tellsTablesWithoutColumns else { return }
        let queue = try queue(
            "CREATE TABLE n (id INTEGER PRIMARY KEY AUTOINCREMENT, v); CREATE VIRTUAL TABLE texts USING fts4(v, content=\"n\");"
        )
        let read = queue.observe { try $0.fetchAll(Int.self, sql) }
        for _ in 0..<2 {
            let tables = try await read.read().1
            #expect(tables == nil || tables?.contains(TableName("n", in: "main")) == true)
        }
    }

    @Test func statementsOnHandleHideBehindNoOthers() throws {
        let queue = try queue()
        let changes = try told(queue) { database in
            try database.inTransaction { database in
                try database.executeUpdate("INSERT INTO a (v) VALUES (1)")
                try database.withUnsafeHandle { _ = sqlite3_exec($0, "INSERT INTO b VALUES (1)", nil, nil, nil) }
            }
        }
        #expect(changes == ["*"])
    }

    @Test func observationDependsOnBlobs() async throws {
        let queue = try queue("INSERT INTO a VALUES (1, zeroblob(10));")
        let read = queue.observe { try $0.openBlob(inTable: "A", column: "v", row: 1).read(at: 0, count: 1) }
        let tables = try await read.read().1
        #expect(tables == nil || tables?.contains(TableName("a", in: "main")) == true)
    }

    @Test func closingDatabaseEndsObservation() async throws {
        let queue = try queue()
        var values = queue.observe { try $0.fetchAll(Int.self, "SELECT v FROM a") }.makeAsyncIterator()
        #expect(try await values.next() == [])
        try await queue.inDatabase { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") }
        try await queue.close()
        #expect(try await values.next() == nil)
        // Also where a block closed it.
        let other = try await DatabaseQueue(path: path, key: Self.key)
        let waiting = Task { for await _ in other.tableChanges() {} }
        try await eventually { other.log.listeners > 0 }
        try await other.inDatabase { $0.close() }
        await waiting.value
    }

    @Test func failedCommitIsReportedWhenRetried() throws {
        let queue = try queue()
        // A reader of another connection is in its way.
        let reader = try queue.openConnection()
        let rows = try reader.executeQuery("SELECT name FROM sqlite_master")
        #expect(try rows.next())
        let begin = queue.log.commit
        var code: ResultCode?
        var toldEarly = true
        let tables = try told(queue) { database in
            database.busyTimeout = .zero
            try database.executeStatements("BEGIN; INSERT INTO a (v) VALUES (1)")
            do { try database.commit() } catch let error as DatabaseError { code = error.code.primary }
            toldEarly = queue.log.commit != begin || !database.isInTransaction
            rows.close()
            try database.commit()
        }
        #expect(code == .busy)
        #expect(!toldEarly)
        #expect(tables == ["a"])
    }

    @Test func refusedCommitIsNotReported() throws {
        let queue = try queue()
        let refuses = Lock(true)
        try queue.inDatabase { $0.setCommitHook { !refuses.withLock { $0 } } }
        let refused = try told(queue) { try? $0.executeUpdate("INSERT INTO a (v) VALUES (1)") }
        #expect(refused == [])
        #expect(try queue.inDatabase { try $0.fetchAll(Int.self, "SELECT v FROM a") } == [])
        refuses.withLock { $0 = false }
        let allowed = try told(queue) { try $0.executeUpdate("INSERT INTO b VALUES (1)") }
        #expect(allowed == ["b"])
    }

    @Test func valueDependsOnTablesRead() async throws {
        let queue = try queue(Self.script)
        func tables(_ sql: String) async throws -> Set<String>? {
            try await queue.observe { _ = try $0.executeQuery(SQL(unsafe: sql)).next() }.read().1.map {
                Set($0.map(\.name))
            }
        }
        guard Engine.tellsTablesWithoutColumns else {
            // Then all that is committed counts.
            #expect(try await tables("SELECT v FROM a") == nil)
            return
        }
        for _ in 0..<2 { #expect(try await tables("SELECT v FROM a") == ["a"]) }
        #expect(try await tables("SELECT count(*) FROM b") == ["b"])
        #expect(try await tables("SELECT v FROM seen") == ["a", "seen"])
        #expect(try await tables("SELECT count(*) FROM a, child") == ["a", "child"])
        #expect(try await tables("SELECT 1 FROM a WHERE EXISTS (SELECT 1 FROM child)") == ["a", "child"])
        #expect(try await tables("SELECT 1") == [])
    }

    // MARK: Sequences

    @Test func valueComesAtStartAndAfterCommits() async throws {
        let pool = try pool()
        var values = pool.observe { try $0.fetchAll(Int.self, "SELECT v FROM a ORDER BY i") }.makeAsyncIterator()
        #expect(try await values.next() == [])
        for i in 1...3 {
            try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (?)", i) }
            #expect(try await values.next() == Array(1...i))
        }
        // Several are taken together.
        for i in 4...9 { try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (?)", i) } }
        #expect(try await values.next() == Array(1...9))
        let waiting = Task { [values] in
            var values = values
            return try await values.next()
        }
        try await eventually { pool.writer.log.listeners > 0 }
        try await pool.write { try $0.executeUpdate("INSERT INTO b VALUES (1)") }
        if Engine.tellsTablesWithoutColumns { #expect(pool.writer.log.listeners == 1, "another table") }
        try await pool.write { try $0.executeUpdate("DELETE FROM a WHERE v > 2") }
        if Engine.tellsTablesWithoutColumns { #expect(try await waiting.value == [1, 2]) }
        try await pool.close()
    }

    @Test func equalValuesArePassedOver() async throws {
        let queue = try queue("INSERT INTO a VALUES (1, 0)")
        let counts = queue.observe { try $0.count(in: "a") }.removeDuplicates()
        var iterator = counts.makeAsyncIterator()
        #expect(try await iterator.next() == 1)
        try await queue.inDatabase { try $0.executeUpdate("UPDATE a SET v = 1") }
        let next = Task { [iterator] in
            var iterator = iterator
            return try await iterator.next()
        }
        // It has read the equal value, and waits for another.
        try await eventually { queue.log.listeners > 0 }
        try await queue.inDatabase { try $0.executeUpdate("INSERT INTO a (v) VALUES (2)") }
        #expect(try await next.value == 2)
    }

    /// As a view does it: what is shown is changed on the main actor alone.
    @MainActor @Test func observationFeedsMainActor() async throws {
        let queue = try queue()
        var shown: [Int] = []
        let task = Task {
            for try await count in queue.observe({ try $0.count(in: "a") }).removeDuplicates() {
                MainActor.preconditionIsolated()
                shown.append(count)
            }
        }
        while shown.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        try await queue.inDatabase { try $0.executeUpdate("INSERT INTO a (v) VALUES (2)") }
        while shown.count < 2 { try await Task.sleep(for: .milliseconds(1)) }
        task.cancel()
        try await task.value
        #expect(shown == [0, 1])
    }

    @Test func numbersOfTheHeaderAreObserved() async throws {
        let pool = try pool()
        let reads: [@Sendable (Database) throws -> Int64] = [
            { Int64(try $0.userVersion) }, { Int64(try $0.applicationID) },
            { try $0.value(forQuery: "PRAGMA main.user_version") ?? 0 },
            { try $0.value(forQuery: "PRAGMA page_count") ?? 0 },
            { try $0.value(forQuery: "PRAGMA freelist_count") ?? 0 },
            { try $0.value(forQuery: "PRAGMA schema_version") ?? 0 }, { try $0.dataVersion },
        ]
        for (index, read) in reads.enumerated() {
            var values = pool.observe(read).makeAsyncIterator()
            let before = try #require(try await values.next())
            let waiting = Task { [values] in
                var values = values
                return try await values.next()
            }
            try await eventually { pool.writer.log.listeners > 0 }
            try await pool.write { database in
                switch index {
                case 0: try database.setUserVersion(7)
                case 1: try database.setApplicationID(8)
                case 2: try database.executeUpdate("PRAGMA user_version = 9")
                case 3: try database.executeUpdate("INSERT INTO a (v) VALUES (zeroblob(100000))")
                case 4: try database.executeUpdate("DELETE FROM a")
                case 5: try database.executeUpdate("CREATE TABLE c (x)")
                default: try database.executeUpdate("INSERT INTO b VALUES (1)")
                }
            }
            let after = try await waiting.value
            #expect(after != nil && after != before, "\(index)")
        }
        try await pool.close()
    }

    @Test func versionSetElsewhereIsObservedOnRequest() async throws {
        let queue = try queue()
        var values = queue.observe { try $0.userVersion }.makeAsyncIterator()
        #expect(try await values.next() == 0)
        let other = Database(path: path)
        try other.open(key: Self.key)
        try await queue.checkForForeignChanges()
        try other.setUserVersion(5)
        #expect(try await queue.checkForForeignChanges())
        #expect(try await values.next() == 5)
        try await queue.inDatabase { try $0.setUserVersion(6) }
        #expect(try await values.next() == 6)
    }

    @Test func changeOfKeyDoesNotDisturbIt() async throws {
        let pool = try pool()
        var values = pool.observe { try $0.fetchAll(Int.self, "SELECT v FROM a") }.makeAsyncIterator()
        #expect(try await values.next() == [])
        try await pool.rekey(.sample("other"))
        try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") }
        #expect(try await values.next() == [1])
        try await pool.rekey(.random())
        try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (2)") }
        #expect(try await values.next() == [1, 2])
    }

    @Test func cancellingEndsItAndLeavesNothingWaiting() async throws {
        let pool = try pool()
        let log = pool.writer.log
        let seen = Lock(0)
        let tasks = (0..<10).map { _ in
            Task {
                for try await _ in pool.observe({ try $0.fetchAll(Int.self, "SELECT v FROM a") }) {
                    seen.withLock { $0 += 1 }
                }
                for await _ in pool.tableChanges() {}
            }
        }
        try await eventually { log.listeners == 10 }
        for task in tasks { task.cancel() }
        for task in tasks { try #require(await task.ends()) }
        #expect(log.listeners == 0)
        let before = seen.withLock { $0 }
        try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") }
        #expect(seen.withLock { $0 } == before)
        let listening = Task { for await _ in pool.commits() {} }
        try await eventually { log.listeners > 0 }
        listening.cancel()
        try #require(await listening.ends())
        #expect(log.listeners == 0)
    }

    @Test func closingEndsEverySequence() async throws {
        let queue = try queue()
        let log = queue.log
        let values = Task { for try await _ in queue.observe({ try $0.fetchAll(Int.self, "SELECT v FROM a") }) {} }
        let changes = Task { for await _ in queue.tableChanges(of: ["A"]) {} }
        let commits = Task { for await _ in queue.commits() {} }
        try await eventually { log.listeners == 3 }
        try await queue.close()
        try await values.value
        await changes.value
        await commits.value
        for await _ in queue.commits() { Issue.record("of a closed queue") }
    }

    @Test func errorOfReadingEndsIt() async throws {
        let queue = try queue()
        var values = queue.observe { try $0.fetchAll(Int.self, "SELECT v FROM a") }.makeAsyncIterator()
        #expect(try await values.next() == [])
        try await queue.inDatabase { try $0.executeUpdate("INSERT INTO a (v) VALUES ('text')") }
        await #expect(throws: DatabaseError.self) { try await values.next() }
        #expect(try await values.next() == nil)
    }

    @Test func tablesAndCommitsAreReported() async throws {
        let queue = try queue(Self.script)
        var ofB = queue.tableChanges(of: ["B"]).makeAsyncIterator()
        var all = queue.tableChanges().makeAsyncIterator()
        var commits = queue.commits().makeAsyncIterator()
        try await queue.inDatabase {
            try $0.executeStatements("INSERT INTO a (v) VALUES (5); INSERT INTO fires VALUES (6)")
        }
        let (a, b, fires) = (TableName("a", in: "main"), TableName("b", in: "main"), TableName("fires", in: "main"))
        #expect(await ofB.next() == Commit(tables: ["b"], changesSchema: false))
        #expect(await all.next() == Commit(tables: [a, b, fires], changesSchema: false))
        #expect(await commits.next() == Commit(tables: [a], changesSchema: false))
        #expect(await commits.next() == Commit(tables: [b, fires], changesSchema: false))
        try await queue.inDatabase { try $0.executeStatements("CREATE TABLE made (x)") }
        #expect(await ofB.next()?.changesSchema == true)
        #expect(await commits.next()?.changesSchema == true)
        let first = queue.tableChanges(of: [TableName("a", in: "temp")])
        #expect(queue.log.changes(of: first.tables, since: 0).change.tables == [])
    }

    @Test func nameWithoutDatabaseSelectsTableInEach() async throws {
        let log = ChangeLog()
        func selected(_ tables: [TableName]) -> Set<TableName> {
            log.changes(of: TableSelection(tables: tables), since: 0).change.tables
        }
        let (main, temp) = (TableName("A", in: "MAIN"), TableName("a", in: "temp"))
        log.publish([main, temp], changesSchema: false)
        #expect(selected(["a"]) == [main, temp])
        #expect(selected([main, "a"]) == [main, temp])
        #expect(selected([main]) == ["a"])
        #expect(selected([temp]) == [temp])
    }

    @Test func foreignCommitsAreSeenOnRequest() async throws {
        let pool = try pool()
        #expect(try await !pool.checkForForeignChanges())
        var values = pool.observe { try $0.fetchAll(Int.self, "SELECT v FROM a") }.makeAsyncIterator()
        #expect(try await values.next() == [])
        let other = try await DatabaseQueue(path: path, key: Self.key)
        let before = try await pool.read { try $0.dataVersion }
        try await other.inDatabase { try $0.executeUpdate("INSERT INTO a (v) VALUES (1)") }
        #expect(try await pool.read { try $0.dataVersion } != before)
        #expect(try await pool.checkForForeignChanges())
        #expect(try await values.next() == [1])
        #expect(try await !pool.checkForForeignChanges())
        // Its own are none of others.
        try await pool.write { try $0.executeUpdate("INSERT INTO a (v) VALUES (2)") }
        #expect(try await !pool.checkForForeignChanges())
    }

    /// What a random commit writes: each number with what it must stand beside.
    struct Reading: Codable, RowDecodable, Sendable {
        var number: Int
        var square: Int
    }

    @Test(.slow, .timeLimit(.minutes(Extent.minutesOfAHang)))
    func lastValueOfRandomCommitsIsSeen() async throws {
        let pool = try pool()
        try await pool.write { database in
            try database.executeStatements(
                "CREATE TABLE x (number, square); INSERT INTO x VALUES (0, 0); CREATE TABLE noise (n)"
            )
        }
        let latest = Lock(0)
        let observer = Task {
            for try await reading in pool.observe({ try $0.fetchOne(Reading.self, "SELECT number, square FROM x") }) {
                let reading = try #require(reading)
                #expect(reading.square == reading.number * reading.number, "one that was never committed")
                #expect(reading.number >= latest.withLock { $0 }, "an older one after a newer one")
                latest.withLock { $0 = reading.number }
            }
        }
        var random = SplitMix(4)
        var number = 0
        var commits = 0
        while commits < (Extent.isComplete ? 10_000 : 2000) {
            for _ in 0..<Int.random(in: 1...200, using: &random) {
                commits += 1
                switch Int.random(in: 0..<6, using: &random) {
                case 0: try await pool.write { try $0.executeUpdate("INSERT INTO noise VALUES (1)") }
                case 1:
                    // Undone: neither may be seen.
                    try await pool.inDatabase { database in
                        try database.inTransaction { try $1.rollBack($0) }
                    }
                default:
                    number += 1
                    let next = number
                    try await pool.write { database in
                        try database.executeUpdate("UPDATE x SET number = ?", next)
                        try database.executeUpdate("UPDATE x SET square = ?", next * next)
                    }
                }
            }
            let last = number
            try await eventually { latest.withLock { $0 } == last }
        }
        observer.cancel()
        try await observer.value
        try await pool.write { try $0.executeUpdate("UPDATE x SET number = -1, square = 1") }
        #expect(latest.withLock { $0 } == number, "none after the end")
    }
}

extension Bool {
    /// Writes what is then undone.
    fileprivate mutating func rollBack(_ database: Database) throws {
        try database.executeUpdate("UPDATE x SET number = -7")
        self = true
    }
}
