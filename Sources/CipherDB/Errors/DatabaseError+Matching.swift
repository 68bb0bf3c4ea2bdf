// Codes to match errors by: `catch DatabaseError.constraintUnique`, `case .busy:` in a `switch`.
extension ResultCode {
    /// Whether an error of any type is a ``DatabaseError`` with this code, or of its kind: `constraint` matches each of its extended codes.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        (error as? DatabaseError).map { pattern ~= $0.code } ?? false
    }
}

extension DatabaseError {
    /// Whether the error has this code, or one of its kind.
    public static func ~= (pattern: ResultCode, error: DatabaseError) -> Bool { pattern ~= error.code }
}

extension DatabaseError {
    /// Matches errors with ``ResultCode/error``.
    public static var error: ResultCode { .error }
    /// Matches errors with ``ResultCode/aborted``.
    public static var aborted: ResultCode { .aborted }
    /// Matches errors with ``ResultCode/busy``.
    public static var busy: ResultCode { .busy }
    /// Matches errors with ``ResultCode/locked``.
    public static var locked: ResultCode { .locked }
    /// Matches errors with ``ResultCode/outOfMemory``.
    public static var outOfMemory: ResultCode { .outOfMemory }
    /// Matches errors with ``ResultCode/readOnly``.
    public static var readOnly: ResultCode { .readOnly }
    /// Matches errors with ``ResultCode/interrupted``.
    public static var interrupted: ResultCode { .interrupted }
    /// Matches errors with ``ResultCode/inputOutput``.
    public static var inputOutput: ResultCode { .inputOutput }
    /// Matches errors with ``ResultCode/corrupt``.
    public static var corrupt: ResultCode { .corrupt }
    /// Matches errors with ``ResultCode/full``.
    public static var full: ResultCode { .full }
    /// Matches errors with ``ResultCode/cannotOpen``.
    public static var cannotOpen: ResultCode { .cannotOpen }
    /// Matches errors with ``ResultCode/tooBig``.
    public static var tooBig: ResultCode { .tooBig }
    /// Matches errors with ``ResultCode/constraint``.
    public static var constraint: ResultCode { .constraint }
    /// Matches errors with ``ResultCode/mismatch``.
    public static var mismatch: ResultCode { .mismatch }
    /// Matches errors with ``ResultCode/misuse``.
    public static var misuse: ResultCode { .misuse }
    /// Matches errors with ``ResultCode/notAuthorized``.
    public static var notAuthorized: ResultCode { .notAuthorized }
    /// Matches errors with ``ResultCode/range``.
    public static var range: ResultCode { .range }
    /// Matches errors with ``ResultCode/notADatabase``.
    public static var notADatabase: ResultCode { .notADatabase }
    /// Matches errors with ``ResultCode/abortedByRollback``.
    public static var abortedByRollback: ResultCode { .abortedByRollback }
    /// Matches errors with ``ResultCode/busyRecovery``.
    public static var busyRecovery: ResultCode { .busyRecovery }
    /// Matches errors with ``ResultCode/busySnapshot``.
    public static var busySnapshot: ResultCode { .busySnapshot }
    /// Matches errors with ``ResultCode/busyTimeout``.
    public static var busyTimeout: ResultCode { .busyTimeout }
    /// Matches errors with ``ResultCode/cannotOpenDirectory``.
    public static var cannotOpenDirectory: ResultCode { .cannotOpenDirectory }
    /// Matches errors with ``ResultCode/cannotOpenSymbolicLink``.
    public static var cannotOpenSymbolicLink: ResultCode { .cannotOpenSymbolicLink }
    /// Matches errors with ``ResultCode/constraintCheck``.
    public static var constraintCheck: ResultCode { .constraintCheck }
    /// Matches errors with ``ResultCode/constraintCommitHook``.
    public static var constraintCommitHook: ResultCode { .constraintCommitHook }
    /// Matches errors with ``ResultCode/constraintForeignKey``.
    public static var constraintForeignKey: ResultCode { .constraintForeignKey }
    /// Matches errors with ``ResultCode/constraintFunction``.
    public static var constraintFunction: ResultCode { .constraintFunction }
    /// Matches errors with ``ResultCode/constraintNotNull``.
    public static var constraintNotNull: ResultCode { .constraintNotNull }
    /// Matches errors with ``ResultCode/constraintPrimaryKey``.
    public static var constraintPrimaryKey: ResultCode { .constraintPrimaryKey }
    /// Matches errors with ``ResultCode/constraintTrigger``.
    public static var constraintTrigger: ResultCode { .constraintTrigger }
    /// Matches errors with ``ResultCode/constraintUnique``.
    public static var constraintUnique: ResultCode { .constraintUnique }
    /// Matches errors with ``ResultCode/constraintVirtualTable``.
    public static var constraintVirtualTable: ResultCode { .constraintVirtualTable }
    /// Matches errors with ``ResultCode/constraintRowID``.
    public static var constraintRowID: ResultCode { .constraintRowID }
    /// Matches errors with ``ResultCode/constraintDataType``.
    public static var constraintDataType: ResultCode { .constraintDataType }
    /// Matches errors with ``ResultCode/corruptVirtualTable``.
    public static var corruptVirtualTable: ResultCode { .corruptVirtualTable }
    /// Matches errors with ``ResultCode/corruptIndex``.
    public static var corruptIndex: ResultCode { .corruptIndex }
    /// Matches errors with ``ResultCode/inputOutputRead``.
    public static var inputOutputRead: ResultCode { .inputOutputRead }
    /// Matches errors with ``ResultCode/inputOutputShortRead``.
    public static var inputOutputShortRead: ResultCode { .inputOutputShortRead }
    /// Matches errors with ``ResultCode/inputOutputWrite``.
    public static var inputOutputWrite: ResultCode { .inputOutputWrite }
    /// Matches errors with ``ResultCode/inputOutputSync``.
    public static var inputOutputSync: ResultCode { .inputOutputSync }
    /// Matches errors with ``ResultCode/inputOutputDelete``.
    public static var inputOutputDelete: ResultCode { .inputOutputDelete }
    /// Matches errors with ``ResultCode/inputOutputLock``.
    public static var inputOutputLock: ResultCode { .inputOutputLock }
    /// Matches errors with ``ResultCode/lockedSharedCache``.
    public static var lockedSharedCache: ResultCode { .lockedSharedCache }
    /// Matches errors with ``ResultCode/readOnlyRecovery``.
    public static var readOnlyRecovery: ResultCode { .readOnlyRecovery }
    /// Matches errors with ``ResultCode/readOnlyRollback``.
    public static var readOnlyRollback: ResultCode { .readOnlyRollback }
    /// Matches errors with ``ResultCode/readOnlyMoved``.
    public static var readOnlyMoved: ResultCode { .readOnlyMoved }
    /// Matches errors with ``ResultCode/readOnlyDirectory``.
    public static var readOnlyDirectory: ResultCode { .readOnlyDirectory }
}
