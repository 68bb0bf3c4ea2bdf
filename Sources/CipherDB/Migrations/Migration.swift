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
