internal import CSQLCipher

/// Flags for opening a database file (sqlite.org/c3ref/open.html).
public struct OpenFlags: OptionSet, Sendable {
    /// The bits that SQLite uses.
    public let rawValue: Int32

    /// Flags from SQLite's bits.
    public init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// For reading only; the file must exist.
    public static let readOnly = OpenFlags(rawValue: SQLITE_OPEN_READONLY)
    /// For reading and writing.
    public static let readWrite = OpenFlags(rawValue: SQLITE_OPEN_READWRITE)
    /// Made where it does not exist; together with ``readWrite``.
    public static let create = OpenFlags(rawValue: SQLITE_OPEN_CREATE)
    /// The path is a URI, `file:notes.db?mode=ro` (sqlite.org/uri.html). One with a key in it is refused.
    public static let uri = OpenFlags(rawValue: SQLITE_OPEN_URI)

    /// What may be asked for. Not a shared cache, through which a connection without the key would read, nor a database in
    /// memory under a file's name.
    static let possible: OpenFlags = [
        .readOnly, .readWrite, .create, .uri,
        OpenFlags(rawValue: SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_FULLMUTEX | SQLITE_OPEN_PRIVATECACHE),
        // SQLITE_OPEN_NOFOLLOW and SQLITE_OPEN_EXRESCODE, which the header of SQLite 3.15 lacks.
        OpenFlags(rawValue: 0x0300_0000),
    ]
}
