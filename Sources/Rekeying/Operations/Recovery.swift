public import CipherSalvage

/// What was saved of a damaged database, and what is missing.
public struct Recovery: Sendable, Equatable {
    /// The new file.
    public let file: RewriteResult
    /// The numbers of the pages of the old file that are not what was written, from 1. Of those that it does not have, the first thousand.
    public let damagedPages: [Int]
    /// Those of them that the file does not have, because it ends early: all that its header counts.
    public let missingPages: Range<Int>
    /// Each table with pages of its own, in the order of the schema; those of virtual tables are among them.
    public let tables: [SalvagedTable]
    /// Whether the definitions of all tables, indexes, views and triggers were found.
    public let isSchemaWhole: Bool
    /// Rows whose table is not known; nil where there are none.
    public let unassignedRows: UnassignedRows?
    /// Virtual tables, such as full-text indexes, that were made again, because their own tables were damaged.
    public let remadeTables: [RemadeTable]
    /// What is defined in the schema and could not be made, such as a unique index on rows that are not unique any more.
    public let failures: [SkippedObject]
    /// What is wrong with the journal or log of the old file, and what SQLite's own integrity check finds in the new one, a
    /// line each.
    public let problems: [String]

    /// Whether nothing is missing.
    public var isComplete: Bool {
        isSchemaWhole && unassignedRows == nil && failures.isEmpty && problems.isEmpty
            && tables.allSatisfy(\.isComplete) && remadeTables.allSatisfy { !$0.isEmpty }
    }
}
