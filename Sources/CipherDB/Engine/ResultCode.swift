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

    /// `SQLITE_OK`
    public static let ok = ResultCode(rawValue: 0)
    /// `SQLITE_ERROR`: an error in the SQL, or any without a code of its own.
    public static let error = ResultCode(rawValue: 1)
    /// `SQLITE_ABORT`: ended by a callback, or the row under a blob was changed.
    public static let aborted = ResultCode(rawValue: 4)
    /// `SQLITE_BUSY`: another connection holds a lock.
    public static let busy = ResultCode(rawValue: 5)
    /// `SQLITE_LOCKED`: a lock within the same connection.
    public static let locked = ResultCode(rawValue: 6)
    /// `SQLITE_NOMEM`
    public static let outOfMemory = ResultCode(rawValue: 7)
    /// `SQLITE_READONLY`
    public static let readOnly = ResultCode(rawValue: 8)
    /// `SQLITE_INTERRUPT`: stopped by ``Database/interrupt()``.
    public static let interrupted = ResultCode(rawValue: 9)
    /// `SQLITE_IOERR`
    public static let inputOutput = ResultCode(rawValue: 10)
    /// `SQLITE_CORRUPT`
    public static let corrupt = ResultCode(rawValue: 11)
    /// `SQLITE_FULL`: no room on the disk.
    public static let full = ResultCode(rawValue: 13)
    /// `SQLITE_CANTOPEN`
    public static let cannotOpen = ResultCode(rawValue: 14)
    /// `SQLITE_TOOBIG`
    public static let tooBig = ResultCode(rawValue: 18)
    /// `SQLITE_CONSTRAINT`
    public static let constraint = ResultCode(rawValue: 19)
    /// `SQLITE_MISMATCH`: a value of a kind that does not fit; also used by CipherDB when a column is read as another type.
    public static let mismatch = ResultCode(rawValue: 20)
    /// `SQLITE_MISUSE`: used by CipherDB for calls that make no sense, such as one on a closed database.
    public static let misuse = ResultCode(rawValue: 21)
    /// `SQLITE_AUTH`
    public static let notAuthorized = ResultCode(rawValue: 23)
    /// `SQLITE_RANGE`: used by CipherDB for a parameter or column that does not exist.
    public static let range = ResultCode(rawValue: 25)
    /// `SQLITE_NOTADB`; ``KeyError`` says what it hides.
    public static let notADatabase = ResultCode(rawValue: 26)
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
