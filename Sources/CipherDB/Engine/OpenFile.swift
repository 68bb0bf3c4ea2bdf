internal import CSQLCipher
internal import CipherSystem

/// That a connection of this process has a database file open, for as long as it lives.
///
/// The engine knows by file which locks its process holds, and a forked child inherits that knowledge but not the locks. A connection of its
/// own to such a file would go without them, and lose commits when the parent closes.
final class OpenFile {
    private struct Entry {
        let owner: OwnerProcess
        var count: Int
    }

    private static let entries = Lock<[[UInt64]: Entry]>([:])
    private let identity: [UInt64]
    private let owner = OwnerProcess()

    /// Nil where there is no file at the path.
    init?(_ path: String) {
        guard let identity = try? Platform.status(of: path).identity else { return nil }
        self.identity = identity
        OpenFile.entries.withLock { $0[identity, default: Entry(owner: owner, count: 0)].count += 1 }
    }

    deinit {
        // To the child's engine, the parent has the file open for ever.
        guard owner.isCurrent else { return }
        OpenFile.entries.withLock { entries in
            guard let count = entries[identity]?.count else { return }
            if count > 1 { entries[identity]?.count -= 1 } else { entries[identity] = nil }
        }
    }

    /// How many connections of this process have the file open.
    static func count(_ path: String) -> Int {
        guard let identity = try? Platform.status(of: path).identity else { return 0 }
        return entries.withLock { $0[identity]?.count ?? 0 }
    }

    /// Throws where the file was open when this process was forked.
    static func checkIsNotOfParent(_ path: String) throws {
        guard let identity = try? Platform.status(of: path).identity else { return }
        try OpenFile.entries.withLock { try $0[identity]?.owner.check(.database) }
    }
}

// Whether the file is still the one that was opened.
extension Connection {
    /// Whether the file's name is gone or belongs to another file since it was opened; false in memory.
    var hasMoved: Bool {
        var moved: Int32 = 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return moved != 0
    }

    /// Throws where ``hasMoved``: what is written into a file without a name is lost.
    func checkFile() throws(DatabaseError) {
        guard hasMoved else { return }
        throw DatabaseError(
            .cannotOpen,
            "\(filename): the file was removed or replaced since it was opened; close the database and open it again"
        )
    }
}

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
