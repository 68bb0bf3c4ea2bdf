// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names are SQLite's own, as code written against FMDB has them.

/// Opens for reading only (SQLite's number).
public let SQLITE_OPEN_READONLY: Int32 = 0x1
/// Opens for reading and writing (SQLite's number).
public let SQLITE_OPEN_READWRITE: Int32 = 0x2
/// Makes the file where it does not exist (SQLite's number).
public let SQLITE_OPEN_CREATE: Int32 = 0x4
/// Takes the path for a URI (SQLite's number).
public let SQLITE_OPEN_URI: Int32 = 0x40
/// One lock for each connection (SQLite's number); here a connection is one thread's at a time in any case.
public let SQLITE_OPEN_FULLMUTEX: Int32 = 0x10000
/// No lock for each connection (SQLite's number); so it is here in any case.
public let SQLITE_OPEN_NOMUTEX: Int32 = 0x8000
