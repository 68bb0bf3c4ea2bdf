/// SQLite's result codes, primary and extended (sqlite.org/rescode.html).
public struct ResultCode: RawRepresentable, Sendable, Hashable {
    /// The number SQLite uses.
    public let rawValue: Int32

    /// A code by SQLite's number.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The primary code: the low eight bits.
    public var primary: ResultCode { ResultCode(rawValue: rawValue & 0xff) }

    // Computed: a key path to a static `let` of another module crashes in debug builds of Swift 6.3.
    /// `SQLITE_OK`
    public static var ok: ResultCode { ResultCode(rawValue: 0) }
    /// `SQLITE_ERROR`: an error in the SQL, or any without a code of its own.
    public static var error: ResultCode { ResultCode(rawValue: 1) }
    /// `SQLITE_ABORT`: ended by a callback, or the row under a blob was changed; used by CipherDB for a block of a suspended database.
    public static var aborted: ResultCode { ResultCode(rawValue: 4) }
    /// `SQLITE_BUSY`: another connection holds a lock.
    public static var busy: ResultCode { ResultCode(rawValue: 5) }
    /// `SQLITE_LOCKED`: a lock within the same connection.
    public static var locked: ResultCode { ResultCode(rawValue: 6) }
    /// `SQLITE_NOMEM`
    public static var outOfMemory: ResultCode { ResultCode(rawValue: 7) }
    /// `SQLITE_READONLY`
    public static var readOnly: ResultCode { ResultCode(rawValue: 8) }
    /// `SQLITE_INTERRUPT`: stopped by ``Database/interrupt()``.
    public static var interrupted: ResultCode { ResultCode(rawValue: 9) }
    /// `SQLITE_IOERR`
    public static var inputOutput: ResultCode { ResultCode(rawValue: 10) }
    /// `SQLITE_CORRUPT`
    public static var corrupt: ResultCode { ResultCode(rawValue: 11) }
    /// `SQLITE_NOTFOUND`: used by CipherDB for a record without a row.
    public static var notFound: ResultCode { ResultCode(rawValue: 12) }
    /// `SQLITE_FULL`: no room on the disk.
    public static var full: ResultCode { ResultCode(rawValue: 13) }
    /// `SQLITE_CANTOPEN`
    public static var cannotOpen: ResultCode { ResultCode(rawValue: 14) }
    /// `SQLITE_TOOBIG`
    public static var tooBig: ResultCode { ResultCode(rawValue: 18) }
    /// `SQLITE_CONSTRAINT`
    public static var constraint: ResultCode { ResultCode(rawValue: 19) }
    /// `SQLITE_MISMATCH`: a value of a kind that does not fit; also used by CipherDB when a column is read as another type.
    public static var mismatch: ResultCode { ResultCode(rawValue: 20) }
    /// `SQLITE_MISUSE`: used by CipherDB for calls that make no sense, such as one on a closed database.
    public static var misuse: ResultCode { ResultCode(rawValue: 21) }
    /// `SQLITE_AUTH`
    public static var notAuthorized: ResultCode { ResultCode(rawValue: 23) }
    /// `SQLITE_RANGE`: used by CipherDB for a parameter or column that does not exist.
    public static var range: ResultCode { ResultCode(rawValue: 25) }
    /// `SQLITE_NOTADB`; ``KeyError`` says what it hides.
    public static var notADatabase: ResultCode { ResultCode(rawValue: 26) }
    /// `SQLITE_ROW`
    static let row = ResultCode(rawValue: 100)
    /// `SQLITE_DONE`
    static let done = ResultCode(rawValue: 101)
}

extension ResultCode {
    /// Matches a code, and each of its extended codes: `catch let e as DatabaseError where e.code.primary == .busy`.
    public static func ~= (pattern: ResultCode, value: ResultCode) -> Bool {
        pattern == value || pattern == value.primary
    }
}

/// Extended codes (sqlite.org/rescode.html): the low eight bits are the primary code.
extension ResultCode {
    /// `SQLITE_ABORT_ROLLBACK`: the transaction was rolled back while the statement ran.
    public static var abortedByRollback: ResultCode { ResultCode(rawValue: 516) }
    /// `SQLITE_BUSY_RECOVERY`: another process recovers the write-ahead log after a crash.
    public static var busyRecovery: ResultCode { ResultCode(rawValue: 261) }
    /// `SQLITE_BUSY_SNAPSHOT`: the transaction read before it wrote, and another connection wrote meanwhile: begin it again.
    public static var busySnapshot: ResultCode { ResultCode(rawValue: 517) }
    /// `SQLITE_BUSY_TIMEOUT`: a lock that the system waits for was not had in time.
    public static var busyTimeout: ResultCode { ResultCode(rawValue: 773) }
    /// `SQLITE_CANTOPEN_ISDIR`: the path is that of a directory.
    public static var cannotOpenDirectory: ResultCode { ResultCode(rawValue: 526) }
    /// `SQLITE_CANTOPEN_SYMLINK`: the path is that of a symbolic link.
    public static var cannotOpenSymbolicLink: ResultCode { ResultCode(rawValue: 1550) }
    /// `SQLITE_CONSTRAINT_CHECK`: a `CHECK` failed.
    public static var constraintCheck: ResultCode { ResultCode(rawValue: 275) }
    /// `SQLITE_CONSTRAINT_COMMITHOOK`: a commit hook made the commit a rollback.
    public static var constraintCommitHook: ResultCode { ResultCode(rawValue: 531) }
    /// `SQLITE_CONSTRAINT_FOREIGNKEY`: a row would refer to one that is not there.
    public static var constraintForeignKey: ResultCode { ResultCode(rawValue: 787) }
    /// `SQLITE_CONSTRAINT_FUNCTION`: a function of an extension refused.
    public static var constraintFunction: ResultCode { ResultCode(rawValue: 1043) }
    /// `SQLITE_CONSTRAINT_NOTNULL`: a column that is `NOT NULL` would be NULL.
    public static var constraintNotNull: ResultCode { ResultCode(rawValue: 1299) }
    /// `SQLITE_CONSTRAINT_PRIMARYKEY`: a row has this primary key.
    public static var constraintPrimaryKey: ResultCode { ResultCode(rawValue: 1555) }
    /// `SQLITE_CONSTRAINT_TRIGGER`: a trigger raised the error.
    public static var constraintTrigger: ResultCode { ResultCode(rawValue: 1811) }
    /// `SQLITE_CONSTRAINT_UNIQUE`: a row has this value in a column that is `UNIQUE`.
    public static var constraintUnique: ResultCode { ResultCode(rawValue: 2067) }
    /// `SQLITE_CONSTRAINT_VTAB`: a virtual table refused.
    public static var constraintVirtualTable: ResultCode { ResultCode(rawValue: 2323) }
    /// `SQLITE_CONSTRAINT_ROWID`: a row has this rowid.
    public static var constraintRowID: ResultCode { ResultCode(rawValue: 2579) }
    /// `SQLITE_CONSTRAINT_DATATYPE`: a value of another type than a column of a `STRICT` table.
    public static var constraintDataType: ResultCode { ResultCode(rawValue: 3091) }
    /// `SQLITE_CORRUPT_VTAB`: a virtual table, such as a full-text index, is damaged.
    public static var corruptVirtualTable: ResultCode { ResultCode(rawValue: 267) }
    /// `SQLITE_CORRUPT_INDEX`: an index lacks an entry, or has one too many.
    public static var corruptIndex: ResultCode { ResultCode(rawValue: 779) }
    /// `SQLITE_IOERR_READ`: reading failed.
    public static var inputOutputRead: ResultCode { ResultCode(rawValue: 266) }
    /// `SQLITE_IOERR_SHORT_READ`: the file is shorter than it was.
    public static var inputOutputShortRead: ResultCode { ResultCode(rawValue: 522) }
    /// `SQLITE_IOERR_WRITE`: writing failed.
    public static var inputOutputWrite: ResultCode { ResultCode(rawValue: 778) }
    /// `SQLITE_IOERR_FSYNC`: bringing the file to the disk failed.
    public static var inputOutputSync: ResultCode { ResultCode(rawValue: 1034) }
    /// `SQLITE_IOERR_DELETE`: removing a journal or log failed.
    public static var inputOutputDelete: ResultCode { ResultCode(rawValue: 2570) }
    /// `SQLITE_IOERR_LOCK`: locking the file failed.
    public static var inputOutputLock: ResultCode { ResultCode(rawValue: 3850) }
    /// `SQLITE_LOCKED_SHAREDCACHE`: another connection with the same cache holds the lock.
    public static var lockedSharedCache: ResultCode { ResultCode(rawValue: 262) }
    /// `SQLITE_READONLY_RECOVERY`: a write-ahead log needs recovery, and may not be written.
    public static var readOnlyRecovery: ResultCode { ResultCode(rawValue: 264) }
    /// `SQLITE_READONLY_ROLLBACK`: a rollback journal is to be played back, and the file may not be written.
    public static var readOnlyRollback: ResultCode { ResultCode(rawValue: 776) }
    /// `SQLITE_READONLY_DBMOVED`: the file was moved or removed since it was opened.
    public static var readOnlyMoved: ResultCode { ResultCode(rawValue: 1032) }
    /// `SQLITE_READONLY_DIRECTORY`: no journal can be made in the directory.
    public static var readOnlyDirectory: ResultCode { ResultCode(rawValue: 1544) }
}

extension ResultCode: CustomStringConvertible {
    /// Its name here and SQLite's number, such as `constraintUnique (2067)`.
    public var description: String { Self.names[self].map { "\($0) (\(rawValue))" } ?? "\(rawValue)" }

    /// Its name here; SQLite's number where it has none.
    var name: String { Self.names[self] ?? "\(rawValue)" }

    private static let names: [ResultCode: String] = [
        .aborted: "aborted",
        .abortedByRollback: "abortedByRollback",
        .busy: "busy",
        .busyRecovery: "busyRecovery",
        .busySnapshot: "busySnapshot",
        .busyTimeout: "busyTimeout",
        .cannotOpen: "cannotOpen",
        .cannotOpenDirectory: "cannotOpenDirectory",
        .cannotOpenSymbolicLink: "cannotOpenSymbolicLink",
        .constraint: "constraint",
        .constraintCheck: "constraintCheck",
        .constraintCommitHook: "constraintCommitHook",
        .constraintDataType: "constraintDataType",
        .constraintForeignKey: "constraintForeignKey",
        .constraintFunction: "constraintFunction",
        .constraintNotNull: "constraintNotNull",
        .constraintPrimaryKey: "constraintPrimaryKey",
        .constraintRowID: "constraintRowID",
        .constraintTrigger: "constraintTrigger",
        .constraintUnique: "constraintUnique",
        .constraintVirtualTable: "constraintVirtualTable",
        .corrupt: "corrupt",
        .corruptIndex: "corruptIndex",
        .corruptVirtualTable: "corruptVirtualTable",
        .error: "error",
        .full: "full",
        .inputOutput: "inputOutput",
        .inputOutputDelete: "inputOutputDelete",
        .inputOutputLock: "inputOutputLock",
        .inputOutputRead: "inputOutputRead",
        .inputOutputShortRead: "inputOutputShortRead",
        .inputOutputSync: "inputOutputSync",
        .inputOutputWrite: "inputOutputWrite",
        .interrupted: "interrupted",
        .locked: "locked",
        .lockedSharedCache: "lockedSharedCache",
        .mismatch: "mismatch",
        .misuse: "misuse",
        .notADatabase: "notADatabase",
        .notAuthorized: "notAuthorized",
        .ok: "ok",
        .outOfMemory: "outOfMemory",
        .range: "range",
        .readOnly: "readOnly",
        .readOnlyDirectory: "readOnlyDirectory",
        .readOnlyMoved: "readOnlyMoved",
        .readOnlyRecovery: "readOnlyRecovery",
        .readOnlyRollback: "readOnlyRollback",
        .tooBig: "tooBig",
    ]
}
