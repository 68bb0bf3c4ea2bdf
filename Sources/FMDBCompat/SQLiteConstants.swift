// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names and numbers are SQLite's own (sqlite.org/c3ref/c_open_autoproxy.html, sqlite.org/rescode.html, sqlite.org/c3ref/c_blob.html),
// as code written against FMDB has them. Disfavoured: beside a module of SQLite's own, whose they are, they would be ambiguous.

// MARK: Flags for opening

/// Opens for reading only (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_READONLY: Int32 = 0x1
/// Opens for reading and writing (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_READWRITE: Int32 = 0x2
/// Makes the file where it does not exist (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_CREATE: Int32 = 0x4
/// Takes the path for a URI (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_URI: Int32 = 0x40
/// A database in memory; the path is only a name (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_MEMORY: Int32 = 0x80
/// No lock for each connection; so it is here in any case (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_NOMUTEX: Int32 = 0x8000
/// One lock for each connection; here a connection is one thread's at a time in any case (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FULLMUTEX: Int32 = 0x10000
/// Without meaning here: a connection without the key would read what another has decrypted (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_SHAREDCACHE: Int32 = 0x20000
/// A cache of its own; so it is here in any case (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_PRIVATECACHE: Int32 = 0x40000
/// Of SQLite's own (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_WAL: Int32 = 0x80000
/// Refuses a symbolic link (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_NOFOLLOW: Int32 = 0x1000000
/// Of Apple's SQLite, without meaning here (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FILEPROTECTION_COMPLETE: Int32 = 0x100000
/// Of Apple's SQLite, without meaning here (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FILEPROTECTION_COMPLETEUNLESSOPEN: Int32 = 0x200000
/// Of Apple's SQLite, without meaning here (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FILEPROTECTION_COMPLETEUNTILFIRSTUSERAUTHENTICATION: Int32 = 0x300000
/// Of Apple's SQLite, without meaning here (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FILEPROTECTION_NONE: Int32 = 0x400000
/// Of Apple's SQLite, without meaning here (SQLite's number).
@_disfavoredOverload public let SQLITE_OPEN_FILEPROTECTION_MASK: Int32 = 0x700000

/// Taken and left out.
let SQLITE_OPEN_WITHOUT_MEANING =
    SQLITE_OPEN_MEMORY | SQLITE_OPEN_SHAREDCACHE | SQLITE_OPEN_WAL | SQLITE_OPEN_FILEPROTECTION_MASK

// MARK: Result codes and kinds of values

/// Success (SQLite's number).
@_disfavoredOverload public let SQLITE_OK: Int32 = 0
/// A mistake in the SQL, or another failure (SQLite's number).
@_disfavoredOverload public let SQLITE_ERROR: Int32 = 1
/// A fault of SQLite (SQLite's number).
@_disfavoredOverload public let SQLITE_INTERNAL: Int32 = 2
/// No permission (SQLite's number).
@_disfavoredOverload public let SQLITE_PERM: Int32 = 3
/// A callback ended it (SQLite's number).
@_disfavoredOverload public let SQLITE_ABORT: Int32 = 4
/// Another connection is in the way (SQLite's number).
@_disfavoredOverload public let SQLITE_BUSY: Int32 = 5
/// A table is locked by the same connection (SQLite's number).
@_disfavoredOverload public let SQLITE_LOCKED: Int32 = 6
/// No memory (SQLite's number).
@_disfavoredOverload public let SQLITE_NOMEM: Int32 = 7
/// The database cannot be written (SQLite's number).
@_disfavoredOverload public let SQLITE_READONLY: Int32 = 8
/// It was interrupted (SQLite's number).
@_disfavoredOverload public let SQLITE_INTERRUPT: Int32 = 9
/// The system failed to read or write (SQLite's number).
@_disfavoredOverload public let SQLITE_IOERR: Int32 = 10
/// The file is damaged (SQLite's number).
@_disfavoredOverload public let SQLITE_CORRUPT: Int32 = 11
/// Something is not there (SQLite's number).
@_disfavoredOverload public let SQLITE_NOTFOUND: Int32 = 12
/// The disk is full (SQLite's number).
@_disfavoredOverload public let SQLITE_FULL: Int32 = 13
/// The file cannot be opened (SQLite's number).
@_disfavoredOverload public let SQLITE_CANTOPEN: Int32 = 14
/// A fault of the locks (SQLite's number).
@_disfavoredOverload public let SQLITE_PROTOCOL: Int32 = 15
/// Not used by SQLite (SQLite's number).
@_disfavoredOverload public let SQLITE_EMPTY: Int32 = 16
/// The schema changed (SQLite's number).
@_disfavoredOverload public let SQLITE_SCHEMA: Int32 = 17
/// A value is too large (SQLite's number).
@_disfavoredOverload public let SQLITE_TOOBIG: Int32 = 18
/// A constraint is violated (SQLite's number).
@_disfavoredOverload public let SQLITE_CONSTRAINT: Int32 = 19
/// A value of the wrong kind (SQLite's number).
@_disfavoredOverload public let SQLITE_MISMATCH: Int32 = 20
/// A mistake in the program (SQLite's number).
@_disfavoredOverload public let SQLITE_MISUSE: Int32 = 21
/// The file is too large for the system (SQLite's number).
@_disfavoredOverload public let SQLITE_NOLFS: Int32 = 22
/// The statement was refused (SQLite's number).
@_disfavoredOverload public let SQLITE_AUTH: Int32 = 23
/// Not used by SQLite (SQLite's number).
@_disfavoredOverload public let SQLITE_FORMAT: Int32 = 24
/// No such parameter or column (SQLite's number).
@_disfavoredOverload public let SQLITE_RANGE: Int32 = 25
/// The file is no database, or the key is wrong (SQLite's number).
@_disfavoredOverload public let SQLITE_NOTADB: Int32 = 26
/// A notice (SQLite's number).
@_disfavoredOverload public let SQLITE_NOTICE: Int32 = 27
/// A warning (SQLite's number).
@_disfavoredOverload public let SQLITE_WARNING: Int32 = 28
/// There is a row (SQLite's number).
@_disfavoredOverload public let SQLITE_ROW: Int32 = 100
/// There are no more rows (SQLite's number).
@_disfavoredOverload public let SQLITE_DONE: Int32 = 101
/// A kind of value (SQLite's number).
@_disfavoredOverload public let SQLITE_INTEGER: Int32 = 1
/// A kind of value (SQLite's number).
@_disfavoredOverload public let SQLITE_FLOAT: Int32 = 2
/// A kind of value (SQLite's number).
@_disfavoredOverload public let SQLITE_TEXT: Int32 = 3
/// A kind of value (SQLite's number).
@_disfavoredOverload public let SQLITE_BLOB: Int32 = 4
/// A kind of value (SQLite's number).
@_disfavoredOverload public let SQLITE_NULL: Int32 = 5
