internal import CSQLCipher
internal import CipherPages

/// One `sqlite3_stmt`: the only owner of it, so that it is finalised once and never used after.
final class PreparedStatement {
    let sql: String
    private let connection: Connection
    /// The schemas that it reads, other than that of temporary tables.
    private let schemas: [String]
    /// Those whose pages are watched, in this execution.
    private var watches: [DamageWatch] = []
    /// ``Connection/cacheMisses`` when the pages were last looked at.
    private var misses: Int32 = 0
    let isReadOnly: Bool
    private var handle: OpaquePointer?
    /// Whether it was stepped and neither finished nor reset: then it may hold a lock.
    private(set) var isRunning = false
    /// Raised with each beginning and end, so that a result set of an earlier execution notices.
    private(set) var execution = 0
    /// Whether an execution began and did not end.
    private var isActive = false
    /// Whether the engine runs it at this moment, and a function that it calls may want to end it.
    private var isStepping = false
    private var afterStep: AfterStep?

    private enum AfterStep {
        case end, finalize
    }

    init(_ handle: OpaquePointer, sql: String, reading schemas: [String], connection: Connection) {
        self.handle = handle
        self.sql = sql
        self.connection = connection
        self.schemas = schemas
        isReadOnly = sqlite3_stmt_readonly(handle) != 0
    }

    deinit {
        finalize()
    }

    func finalize() {
        guard let handle else { return }
        guard !isStepping else { return afterStep = .finalize }
        reset()
        setActive(false)
        connection.forget(handle)
        sqlite3_finalize(handle)
        self.handle = nil
    }

    /// Begins an execution: new values can be bound, and an earlier result set ends.
    func begin() throws(DatabaseError) {
        _ = try live()
        guard !isStepping else { throw misuseWhileStepping }
        guard !connection.isBackupTarget else {
            throw DatabaseError(.busy, "a backup is writing over this database; wait for its end", sql: sql)
        }
        execution += 1
        reset()
        clearBindings()
        setActive(true)
    }

    /// Ends the execution: no lock held, no value kept.
    func end() {
        guard !isStepping else { return afterStep = afterStep ?? .end }
        execution += 1
        reset()
        clearBindings()
        setActive(false)
    }

    func endIfActive() {
        if isActive { end() }
    }

    private func setActive(_ active: Bool) {
        guard active != isActive else { return }
        isActive = active
        connection.activeStatements += active ? 1 : -1
    }

    var isFinalized: Bool { handle == nil }

    /// Whether it may hold a lock, or is being run.
    var isInUse: Bool { isRunning || isStepping }

    /// The handle, which is there until ``finalize()``.
    func live() throws(DatabaseError) -> OpaquePointer {
        guard let handle else {
            throw DatabaseError(.misuse, "the statement's database was closed", sql: sql)
        }
        return handle
    }

    /// Goes to the next row; false at the end. What is wrong is thrown once, and the statement is reset.
    ///
    /// - Throws: what a function written in Swift threw; else ``DatabaseError``.
    func step() throws -> Bool {
        let handle = try live()
        guard !isStepping else { throw misuseWhileStepping }
        try watch()
        isStepping = true
        let code = sqlite3_step(handle)
        isStepping = false
        isRunning = code == SQLITE_ROW
        try connection.closeIfAsked(sql: sql)
        if let wanted = afterStep {
            afterStep = nil
            if wanted == .end { end() } else { finalize() }
            throw DatabaseError(.misuse, "a function ended the statement that called it", sql: sql)
        }
        switch code {
        case SQLITE_ROW:
            try checkWatched()
            return true
        case SQLITE_DONE:
            // What was written and committed keeps no lock; where it was read from the same database, the commit would have failed.
            if isReadOnly || connection.isInTransaction { try checkWatched() }
            reset()
            return false
        default:
            let error = connection.error(code, sql: sql)
            reset()
            if let thrown = connection.takeCallbackError() { throw thrown }
            // Messages of these may quote a value: json_extract and MATCH do, and VACUUM INTO names its file.
            guard [.error, .cannotOpen].contains(error.code.primary), parameterCount > 0 else { throw error }
            throw DatabaseError(
                error.code,
                "the statement failed on one of its values; SQLite's message is not shown, as it may quote it",
                sql: sql
            )
        }
    }

    private var misuseWhileStepping: DatabaseError {
        DatabaseError(.misuse, "a function runs the statement that called it", sql: sql)
    }

    /// Back to before the first row; bound values stay.
    func reset() {
        let code = sqlite3_reset(handle)
        // After a row it is the failure of a commit, such as that of an INSERT … RETURNING that is left at its first row. Else it
        // repeats what the last step threw.
        if isRunning, code != SQLITE_OK { connection.lateFailure = connection.error(code, sql: sql) }
        endWatch()
        isRunning = false
    }

    // MARK: Damage

    private func watch() throws(DatabaseError) {
        guard connection.isWatched, !schemas.isEmpty else { return }
        do throws(DatabaseError) {
            if watches.isEmpty {
                for schema in schemas {
                    guard let watch = try connection.damageWatch(schema) else { continue }
                    watch.begin()
                    watches.append(watch)
                }
                misses = connection.cacheMisses
            }
            // What writes has a lock of its own.
            if isReadOnly { for watch in watches { try watch.hold(sql) } }
        } catch {
            reset()
            throw error
        }
    }

    /// Throws where a page that was read is damaged.
    private func checkWatched() throws(DatabaseError) {
        guard !watches.isEmpty, connection.cacheMisses != misses else { return }
        do throws(DatabaseError) {
            for watch in watches { try watch.check(sql) }
            misses = connection.cacheMisses
        } catch {
            // What comes of its end is not told beside this.
            isRunning = false
            reset()
            throw error
        }
    }

    private func endWatch() {
        for watch in watches { watch.end() }
        watches.removeAll(keepingCapacity: true)
    }

    /// Forgets the bound values, which may be secret.
    func clearBindings() {
        // Other than most, these functions do not look whether they are given a statement.
        if let handle { sqlite3_clear_bindings(handle) }
    }

    var dateFormat: DateFormat? { connection.dateFormat }

    // MARK: Shape

    var columnCount: Int { Int(sqlite3_column_count(handle)) }
    var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

    func columnName(_ column: Int) -> String {
        handle.flatMap { sqlite3_column_name($0, Int32(column)) }.map { String(cString: $0) } ?? ""
    }

    /// The name of parameter `index`, counted from 1, with its prefix; nil for `?`.
    func parameterName(_ index: Int) -> String? {
        handle.flatMap { sqlite3_bind_parameter_name($0, Int32(index)) }.map { String(cString: $0) }
    }

    // MARK: Binding, parameters counted from 1

    func bindNull(at index: Int) throws(DatabaseError) {
        try connection.check(sqlite3_bind_null(try live(), Int32(index)), sql: sql)
    }

    func bind(_ value: Int64, at index: Int) throws(DatabaseError) {
        try connection.check(sqlite3_bind_int64(try live(), Int32(index), value), sql: sql)
    }

    func bind(_ value: Double, at index: Int) throws(DatabaseError) {
        try connection.check(sqlite3_bind_double(try live(), Int32(index), value), sql: sql)
    }

    func bind(_ value: String, at index: Int) throws(DatabaseError) {
        let handle = try live()
        var value = value
        let code = value.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { text in
                // The length is given, so a NUL inside the text is a character like any other.
                sqlite3_bind_text64(
                    handle,
                    Int32(index),
                    text.baseAddress,
                    UInt64(text.count),
                    csqlcipher_transient(),
                    UInt8(SQLITE_UTF8)
                )
            }
        }
        try connection.check(code, sql: sql)
    }

    func bind(blob bytes: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        let handle = try live()
        // A null pointer would bind NULL instead of a blob without bytes.
        let code =
            bytes.isEmpty
            ? sqlite3_bind_zeroblob(handle, Int32(index), 0)
            : sqlite3_bind_blob64(handle, Int32(index), bytes.baseAddress, UInt64(bytes.count), csqlcipher_transient())
        try connection.check(code, sql: sql)
    }

    /// Binds text that the engine does not copy; it must stay until the statement has run.
    func bind(secret bytes: UnsafeRawBufferPointer, at index: Int) throws(DatabaseError) {
        if bytes.isEmpty { return try bind("", at: index) }
        let handle = try live()
        let code = bytes.withMemoryRebound(to: CChar.self) { text in
            sqlite3_bind_text64(handle, Int32(index), text.baseAddress, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
        }
        try connection.check(code)
    }

    /// Binds text as it stands in a file, also such as is not valid.
    func bind(text bytes: UnsafeRawBufferPointer, _ encoding: TextEncoding, at index: Int) throws(DatabaseError) {
        // A null pointer would bind NULL instead of an empty text.
        if bytes.isEmpty { return try bind("", at: index) }
        let handle = try live()
        let code = bytes.withMemoryRebound(to: CChar.self) { text in
            sqlite3_bind_text64(
                handle,
                Int32(index),
                text.baseAddress,
                UInt64(text.count),
                csqlcipher_transient(),
                UInt8(encoding.rawValue)
            )
        }
        try connection.check(code, sql: sql)
    }

    /// Binds a column of another statement's row, of whatever kind it is.
    func bind(columnOf other: PreparedStatement, _ column: Int, at index: Int) throws(DatabaseError) {
        let value = sqlite3_column_value(try other.live(), Int32(column))
        try connection.check(sqlite3_bind_value(try live(), Int32(index), value), sql: sql)
    }

    // MARK: Columns of the current row, counted from 0

    func storageClass(_ column: Int) -> StorageClass {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    func integer(_ column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }

    func real(_ column: Int) -> Double {
        sqlite3_column_double(handle, Int32(column))
    }

    /// The value as text, which SQLite converts where it is a number; nil for NULL and for bytes that are not UTF-8.
    func text(_ column: Int) -> String? {
        guard let start = sqlite3_column_text(handle, Int32(column)) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return String(validating: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The value as text ended by a NUL; the pointer is good until the next step.
    func utf8(_ column: Int) -> UnsafePointer<UInt8>? {
        sqlite3_column_text(handle, Int32(column))
    }

    /// The bytes of a blob or text; the pointer is good until the next step.
    func withBytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let start = sqlite3_column_blob(handle, Int32(column))
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }
}

/// The kinds of value that SQLite stores (sqlite.org/datatype3.html).
public enum StorageClass: String, Sendable, Hashable {
    /// A signed 64-bit integer.
    case integer
    /// A 64-bit floating-point number.
    case real
    /// A string.
    case text
    /// Bytes.
    case blob
    /// No value.
    case null
}
