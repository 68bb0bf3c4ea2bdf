// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names and numbers are SQLite's own (sqlite.org/rescode.html, sqlite.org/c3ref/c_blob.html), as code written against FMDB has them. Disfavoured:
// beside a module of SQLite's own, whose they are, they would be ambiguous.

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
