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
    /// `SQLITE_ABORT`: ended by a callback, or the row under a blob was changed.
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
