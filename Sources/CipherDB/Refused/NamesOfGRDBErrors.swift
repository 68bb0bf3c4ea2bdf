// The patterns of GRDB, `catch DatabaseError.SQLITE_CONSTRAINT`: the compiler says what they are here.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

extension DatabaseError {
    /// Not there: see ``error``.
    @available(*, unavailable, renamed: "error")
    public static var SQLITE_ERROR: ResultCode { .error }

    /// Not there: see ``aborted``.
    @available(*, unavailable, renamed: "aborted")
    public static var SQLITE_ABORT: ResultCode { .aborted }

    /// Not there: see ``busy``.
    @available(*, unavailable, renamed: "busy")
    public static var SQLITE_BUSY: ResultCode { .busy }

    /// Not there: see ``locked``.
    @available(*, unavailable, renamed: "locked")
    public static var SQLITE_LOCKED: ResultCode { .locked }

    /// Not there: see ``outOfMemory``.
    @available(*, unavailable, renamed: "outOfMemory")
    public static var SQLITE_NOMEM: ResultCode { .outOfMemory }

    /// Not there: see ``readOnly``.
    @available(*, unavailable, renamed: "readOnly")
    public static var SQLITE_READONLY: ResultCode { .readOnly }

    /// Not there: see ``interrupted``.
    @available(*, unavailable, renamed: "interrupted")
    public static var SQLITE_INTERRUPT: ResultCode { .interrupted }

    /// Not there: see ``inputOutput``.
    @available(*, unavailable, renamed: "inputOutput")
    public static var SQLITE_IOERR: ResultCode { .inputOutput }

    /// Not there: see ``corrupt``.
    @available(*, unavailable, renamed: "corrupt")
    public static var SQLITE_CORRUPT: ResultCode { .corrupt }

    /// Not there: see ``full``.
    @available(*, unavailable, renamed: "full")
    public static var SQLITE_FULL: ResultCode { .full }

    /// Not there: see ``cannotOpen``.
    @available(*, unavailable, renamed: "cannotOpen")
    public static var SQLITE_CANTOPEN: ResultCode { .cannotOpen }

    /// Not there: see ``tooBig``.
    @available(*, unavailable, renamed: "tooBig")
    public static var SQLITE_TOOBIG: ResultCode { .tooBig }

    /// Not there: see ``constraint``.
    @available(*, unavailable, renamed: "constraint")
    public static var SQLITE_CONSTRAINT: ResultCode { .constraint }

    /// Not there: see ``mismatch``.
    @available(*, unavailable, renamed: "mismatch")
    public static var SQLITE_MISMATCH: ResultCode { .mismatch }

    /// Not there: see ``misuse``.
    @available(*, unavailable, renamed: "misuse")
    public static var SQLITE_MISUSE: ResultCode { .misuse }

    /// Not there: see ``notAuthorized``.
    @available(*, unavailable, renamed: "notAuthorized")
    public static var SQLITE_AUTH: ResultCode { .notAuthorized }

    /// Not there: see ``range``.
    @available(*, unavailable, renamed: "range")
    public static var SQLITE_RANGE: ResultCode { .range }

    /// Not there: see ``notADatabase``.
    @available(*, unavailable, renamed: "notADatabase")
    public static var SQLITE_NOTADB: ResultCode { .notADatabase }

    /// Not there: see ``busySnapshot``.
    @available(*, unavailable, renamed: "busySnapshot")
    public static var SQLITE_BUSY_SNAPSHOT: ResultCode { .busySnapshot }

    /// Not there: see ``constraintCheck``.
    @available(*, unavailable, renamed: "constraintCheck")
    public static var SQLITE_CONSTRAINT_CHECK: ResultCode { .constraintCheck }

    /// Not there: see ``constraintForeignKey``.
    @available(*, unavailable, renamed: "constraintForeignKey")
    public static var SQLITE_CONSTRAINT_FOREIGNKEY: ResultCode { .constraintForeignKey }

    /// Not there: see ``constraintNotNull``.
    @available(*, unavailable, renamed: "constraintNotNull")
    public static var SQLITE_CONSTRAINT_NOTNULL: ResultCode { .constraintNotNull }

    /// Not there: see ``constraintPrimaryKey``.
    @available(*, unavailable, renamed: "constraintPrimaryKey")
    public static var SQLITE_CONSTRAINT_PRIMARYKEY: ResultCode { .constraintPrimaryKey }

    /// Not there: see ``constraintUnique``.
    @available(*, unavailable, renamed: "constraintUnique")
    public static var SQLITE_CONSTRAINT_UNIQUE: ResultCode { .constraintUnique }
}
