public import CipherKeys

/// Why a database was not migrated: `catch MigrationError.databaseIsNewer`. It is as it was before the step that failed.
public struct MigrationError: CodedError {
    /// The cause.
    public let code: ErrorCode<MigrationError>
    /// The path of the database.
    public let path: String
    /// The name of the program's step that the error is about.
    public let step: String?
    /// The steps behind the database that the program does not have, of `databaseIsNewer`, `renamed` and
    /// `removed`.
    public let unknown: [String]
    /// The step that was completed in its place, of `outOfOrder`.
    public let completed: String?
    /// What the step threw, of `failed`; what SQLite said, of `foreignKeyMismatch`.
    public let cause: (any Error)?
    /// The table that has the row, of `foreignKeyViolated` and `foreignKeyViolatedBefore`.
    public let table: String?
    /// The row ID of the row; nil in a table without them.
    public let rowID: Int64?
    /// The table that the row refers to.
    public let parent: String?

    package init(
        _ code: ErrorCode<MigrationError>,
        path: String?,
        step: String? = nil,
        unknown: [String] = [],
        completed: String? = nil,
        cause: (any Error)? = nil,
        table: String? = nil,
        rowID: Int64? = nil,
        parent: String? = nil
    ) {
        self.code = code
        self.path = path ?? ""
        self.step = step
        self.unknown = unknown
        self.completed = completed
        self.cause = cause
        self.table = table
        self.rowID = rowID
        self.parent = parent
    }

    fileprivate var row: String { "row of \(given: table)\(rowID.map { " (\($0))" } ?? "")" }
}

extension ErrorCode where Failure == MigrationError {
    /// Two steps have this name.
    public static var duplicateName: Self { Self { "two migrations have the name \(given: $0.step)" } }
    /// The database has these steps behind it, beyond all those that the program has: a later version of the program made it.
    public static var databaseIsNewer: Self {
        Self {
            "the database was migrated by a newer version of this program, which has the migrations "
                + "\($0.unknown.joined(separator: ", ")); use that version"
        }
    }
    /// The database has an unknown step behind it where the program has this one.
    public static var renamed: Self {
        Self {
            "the database has completed \(given: $0.unknown.first), which this program does not have, and has not completed "
                + "\(given: $0.step): restore the old name of a renamed migration, and add new ones at the end"
        }
    }
    /// The database has a step behind it that the program does not have any more.
    public static var removed: Self {
        Self { "completed migration \(given: $0.unknown.first) is missing from the program; restore it" }
    }
    /// A step was not done, and one behind it was: new steps come last.
    public static var outOfOrder: Self {
        Self {
            "migration \(given: $0.step) comes before \(given: $0.completed), which is already completed; move it to the end"
        }
    }
    /// A step threw.
    public static var failed: Self { Self { "migration \(given: $0.step) failed: \(given: $0.cause)" } }
    /// A step would leave a row that refers to one that is not there.
    public static var foreignKeyViolated: Self {
        Self {
            "migration \(given: $0.step) leaves a \($0.row) whose foreign key matches no row of \(given: $0.parent)"
        }
    }
    /// Before the step there was a row that refers to one that is not there, and the step leaves it.
    public static var foreignKeyViolatedBefore: Self {
        Self {
            "a \($0.row) has a foreign key that matches no row of \(given: $0.parent), and had it before migration \(given: $0.step): "
                + "delete or mend such rows in that migration or before it"
        }
    }
    /// A foreign key of the schema refers to columns that are not unique, so that none can be checked after the step.
    public static var foreignKeyMismatch: Self {
        Self {
            "foreign keys cannot be checked after migration \(given: $0.step): \(given: $0.cause); "
                + "give the columns that one refers to a unique index, in that migration or before it"
        }
    }
    /// A step committed or rolled back. What it committed stays, and it does not count as done.
    public static var transactionEnded: Self {
        Self {
            "migration \(given: $0.step) committed or rolled back; it runs in a transaction that it must leave open"
        }
    }
}
