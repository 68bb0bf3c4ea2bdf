#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A step that takes a database's schema from one version of a program to the next.
///
/// ```swift
/// let steps = [
///     Migration("notes") { database in
///         try database.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
///     },
///     Migration("notes have a due date") { database in
///         try database.executeStatements("ALTER TABLE notes ADD COLUMN due REAL")
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
    ///     tables can be made anew, and no rows are deleted for others; all of them are checked when it is done.
    public init(_ name: String, _ body: @escaping @Sendable (Database) throws -> Void) {
        self.name = name
        self.body = body
    }
}

/// A step that a database has behind it.
public struct CompletedMigration: Sendable, Hashable {
    /// Its name.
    public let name: String
    /// When it was done, by the clock of whoever did it.
    public let date: Date
}

/// Why a database was not migrated. It is as it was before the step that failed.
public enum MigrationError: Error, Sendable {
    /// Two steps have this name.
    case duplicateName(String)
    /// The database has steps behind it that are not among these: a later version of the program made it.
    case databaseIsNewer(unknown: [String])
    /// A step was not done, and one behind it was: new steps come last.
    case outOfOrder(pending: String, completed: String)
    /// A step threw.
    case failed(step: String, any Error)
    /// A step would leave a row of `table` that refers to one of `parent` that is not there.
    case foreignKeyViolated(step: String, table: String, rowID: Int64?, parent: String)
    /// A step committed or rolled back. What it committed stays, and it does not count as done.
    case transactionEnded(step: String)
}

extension MigrationError: CustomStringConvertible {
    /// What is wrong, and the way out.
    public var description: String {
        switch self {
        case .duplicateName(let name): "two migrations have the name \(name)"
        case .databaseIsNewer(let unknown):
            "the database was migrated by a later version of this program, which knows \(unknown.joined(separator: ", ")): use that one"
        case .outOfOrder(let pending, let completed):
            "the migration \(pending) stands before \(completed), which the database has behind it: put it at the end"
        case .failed(let step, let error): "the migration \(step) failed: \(error)"
        case .foreignKeyViolated(let step, let table, let rowID, let parent):
            "the migration \(step) leaves a row of \(table)\(rowID.map { " (\($0))" } ?? "") that refers to none of \(parent)"
        case .transactionEnded(let step):
            "the migration \(step) committed or rolled back; it runs in a transaction that it must leave open"
        }
    }
}
