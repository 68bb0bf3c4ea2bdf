import CipherDB
import Foundation
import TestSupport
import Testing

/// A schema that grows with the program.
@Suite struct MigrationTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    static func sql(_ name: String, _ sql: String) -> Migration {
        Migration(name) { try $0.executeStatements(SQL(unsafe: sql)) }
    }

    static let first = sql("notes", "CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
    static let second = sql("due", "ALTER TABLE notes ADD COLUMN due REAL; INSERT INTO notes (text) VALUES ('x')")
    struct Broken: Error {}

    private func open() throws -> Database {
        let database = Database(path: path)
        try database.open(key: Self.key)
        return database
    }

    static var key: DatabaseKey { get throws { try .raw(hex: String(repeating: "5c", count: 32)) } }

    @Test func eachStepRunsOnceAndInOrder() throws {
        let database = try open()
        #expect(try database.completedMigrations.isEmpty)
        #expect(try database.pendingMigrations(of: [Self.first, Self.second]) == ["notes", "due"])
        #expect(try database.migrate([Self.first]) == ["notes"])
        let before = Date()
        #expect(try database.migrate([Self.first, Self.second]) == ["due"])
        #expect(try database.migrate([Self.first, Self.second]) == [])
        database.close()
        let again = try open()
        #expect(try again.migrate([Self.first, Self.second]) == [])
        #expect(try again.completedMigrations.map(\.name) == ["notes", "due"])
        #expect(try #require(again.completedMigrations.last).date.timeIntervalSince(before) > -1)
        #expect(try again.fetchAll(String.self, "SELECT text FROM notes WHERE due IS NULL") == ["x"])
    }

    @Test func stepThatFailsLeavesDatabaseUnchanged() throws {
        let database = try open()
        try database.migrate([Self.first])
        let fails = Migration("fails") { database in
            try database.executeStatements("CREATE TABLE other (a); DROP TABLE notes")
            throw Broken()
        }
        #expect { try database.migrate([Self.first, Self.second, fails]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .failed, error.cause is Broken else {
                return false
            }
            return "\(error)".contains("migration fails failed")
        }
        #expect(try database.completedMigrations.map(\.name) == ["notes", "due"])
        #expect(try database.fetchAll(String.self, "SELECT text FROM notes") == ["x"])
        #expect(throws: DatabaseError.self) { try database.select(from: "other") }
        let mended = Self.sql("fails", "CREATE TABLE other (a)")
        #expect(try database.migrate([Self.first, Self.second, mended]) == ["fails"])
    }

    @Test func databaseOfLaterProgramIsRefused() throws {
        let database = try open()
        try database.migrate([Self.first, Self.second])
        #expect { try database.migrate([Self.first]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .databaseIsNewer else { return false }
            return error.unknown == ["due"] && "\(error)".contains("newer version of this program")
        }
        #expect(throws: MigrationError.self) { try database.pendingMigrations(of: []) }
    }

    @Test func stepThatWasRenamedOrRemovedIsNamed() throws {
        let database = try open()
        let third = Self.sql("third", "CREATE TABLE third (a)")
        try database.migrate([Self.first, Self.second, third])
        let renamed = Self.sql("due dates", "ALTER TABLE notes ADD COLUMN due REAL")
        #expect { try database.migrate([Self.first, renamed, third]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .renamed else { return false }
            return error.unknown == ["due"] && error.step == "due dates"
                && "\(error)".contains("restore the old name of a renamed migration")
        }
        #expect { try database.migrate([Self.first, third]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .removed else { return false }
            return error.unknown == ["due"] && "\(error)".contains("is missing from the program; restore it")
        }
        #expect(try database.migrate([Self.first, Self.second, third]) == [])
    }

    @Test func reorderedOrRepeatedStepIsRefused() throws {
        let database = try open()
        try database.migrate([Self.first, Self.second])
        let late = Self.sql("late", "CREATE TABLE late (a)")
        expect(throws: MigrationError.outOfOrder, where: { $0.step == "late" && $0.completed == "due" }) {
            try database.migrate([Self.first, late, Self.second])
        }
        expect(throws: MigrationError.duplicateName, where: { $0.step == "late" }) {
            try database.migrate([Self.first, Self.second, late, late])
        }
        #expect(throws: DatabaseError.self) { try database.select(from: "late") }
    }

    @Test func foreignKeysAreCheckedAtStepEnd() throws {
        let database = try open()
        let tables = Self.sql(
            "tables",
            """
            CREATE TABLE parent (id INTEGER PRIMARY KEY);
            CREATE TABLE child (p INTEGER REFERENCES parent (id) ON DELETE CASCADE);
            INSERT INTO parent VALUES (1), (2); INSERT INTO child VALUES (1), (2)
            """
        )
        // As sqlite.org/lang_altertable.html says: with keys enforced, the DROP would delete the children.
        let rebuild = Self.sql(
            "rebuild",
            """
            CREATE TABLE new_parent (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO new_parent (id) SELECT id FROM parent; DROP TABLE parent; ALTER TABLE new_parent RENAME TO parent
            """
        )
        try database.migrate([tables, rebuild])
        #expect(try database.fetchAll(Int.self, "SELECT p FROM child") == [1, 2])
        let breaks = Self.sql("breaks", "DELETE FROM parent WHERE id = 2")
        #expect { try database.migrate([tables, rebuild, breaks]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .foreignKeyViolated else { return false }
            return error.step == "breaks" && error.rowID == 2
                && "\(error)".contains("leaves a row of child (2) whose foreign key matches no row of parent")
        }
        #expect(try database.fetchAll(Int.self, "SELECT id FROM parent") == [1, 2])
        // Enforced as before.
        #expect(throws: DatabaseError.self) { try database.executeUpdate("INSERT INTO child VALUES (9)") }
        #expect(try database.bool(forQuery: "PRAGMA foreign_keys") == true)
        let lax = Database(path: path, configuration: Configuration { $0.enforcesForeignKeys = false })
        try lax.open(key: Self.key)
        #expect(try lax.migrate([tables, rebuild, breaks]) == ["breaks"])
        #expect(try lax.bool(forQuery: "PRAGMA foreign_keys") == false)
    }

    @Test func foreignKeyWithoutUniqueColumnIsNamed() throws {
        let database = try open()
        let tables = Self.sql(
            "tables",
            "CREATE TABLE parent (id INTEGER PRIMARY KEY, name); CREATE TABLE child (p REFERENCES parent (name))"
        )
        #expect { try database.migrate([tables]) } throws: { error in
            (error as? MigrationError)?.code == .foreignKeyMismatch
                && "\(error)".contains(
                    "after migration tables: foreign key mismatch - \"child\" referencing \"parent\""
                )
        }
        #expect(try !database.tableExists("parent"))
    }

    @Test func rowFromBeforeIsNotBlamedOnStep() throws {
        let database = try open()
        let tables = Self.sql(
            "tables",
            "CREATE TABLE parent (id INTEGER PRIMARY KEY); CREATE TABLE child (p INTEGER REFERENCES parent (id))"
        )
        try database.migrate([tables])
        try database.executeStatements("PRAGMA foreign_keys = OFF")
        try database.executeUpdate("INSERT INTO child VALUES (7)")
        try database.executeStatements("PRAGMA foreign_keys = ON")
        let other = Self.sql("other", "CREATE TABLE other (id)")
        #expect { try database.migrate([tables, other]) } throws: { error in
            guard let error = error as? MigrationError, error.code == .foreignKeyViolatedBefore else { return false }
            return error.step == "other" && error.parent == "parent"
                && "\(error)".contains(
                    "a row of child (1) has a foreign key that matches no row of parent, and had it before"
                )
        }
        let mending = Self.sql("mending", "DELETE FROM child")
        #expect(try database.migrate([tables, mending, other]) == ["mending", "other"])
    }

    @Test func stepCannotEndItsTransaction() throws {
        let database = try open()
        let ends = Migration("ends") { try $0.commit() }
        expect(throws: MigrationError.transactionEnded, where: { $0.step == "ends" }) { try database.migrate([ends]) }
        let another = Migration("ends") { try $0.executeStatements("CREATE TABLE half (a); COMMIT; BEGIN") }
        expect(throws: MigrationError.transactionEnded, where: { $0.step == "ends" }) {
            try database.migrate([another])
        }
        #expect(try database.completedMigrations.isEmpty)
        #expect(!database.isInTransaction)
        #expect { try database.inTransaction { try $0.migrate([Self.first]) } } throws: {
            ($0 as? DatabaseError)?.code == .misuse
        }
        // What it leaves open is closed.
        let leaves = Migration("leaves") { database in
            try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
            _ = try database.executeQuery("SELECT a FROM t").next()
        }
        #expect(try database.migrate([leaves]) == ["leaves"])
    }

    @Test func foreignKeysAreEnforcedAfterEveryStep() throws {
        let database = try open()
        try database.executeStatements("CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1), (2)")
        let rows = try database.executeQuery("SELECT id FROM p")
        #expect(try rows.next())
        let fails = Migration("fails") { database in
            let open = try database.executeQuery("SELECT id FROM p")
            _ = try open.next()
            database.interrupt()
            throw Broken()
        }
        #expect(throws: (any Error).self) { try database.migrate([fails]) }
        #expect(!database.isInTransaction)
        #expect(try database.bool(forQuery: "PRAGMA foreign_keys") == true)
    }

    @Test func databaseClosesIfForeignKeysStayOff() throws {
        let database = try open()
        let denies = Migration("denies") { $0.setAuthorizer { $0.kind == .pragma ? .deny : .allow } }
        #expect(throws: (any Error).self) { try database.migrate([denies]) }
        #expect(!database.isOpen)
    }

    @Test func poolIsMigratedWhileItReads() throws {
        let pool = try DatabasePool(path: path, key: Self.key)
        try pool.inDatabase { try $0.migrate([Self.first]) }
        try pool.read { database in
            #expect(try database.select(from: "notes").columnCount == 2)
            try DatabaseQueue(path: path, key: Self.key).inDatabase { try $0.migrate([Self.first, Self.second]) }
            #expect(try database.select(from: "notes").columnCount == 2, "one state to its end")
        }
        #expect(try pool.read { try $0.fetchAll(String.self, "SELECT text FROM notes WHERE due IS NULL") } == ["x"])
        #expect(try pool.read { try $0.pendingMigrations(of: [Self.first, Self.second]) } == [])
        // A reader has nothing to do, and needs no lock for it.
        #expect(try pool.read { try $0.migrate([Self.first, Self.second]) } == [])
    }

    @Test func concurrentMigrationsRunStepsOnce() async throws {
        let steps = Self.manySteps
        try open().close()
        let path = path
        let run = try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<2 {
                group.addTask {
                    // Each has the lock hundreds of times, on whatever disk there is.
                    let patient = Configuration { $0.busyTimeout = .seconds(120) }
                    let queue = try await DatabaseQueue(path: path, key: Self.key, configuration: patient)
                    return try await queue.inDatabase { try $0.migrate(steps) }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(run.sorted() == steps.map(\.name).sorted())
    }

    // MARK: Kills

    /// 200 steps of several kinds.
    static let manySteps = (0..<200).map { step($0) { _ in } }

    static func step(_ number: Int, killing: @escaping @Sendable (Int) -> Void) -> Migration {
        Migration("step \(number)") { database in
            switch number % 5 {
            case 0:
                try database.executeStatements(
                    SQL(
                        unsafe:
                            "CREATE TABLE t\(number) (id INTEGER PRIMARY KEY, a); CREATE TABLE c\(number) (r REFERENCES t\(number) (id))"
                    )
                )
                for row in 0..<20 {
                    try database.insert(into: TableName("t\(number)"), ["id": row, "a": number])
                    try database.insert(into: TableName("c\(number)"), ["r": row])
                }
            case 1:
                try database.executeStatements(SQL(unsafe: "ALTER TABLE t\(number - 1) ADD COLUMN b DEFAULT 'added'"))
            case 2: try database.executeStatements(SQL(unsafe: "CREATE INDEX i\(number) ON t\(number - 2) (a, b)"))
            case 3:
                try database.executeStatements(
                    SQL(
                        unsafe: """
                            CREATE TABLE new (id INTEGER PRIMARY KEY, a NOT NULL, b, c); INSERT INTO new SELECT id, a, b, 1 FROM t\(number - 3);
                            DROP TABLE t\(number - 3); ALTER TABLE new RENAME TO t\(number - 3)
                            """
                    )
                )
            default:
                try database.executeStatements(SQL(unsafe: "CREATE VIEW v\(number) AS SELECT b FROM t\(number - 4)"))
            }
            killing(number)
        }
    }

    private func migrate(_ path: String) throws -> [String] {
        try DatabaseQueue(path: path, key: Self.key).inDatabase { try $0.migrate(Self.manySteps) }
    }

    private func content(_ path: String) throws -> [String] {
        let queue = try DatabaseQueue(path: path, key: Self.key)
        return try queue.inDatabase { database in
            let tables = try database.fetchAll(
                String.self,
                "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"
            )
            return try database.fetchAll(
                String.self,
                "SELECT name || ' ' || coalesce(sql, '') FROM sqlite_master ORDER BY 1"
            )
                + tables.map {
                    try "\($0) \(database.fetchAll(Int.self, SQL(unsafe: "SELECT count(*) FROM \"\($0)\""))) rows"
                }
        }
    }

    @Test(.slow, .once)
    func killedMigrationResumes() async throws {
        let whole = directory.file("whole.db")
        _ = try migrate(whole)
        let trials = RandomTrials("kills of a migration", "CIPHERDB_MIGRATION_KILLS", rounds: 4)
        var random = trials.random
        // Each of them once in a torture run; always the first and the last.
        let killed = Set([0, 199] + (0..<200).shuffled(using: &random).prefix(max(0, trials.rounds - 2))).sorted()
        for number in killed {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, number = number as Int] in
                let steps = (0..<200).map { step in
                    MigrationTests.step(step) { if $0 == number { kill(getpid(), SIGKILL) } }
                }
                let queue = try DatabaseQueue(path: path, key: MigrationTests.key)
                try queue.inDatabase { try $0.migrate(steps) }
            }
            let database = try open()
            #expect(try database.completedMigrations.count == number)
            database.close()
        }
        #expect(try migrate(path) == ["step 199"])
        #expect(try content(path) == content(whole))
    }
}

/// A database whose steps GRDB noted, and one that both libraries go on with.
@Suite struct GRDBMigrationTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
    }

    static let steps = ["v1", "v2", "v3"].map { name in
        Migration(name) { try $0.executeStatements("CREATE TABLE \(identifier: name) (a)") }
    }

    /// As the program left it that used GRDB.
    private func makeOld(_ names: [String]) throws {
        try database.executeStatements("CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        for name in names {
            try database.executeUpdate("INSERT INTO grdb_migrations VALUES (?)", name)
            try database.executeStatements("CREATE TABLE \(identifier: name) (a)")
        }
    }

    private func noted(_ table: TableName, _ column: String) throws -> [String] {
        try database.fetchAll(String.self, "SELECT \(identifier: column) FROM \(identifier: table) ORDER BY rowid")
    }

    @Test(arguments: [
        [], ["v1"], ["v1", "v2"], ["v1", "v2", "v3"], ["v2"], ["v1", "later"], ["v1", "v2", "v3", "later"],
    ])
    func stepsGoOnInBothTables(before: [String]) throws {
        try makeOld(before)
        let missing = ["v1", "v2", "v3"].filter { !before.contains($0) }
        #expect(try database.pendingMigrations(of: Self.steps, options: .grdb) == missing)
        #expect(try database.migrate(Self.steps, options: .grdb) == missing)
        #expect(try noted("grdb_migrations", "identifier") == before + missing)
        #expect(try database.completedMigrations.map(\.name) == before + missing)
        let changes = try database.int(forQuery: "SELECT total_changes()")
        #expect(
            try database.migrate(Self.steps, options: .grdb) == []
                && database.int(forQuery: "SELECT total_changes()") == changes
        )
        // The old program went on meanwhile.
        try database.executeUpdate("INSERT INTO grdb_migrations VALUES ('old again')")
        #expect(try database.migrate(Self.steps, options: .grdb) == [])
        #expect(try database.completedMigrations.map(\.name) == before + missing + ["old again"])
    }

    @Test func newInstallHasBothTables() throws {
        #expect(try database.migrate(Self.steps, options: .grdb) == ["v1", "v2", "v3"])
        #expect(try noted("grdb_migrations", "identifier") == ["v1", "v2", "v3"])
        #expect(try noted("cipherdb_migrations", "name") == ["v1", "v2", "v3"])
    }

    @Test func eachToleranceIsChosen() throws {
        try makeOld(["v2", "later"])
        #expect {
            try database.migrate([Self.steps[1]], options: .sharedWithGRDB)
        } throws: {
            ($0 as? MigrationError)?.code == .databaseIsNewer
        }
        #expect {
            try database.migrate(Self.steps, options: [.sharedWithGRDB, .ignoresUnknown])
        } throws: {
            ($0 as? MigrationError)?.code == .outOfOrder
        }
        #expect(try noted("grdb_migrations", "identifier") == ["v2", "later"])
        // Without the option GRDB's table is not looked at, and the first step finds nothing behind it.
        #expect(try database.pendingMigrations(of: Self.steps) == ["v1", "v2", "v3"])
    }

    @Test func failedStepIsNotedNowhere() throws {
        try makeOld(["v1"])
        let broken = Migration("broken") { try $0.executeStatements("CREATE TABLE v1 (a)") }
        #expect { try database.migrate([Self.steps[0], broken], options: .grdb) } throws: {
            ($0 as? MigrationError)?.code == .failed
        }
        #expect(try noted("grdb_migrations", "identifier") == ["v1"] && database.completedMigrations.isEmpty)
    }
}
