internal import CipherDB
internal import CipherKeys
public import Foundation
internal import SystemSupport

/// FMDB's `FMDatabase`, with FMDB's ways of calling, over CipherDB's `Database`.
///
/// Functions answer with a Bool, and ``lastErrorMessage()`` and ``lastErrorCode()`` say what went wrong in the last of
/// them. As in FMDB a file that no key is given for is in plaintext. New code is better off with `Database`, which throws.
open class FMDatabase {
    /// The path as it was given; nil for a database in memory, empty for a temporary one.
    public let databasePath: String?
    /// Whether errors are written to standard error: their code and message, never SQL or values.
    public var logsErrors = true
    /// Whether an error ends the program.
    public var crashOnErrors = false
    /// Whether each statement is written to standard error, without its values.
    public var traceExecution = false {
        didSet { installTrace() }
    }
    /// For the queue or pool that owns the database; not read here.
    public var checkedOut = false
    /// Whether compiled statements are kept: the hundred used last. On unless set, other than in FMDB.
    public var shouldCacheStatements = true {
        didSet { database.statementCacheCapacity = shouldCacheStatements ? 100 : 0 }
    }

    var database: Database {
        didSet { rememberInterrupter() }
    }
    /// For other threads; FMDB's programs call `interrupt` from them.
    private let interrupter = Lock<Interrupter?>(nil)
    /// Set by the first `setKey`, whatever came of it: from then on nothing is read or written in plaintext.
    var requiresKey = false
    var failure: DatabaseError?
    /// The formatter that dates are stored with.
    var dateFormatter: DateFormatter?
    /// How the file is opened again by a queue: with the key that was verified last.
    var access: VerifiedKey?
    var preparedSets: [Weak] = []

    struct Weak {
        weak var set: FMResultSet?
    }

    /// A database that is not opened yet.
    ///
    /// - Parameter path: The file; nil for a database in memory, empty for a temporary one.
    public required init(path: String?) {
        databasePath = path
        database = Database(path: path, configuration: FMDatabase.configuration(vfs: nil, allowsPlaintext: true))
    }

    /// A database that is not opened yet, named by a file URL; nil for one in memory.
    public convenience init(url: URL?) {
        self.init(path: url?.path)
    }

    /// A database in memory.
    public convenience init() {
        self.init(path: nil)
    }

    /// A database in memory, or of a file.
    public class func database(withPath path: String?) -> Self { self.init(path: path) }

    /// A database of a file, or in memory.
    public class func database(with url: URL?) -> Self { self.init(path: url?.path) }

    private static func configuration(vfs: String?, allowsPlaintext: Bool) -> Configuration {
        Configuration {
            // FMDB knows no other way to a file than to open it and perhaps give a key.
            $0.allowsPlaintext = allowsPlaintext
            $0.busyTimeout = .seconds(2)
            // As in FMDB, and in the files of programs that come from there.
            $0.enforcesForeignKeys = false
            $0.trustsSchema = true
            $0.dateFormat = .secondsSince1970
            $0.vfs = vfs
        }
    }

    /// A database of a class that a queue or pool names; of this one where that is no class of databases.
    static func ofClass(_ name: AnyClass, path: String?) -> FMDatabase {
        (name as? FMDatabase.Type ?? FMDatabase.self).init(path: path)
    }

    /// The file as a URL; nil for a database in memory.
    public var databaseURL: URL? { databasePath.map { URL(fileURLWithPath: $0) } }

    /// Whether it is open.
    public var isOpen: Bool { database.isOpen }

    /// Opens the file, for reading and writing, and makes it where it does not exist. Opening twice does nothing.
    @discardableResult open func open() -> Bool {
        openFile(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
    }

    /// Opens the file with SQLite's flags.
    @discardableResult open func open(withFlags flags: Int32) -> Bool {
        open(withFlags: flags, vfs: nil)
    }

    /// Opens the file with SQLite's flags, and its interface to the file system of that name.
    @discardableResult open func open(withFlags flags: Int32, vfs: String?) -> Bool {
        openFile(flags, vfs)
    }

    private func openFile(_ flags: Int32, _ vfs: String?) -> Bool {
        attempt {
            let present = database.configuration
            if !database.isOpen, vfs != present.vfs || present.allowsPlaintext == requiresKey {
                let interval = maxBusyRetryTimeInterval
                database = Database(
                    path: databasePath,
                    configuration: FMDatabase.configuration(vfs: vfs, allowsPlaintext: !requiresKey)
                )
                maxBusyRetryTimeInterval = interval
                database.statementCacheCapacity = shouldCacheStatements ? 100 : 0
                setDateFormat(dateFormatter)
                installTrace()
            }
            try database.open(flags: OpenFlags(rawValue: flags))
            rememberInterrupter()
        }
    }

    func rememberInterrupter() {
        let present = database.interrupter
        interrupter.withLock { $0 = present }
    }

    /// Closes it, ending its result sets; functions made on it go too. Closing twice does nothing. Always true.
    @discardableResult open func close() -> Bool {
        for entry in preparedSets { entry.set?.close() }
        preparedSets = []
        database.close()
        rememberInterrupter()
        // As in FMDB: a function that refers to its database would keep it for ever.
        database.forgetRegistrations()
        failure = nil
        return true
    }

    /// Whether it is open, keyed where it must be, and a page can be read.
    public var goodConnection: Bool { database.goodConnection }

    /// The engine's `sqlite3` handle, for what FMDB does not have either; nil where the database cannot be used.
    public var sqliteHandle: UnsafeMutableRawPointer? {
        try? database.withUnsafeHandle { UnsafeMutableRawPointer($0) }
    }

    /// The row identifier of the last row inserted.
    public var lastInsertRowId: Int64 { database.lastInsertRowID }

    /// How many rows the last INSERT, UPDATE or DELETE changed.
    public var changes: Int32 { Int32(clamping: database.changes) }

    /// Stops the statement that runs; from any thread. True where the database is open.
    @discardableResult public func interrupt() -> Bool {
        guard let present = interrupter.withLock({ $0 }) else { return false }
        present.interrupt()
        return true
    }

    /// How long a statement waits for a lock, in seconds; 2 unless set.
    public var maxBusyRetryTimeInterval: TimeInterval {
        get { Double(database.busyTimeout / .milliseconds(1)) / 1000 }
        set {
            let seconds: Double = max(0, min(newValue, 2_000_000))
            database.busyTimeout = .milliseconds(Int64(seconds * 1000))
        }
    }

    /// A limit by SQLite's number, set unless `value` is below 0; the one before, or -1 where the database is not open.
    @discardableResult public func limit(for type: Int32, value: Int32) -> Int32 {
        guard let limit = Limit(rawValue: type) else { return -1 }
        let before = answer { () -> Int in
            guard value >= 0 else { return try database.limit(limit) }
            return try database.setLimit(limit, to: Int(value))
        }
        return Int32(clamping: before ?? -1)
    }

    /// Whether SQLite was built for threads. Always: CipherDB needs it.
    public class func isSQLiteThreadSafe() -> Bool { true }

    /// The version of SQLite, such as `3.46.1`.
    public class func sqliteLibVersion() -> String { Engine.current.sqliteVersion }

    /// The version of FMDB whose surface this is.
    public class func fmdbUserVersion() -> String { "2.7.12" }

    private func installTrace() {
        guard traceExecution else { return database.setTrace(nil) }
        database.setTrace { event in
            if case .began(let sql) = event { FMDatabase.log("executes: \(sql)") }
        }
    }

    static func log(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data("FMDB: \(text)\n".utf8))
    }
}

/// One thread or task at a time uses it; a queue or pool shares a file.
@available(*, unavailable)
extension FMDatabase: Sendable {}
