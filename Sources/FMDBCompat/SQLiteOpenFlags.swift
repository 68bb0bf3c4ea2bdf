// swift-format-ignore-file: AlwaysUseLowerCamelCase
// The names and numbers are SQLite's own (sqlite.org/c3ref/c_open_autoproxy.html), as code written against FMDB has them. Disfavoured:
// beside a module of SQLite's own, whose they are, they would be ambiguous.

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
