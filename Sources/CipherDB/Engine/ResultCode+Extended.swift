/// Extended codes (sqlite.org/rescode.html): the low eight bits are the primary code.
extension ResultCode {
    /// `SQLITE_ABORT_ROLLBACK`: the transaction was rolled back while the statement ran.
    public static let abortedByRollback = ResultCode(rawValue: 516)
    /// `SQLITE_BUSY_RECOVERY`: another process recovers the write-ahead log after a crash.
    public static let busyRecovery = ResultCode(rawValue: 261)
    /// `SQLITE_BUSY_SNAPSHOT`: the transaction read before it wrote, and another connection wrote meanwhile: begin it again.
    public static let busySnapshot = ResultCode(rawValue: 517)
    /// `SQLITE_BUSY_TIMEOUT`: a lock that the system waits for was not had in time.
    public static let busyTimeout = ResultCode(rawValue: 773)
    /// `SQLITE_CANTOPEN_ISDIR`: the path is that of a directory.
    public static let cannotOpenDirectory = ResultCode(rawValue: 526)
    /// `SQLITE_CANTOPEN_SYMLINK`: the path is that of a symbolic link.
    public static let cannotOpenSymbolicLink = ResultCode(rawValue: 1550)
    /// `SQLITE_CONSTRAINT_CHECK`: a `CHECK` failed.
    public static let constraintCheck = ResultCode(rawValue: 275)
    /// `SQLITE_CONSTRAINT_COMMITHOOK`: a commit hook made the commit a rollback.
    public static let constraintCommitHook = ResultCode(rawValue: 531)
    /// `SQLITE_CONSTRAINT_FOREIGNKEY`: a row would refer to one that is not there.
    public static let constraintForeignKey = ResultCode(rawValue: 787)
    /// `SQLITE_CONSTRAINT_FUNCTION`: a function of an extension refused.
    public static let constraintFunction = ResultCode(rawValue: 1043)
    /// `SQLITE_CONSTRAINT_NOTNULL`: a column that is `NOT NULL` would be NULL.
    public static let constraintNotNull = ResultCode(rawValue: 1299)
    /// `SQLITE_CONSTRAINT_PRIMARYKEY`: a row has this primary key.
    public static let constraintPrimaryKey = ResultCode(rawValue: 1555)
    /// `SQLITE_CONSTRAINT_TRIGGER`: a trigger raised the error.
    public static let constraintTrigger = ResultCode(rawValue: 1811)
    /// `SQLITE_CONSTRAINT_UNIQUE`: a row has this value in a column that is `UNIQUE`.
    public static let constraintUnique = ResultCode(rawValue: 2067)
    /// `SQLITE_CONSTRAINT_VTAB`: a virtual table refused.
    public static let constraintVirtualTable = ResultCode(rawValue: 2323)
    /// `SQLITE_CONSTRAINT_ROWID`: a row has this rowid.
    public static let constraintRowID = ResultCode(rawValue: 2579)
    /// `SQLITE_CONSTRAINT_DATATYPE`: a value of another type than a column of a `STRICT` table.
    public static let constraintDataType = ResultCode(rawValue: 3091)
    /// `SQLITE_CORRUPT_VTAB`: a virtual table, such as a full-text index, is damaged.
    public static let corruptVirtualTable = ResultCode(rawValue: 267)
    /// `SQLITE_CORRUPT_INDEX`: an index lacks an entry, or has one too many.
    public static let corruptIndex = ResultCode(rawValue: 779)
    /// `SQLITE_IOERR_READ`: reading failed.
    public static let inputOutputRead = ResultCode(rawValue: 266)
    /// `SQLITE_IOERR_SHORT_READ`: the file is shorter than it was.
    public static let inputOutputShortRead = ResultCode(rawValue: 522)
    /// `SQLITE_IOERR_WRITE`: writing failed.
    public static let inputOutputWrite = ResultCode(rawValue: 778)
    /// `SQLITE_IOERR_FSYNC`: bringing the file to the disk failed.
    public static let inputOutputSync = ResultCode(rawValue: 1034)
    /// `SQLITE_IOERR_DELETE`: removing a journal or log failed.
    public static let inputOutputDelete = ResultCode(rawValue: 2570)
    /// `SQLITE_IOERR_LOCK`: locking the file failed.
    public static let inputOutputLock = ResultCode(rawValue: 3850)
    /// `SQLITE_LOCKED_SHAREDCACHE`: another connection with the same cache holds the lock.
    public static let lockedSharedCache = ResultCode(rawValue: 262)
    /// `SQLITE_READONLY_RECOVERY`: a write-ahead log needs recovery, and may not be written.
    public static let readOnlyRecovery = ResultCode(rawValue: 264)
    /// `SQLITE_READONLY_ROLLBACK`: a rollback journal is to be played back, and the file may not be written.
    public static let readOnlyRollback = ResultCode(rawValue: 776)
    /// `SQLITE_READONLY_DBMOVED`: the file was moved or removed since it was opened.
    public static let readOnlyMoved = ResultCode(rawValue: 1032)
    /// `SQLITE_READONLY_DIRECTORY`: no journal can be made in the directory.
    public static let readOnlyDirectory = ResultCode(rawValue: 1544)
}
