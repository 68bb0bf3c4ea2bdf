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

/// A migration step that was run.
public struct CompletedMigration: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// When it was run, by the clock of that machine.
    public let date: Date
}

/// Why a database was not migrated. It is as it was before the step that failed.
public enum MigrationError: Error, Sendable {
    /// Two steps have this name.
    case duplicateName(String)
    /// The database has these steps behind it, beyond all those that the program has: a later version of the program made it.
    case databaseIsNewer(unknown: [String])
    /// The database has the first step behind it where the program has the second.
    case renamed(from: String, to: String)
    /// The database has a step behind it that the program does not have any more.
    case removed(String)
    /// A step was not done, and one behind it was: new steps come last.
    case outOfOrder(pending: String, completed: String)
    /// A step threw.
    case failed(step: String, any Error)
    /// A step would leave a row of `table` that refers to one of `parent` that is not there.
    case foreignKeyViolated(step: String, table: String, rowID: Int64?, parent: String)
    /// Before the step there was a row of `table` that refers to one of `parent` that is not there, and the step leaves it.
    case foreignKeyViolatedBefore(step: String, table: String, rowID: Int64?, parent: String)
    /// A step committed or rolled back. What it committed stays, and it does not count as done.
    case transactionEnded(step: String)
}

extension MigrationError: CustomStringConvertible {
    /// The cause, and what to do.
    public var description: String {
        switch self {
        case .duplicateName(let name): "two migrations have the name \(name)"
        case .databaseIsNewer(let unknown):
            "the database was migrated by a newer version of this program, which has the migrations \(unknown.joined(separator: ", ")); use that version"
        case .renamed(let old, let new):
            "the database has completed \(old), which this program does not have, and has not completed \(new): restore the old "
                + "name of a renamed migration, and add new ones at the end"
        case .removed(let name):
            "completed migration \(name) is missing from the program; restore it"
        case .outOfOrder(let pending, let completed):
            "migration \(pending) comes before \(completed), which is already completed; move it to the end"
        case .failed(let step, let error): "migration \(step) failed: \(error)"
        case .foreignKeyViolated(let step, let table, let rowID, let parent):
            "migration \(step) leaves a row of \(table)\(rowID.map { " (\($0))" } ?? "") whose foreign key matches no row of \(parent)"
        case .foreignKeyViolatedBefore(let step, let table, let rowID, let parent):
            "a row of \(table)\(rowID.map { " (\($0))" } ?? "") has a foreign key that matches no row of \(parent), and had it before "
                + "migration \(step): delete or mend such rows in that migration or before it"
        case .transactionEnded(let step):
            "migration \(step) committed or rolled back; it runs in a transaction that it must leave open"
        }
    }
}
