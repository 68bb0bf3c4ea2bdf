#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A step that changes the schema of a database from one version of a program to the next.
///
/// ```swift
/// let steps = [
///     Migration("notes") { database in
///         try database.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
///     },
///     Migration("notes have a due date") { database in
///         try database.executeStatements("ALTER TABLE notes ADD COLUMN due TEXT")
///     },
/// ]
/// try pool.migrate(steps)
/// ```
///
/// A step that was released is never changed, renamed, moved or taken away: new ones are added behind it.
public struct Migration: Sendable {
    /// What it is known by in the database, for ever.
    public let name: String
    let body: @Sendable (Database) throws -> Void

    /// A step of this name.
    ///
    /// - Parameters:
    ///   - name: What it is known by in the database, for ever.
    ///   - body: What it does, in a transaction that it neither commits nor rolls back. Foreign keys are not enforced in it, so that
    ///     tables can be rebuilt, and no rows are deleted by cascade; all of them are checked at its end.
    public init(_ name: String, _ body: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.body = body
    }
}

/// How the steps of a program meet those that a database has behind it.
public struct MigrationOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: Int

    /// Options by their bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Steps in GRDB's table `grdb_migrations` are behind the database, too, and each one that is noted stands in both tables afterwards:
    /// the version of the program that used GRDB goes on with the database, too.
    public static let sharedWithGRDB = MigrationOptions(rawValue: 1)
    /// A step behind the database that the program does not have is left alone, in place of `MigrationError.databaseIsNewer`.
    public static let ignoresUnknown = MigrationOptions(rawValue: 2)
    /// A step is run although one behind it was, in place of `MigrationError.outOfOrder`.
    public static let ignoresOrder = MigrationOptions(rawValue: 4)
    /// As GRDB's `DatabaseMigrator` does it.
    public static let grdb: MigrationOptions = [.sharedWithGRDB, .ignoresUnknown, .ignoresOrder]
}

/// A migration step that was run.
public struct CompletedMigration: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// When it was run, by the clock of that machine.
    public let date: Date
}

extension Database {
    /// Runs the steps that the database does not have behind it, in order, each in a transaction of its own, which also notes it in the
    /// table `cipherdb_migrations`. Killed at any moment, it goes on the next time where it was. Several processes may do it at once.
    ///
    /// - Parameters:
    ///   - steps: All steps of the program, in order.
    ///   - options: How they meet those that the database has behind it.
    /// - Returns: the names of the steps that were run.
    /// - Throws: ``MigrationError``: the steps before the one that failed stay done; ``DatabaseError``, also in a transaction;
    ///   ``KeyError``.
    @discardableResult
    public func migrate(_ steps: [Migration], options: MigrationOptions = []) throws -> [String] {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        // Nothing is written, and nobody waited for, where there is nothing to do.
        let isDone = try pendingMigrations(of: steps, options: options).isEmpty
        guard try !isDone || options.contains(.sharedWithGRDB) && !isReadOnly && notesDiffer() else { return [] }
        guard !isInTransaction else {
            throw DatabaseError(.misuse, "migrate outside of a transaction, so that each step can have its own")
        }
        return try takingLong {
            guard isDone else { return try run(steps, options) }
            try inTransaction { try $0.shareNotes() }
            return []
        }
    }

    private func run(_ steps: [Migration], _ options: MigrationOptions) throws -> [String] {
        try withoutForeignKeys { enforced in
            var run: [String] = []
            for step in steps {
                let wasRun = try blamingOldRows(step) {
                    try inTransaction { try $0.perform(step, of: steps, options, checksForeignKeys: enforced) }
                }
                guard wasRun else { continue }
                run.append(step.name)
                instruments.migrated(step.name)
            }
            return run
        }
    }

    /// Runs `body` with foreign keys off, and has them enforced again where they were, whatever happens.
    private func withoutForeignKeys<Result>(_ body: (_ enforced: Bool) throws -> Result) throws -> Result {
        // An interruption lasts as long as one of them is open.
        closeOpenResultSets()
        let enforced = try bool(forQuery: "PRAGMA foreign_keys") ?? false
        // Within a transaction this would do nothing.
        try executeStatements("PRAGMA foreign_keys = OFF")
        let result = Swift.Result { try body(enforced) }
        if enforced {
            closeOpenResultSets()
            abandonTransaction()
            _ = connection?.takeDeferredError()
            try? connection?.setForeignKeys(true)
            guard (try? bool(forQuery: "PRAGMA foreign_keys")) == true else {
                close()
                throw DatabaseError(
                    .error,
                    "foreign keys could not be enforced again after a migration; the database is closed"
                )
            }
        }
        return try result.get()
    }

    /// The steps that the database has behind it, in the order in which they were done.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public var completedMigrations: [CompletedMigration] {
        get throws {
            guard try hasTable("cipherdb_migrations") else { return [] }
            let rows = try executeQuery("SELECT name, completed FROM main.cipherdb_migrations ORDER BY position")
            var completed: [CompletedMigration] = []
            while try rows.next() {
                completed.append(CompletedMigration(name: try rows[0], date: Date(timeIntervalSince1970: try rows[1])))
            }
            return completed
        }
    }

    private func hasTable(_ name: String) throws -> Bool {
        try bool(forQuery: "SELECT 1 FROM main.sqlite_master WHERE type = 'table' AND name = ?", name) == true
    }

    /// The steps in GRDB's table, in the order in which they were noted.
    private func stepsOfGRDB() throws -> [String] {
        guard try hasTable("grdb_migrations") else { return [] }
        return try fetchAll(String.self, "SELECT identifier FROM main.grdb_migrations ORDER BY rowid")
    }

    /// Whether one of the tables lacks a step that the other has.
    private func notesDiffer() throws -> Bool {
        try Set(stepsOfGRDB()) != Set(completedMigrations.map(\.name)) || !hasTable("grdb_migrations")
    }

    /// Notes each step of one table in the other, and a new one behind them in both.
    private func shareNotes(and step: String? = nil) throws {
        try makeTableOfSteps()
        let completed = try completedMigrations.map(\.name)
        for step in try stepsOfGRDB() where !completed.contains(step) { try note(step) }
        if let step { try note(step) }
        try executeUpdate("CREATE TABLE IF NOT EXISTS main.grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        try executeUpdate(
            "INSERT OR IGNORE INTO main.grdb_migrations SELECT name FROM main.cipherdb_migrations ORDER BY position"
        )
    }

    private func makeTableOfSteps() throws {
        try executeUpdate(
            """
            CREATE TABLE IF NOT EXISTS main.cipherdb_migrations
            (position INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, completed REAL NOT NULL)
            """
        )
    }

    /// Notes a step in the library's table.
    private func note(_ step: String) throws {
        try executeUpdate(
            "INSERT INTO main.cipherdb_migrations (name, completed) VALUES (?, ?)",
            step,
            Date().timeIntervalSince1970
        )
    }

    /// The names of the steps that ``migrate(_:options:)`` would run.
    ///
    /// - Throws: ``MigrationError`` where it would refuse; ``DatabaseError``, ``KeyError``.
    public func pendingMigrations(of steps: [Migration], options: MigrationOptions = []) throws -> [String] {
        let names = steps.map(\.name)
        for (index, name) in names.enumerated() where names[..<index].contains(name) {
            throw MigrationError(.duplicateName, path: path, step: name)
        }
        var completed = try completedMigrations.map(\.name)
        if options.contains(.sharedWithGRDB) {
            let others = try stepsOfGRDB()
            completed = others + completed.filter { !others.contains($0) }
        }
        if options.contains(.ignoresUnknown) {
            completed.removeAll { !names.contains($0) }
        } else {
            try checkKnown(completed, names)
        }
        if options.contains(.ignoresOrder) { return names.filter { !completed.contains($0) } }
        for (name, done) in zip(names, completed) where name != done {
            throw MigrationError(.outOfOrder, path: path, step: name, completed: done)
        }
        return Array(names.dropFirst(completed.count))
    }

    /// Throws where the database has a step behind it that the program does not have.
    private func checkKnown(_ completed: [String], _ names: [String]) throws(MigrationError) {
        guard let index = completed.firstIndex(where: { !names.contains($0) }) else { return }
        if index >= names.count {
            throw MigrationError(.databaseIsNewer, path: path, unknown: completed.filter { !names.contains($0) })
        }
        let isRenamed = !completed.contains(names[index])
        throw MigrationError(
            isRenamed ? .renamed : .removed,
            path: path,
            step: names[index],
            unknown: [completed[index]]
        )
    }

    /// Runs a step, unless another connection did meanwhile; returns whether it did.
    private func perform(
        _ step: Migration,
        of steps: [Migration],
        _ options: MigrationOptions,
        checksForeignKeys: Bool
    ) throws -> Bool {
        guard try pendingMigrations(of: steps, options: options).contains(step.name) else { return false }
        // It is gone where the step ended its transaction, even if it began another one.
        let savePoint = nextSavePointName()
        try startSavePoint(withName: savePoint)
        do {
            try step.body(self)
        } catch let error as DatabaseError where error == .transactionEnded {
            throw MigrationError(.transactionEnded, path: path, step: step.name)
        } catch {
            throw MigrationError(.failed, path: path, step: step.name, cause: error)
        }
        closeOpenResultSets()
        guard isInTransaction, (try? releaseSavePoint(withName: savePoint)) != nil else {
            throw MigrationError(.transactionEnded, path: path, step: step.name)
        }
        if checksForeignKeys, let row = try brokenForeignKey(after: step) {
            throw MigrationError(
                .foreignKeyViolated,
                path: path,
                step: step.name,
                table: row.table,
                rowID: row.rowID,
                parent: row.parent
            )
        }
        if options.contains(.sharedWithGRDB) {
            try shareNotes(and: step.name)
        } else {
            try makeTableOfSteps()
            try note(step.name)
        }
        return true
    }

    /// Runs a step, and where it is refused for a row that was there before, says so.
    private func blamingOldRows<Result>(_ step: Migration, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as MigrationError {
            // All that the step did is undone.
            guard error.code == .foreignKeyViolated, let row = try brokenForeignKey(after: step) else { throw error }
            throw MigrationError(
                .foreignKeyViolatedBefore,
                path: path,
                step: step.name,
                table: row.table,
                rowID: row.rowID,
                parent: row.parent
            )
        }
    }

    /// A row whose foreign key matches none.
    private func brokenForeignKey(after step: Migration) throws -> (table: String, rowID: Int64?, parent: String)? {
        do {
            let broken = try executeQuery("PRAGMA foreign_key_check")
            defer { broken.close() }
            return try broken.next() ? (broken[0], broken[1], broken[2]) : nil
        } catch let error as DatabaseError where error.code == .error {
            throw MigrationError(.foreignKeyMismatch, path: path, step: step.name, cause: error)
        }
    }
}
