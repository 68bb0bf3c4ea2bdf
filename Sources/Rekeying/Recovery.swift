internal import CipherPages

/// What was saved of a damaged database, and what is missing.
public struct Recovery: Sendable, Equatable {
    /// The new file.
    public let file: Rewritten
    /// The numbers of the pages of the old file that are not what was written, from 1.
    public let damagedPages: [Int]
    /// Each table with pages of its own, in the order of the schema; those of virtual tables are among them.
    public let tables: [Table]
    /// Whether the definitions of all tables, indexes, views and triggers were found.
    public let isSchemaWhole: Bool
    /// Rows whose table is not known; nil where there are none.
    public let unassignedRows: UnassignedRows?
    /// What is defined in the schema and could not be made, such as a unique index on rows that are not unique any more.
    public let failures: [Failure]
    /// What is wrong with the journal or log of the old file, and what SQLite's own integrity check finds in the new one, a
    /// line each: full-text indexes that lack entries.
    public let problems: [String]

    /// Whether nothing is missing.
    public var isComplete: Bool {
        isSchemaWhole && unassignedRows == nil && failures.isEmpty && problems.isEmpty
            && tables.allSatisfy(\.isComplete)
    }

    /// What was saved of one table.
    public struct Table: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Rows in the new file.
        public internal(set) var rows = 0
        /// Rows of which a part stood on a page that is lost; they are not in the new file.
        public internal(set) var brokenRows = 0
        /// Rows that the table's constraints refused, because an older image of them was found too, or they are not what
        /// the table takes.
        public internal(set) var refusedRows = 0
        /// Pages that are lost, with the rows on them or the way to other pages.
        public internal(set) var lostPages = 0
        /// The row identifiers that may be missing, in tables that have them: what the lost pages led to.
        public internal(set) var missingRowIDs: [ClosedRange<Int64>] = []

        /// Whether nothing is missing.
        public var isComplete: Bool { brokenRows == 0 && refusedRows == 0 && lostPages == 0 }

        init(name: String) {
            self.name = name
        }

        mutating func count(_ wasInserted: Bool) {
            if wasInserted { rows += 1 } else { refusedRows += 1 }
        }

        mutating func note(_ outcome: Salvage.Outcome, hasRowIDs: Bool) {
            brokenRows += outcome.brokenRows
            lostPages += outcome.gaps.count
            guard hasRowIDs else { return }
            missingRowIDs = outcome.gaps.compactMap { gap in
                let first = gap.low.map { $0 == .max ? $0 : $0 + 1 } ?? .min
                let last = gap.high ?? .max
                return first <= last ? first...last : nil
            }
        }
    }

    /// Rows that stood on pages of which nothing says whose they are.
    public struct UnassignedRows: Sendable, Equatable {
        /// The table in the new file that has them, in the form of SQLite's own `.recover`: the page, the number of
        /// fields, the row identifier, and the fields.
        public let table: String
        /// Rows in it.
        public internal(set) var rows = 0
        /// Rows of which a part stood on a page that is lost.
        public internal(set) var brokenRows = 0

        init(table: String) {
            self.table = table
        }
    }

    /// An object of the schema that is not in the new file.
    public struct Failure: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// What the engine says.
        public let reason: String
    }
}
