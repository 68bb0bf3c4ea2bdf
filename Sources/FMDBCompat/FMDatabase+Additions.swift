internal import CipherDB
public import Foundation

/// The first column of the first row of a query, as FMDB's Swift additions had it: nil for NULL, no row and an error.
extension FMDatabase {
    private func first<Value>(
        _ sql: String,
        _ values: [Any],
        _ read: (FMResultSet) -> Value?
    ) -> Value? {
        guard let stay = turn.enterIfFree() else {
            _ = attempt {}
            return nil
        }
        defer { turn.leave(stay) }
        guard let rows = executeQuery(sql, withArgumentsIn: values) else { return nil }
        defer { rows.close() }
        return rows.next() && !rows.columnIndexIsNull(0) ? read(rows) : nil
    }

    /// The integer, cut to 32 bits.
    public func intForQuery(_ sql: String, _ values: Any...) -> Int32? {
        first(sql, values) { $0.int(forColumnIndex: 0) }
    }
    /// The integer.
    public func longForQuery(_ sql: String, _ values: Any...) -> Int? {
        first(sql, values) { $0.long(forColumnIndex: 0) }
    }
    /// Whether the number is not 0.
    public func boolForQuery(_ sql: String, _ values: Any...) -> Bool? {
        first(sql, values) { $0.bool(forColumnIndex: 0) }
    }
    /// The number.
    public func doubleForQuery(_ sql: String, _ values: Any...) -> Double? {
        first(sql, values) { $0.double(forColumnIndex: 0) }
    }
    /// The text.
    public func stringForQuery(_ sql: String, _ values: Any...) -> String? {
        first(sql, values) { $0.string(forColumnIndex: 0) }
    }
    /// The bytes.
    public func dataForQuery(_ sql: String, _ values: Any...) -> Data? {
        first(sql, values) { $0.data(forColumnIndex: 0) }
    }
    /// The date.
    public func dateForQuery(_ sql: String, _ values: Any...) -> Date? {
        first(sql, values) { $0.date(forColumnIndex: 0) }
    }
}

extension FMDatabase {
    /// Whether the main database has a table of this name.
    @discardableResult public func tableExists(_ tableName: String) -> Bool {
        answer { try database.tableExists(tableName) } ?? false
    }

    /// All objects of the schema: type, name, tbl_name, rootpage, sql.
    @discardableResult public func getSchema() -> FMResultSet? {
        answer { FMResultSet(try database.schema(), self, "") }
    }

    /// The columns of a table: cid, name, type, notnull, dflt_value, pk.
    @discardableResult public func getTableSchema(_ tableName: String) -> FMResultSet? {
        answer { FMResultSet(try database.tableSchema(tableName), self, "") }
    }

    /// Whether a table has a column of this name.
    @discardableResult public func columnExists(_ columnName: String, inTableWithName tableName: String) -> Bool {
        answer { try database.columnExists(columnName, inTableWithName: tableName) } ?? false
    }

    /// Compiles a statement without running it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func validateSQL(_ sql: String) throws {
        try rethrowing { try database.validateSQL(statement(sql)) }
    }

    /// The number that says which application's file this is.
    public var applicationID: UInt32 {
        get { UInt32(bitPattern: answer { try database.applicationID } ?? 0) }
        set { _ = attempt { try database.setApplicationID(Int32(bitPattern: newValue)) } }
    }

    /// ``applicationID`` as four characters of Mac OS Roman's ASCII part; others are left as they are.
    public var applicationIDString: String {
        get {
            let id = applicationID
            return String(decoding: [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) }, as: UTF8.self)
        }
        set {
            let bytes = Array(newValue.utf8)
            guard bytes.count == 4, bytes.allSatisfy({ $0 < 128 }) else {
                _ = attempt {
                    throw DatabaseError(
                        code: .mismatch,
                        message: "an application's identifier has four ASCII characters"
                    )
                }
                return
            }
            applicationID = bytes.reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    /// The number that applications keep as the version of their schema.
    public var userVersion: UInt32 {
        get { UInt32(bitPattern: answer { try database.userVersion } ?? 0) }
        set { _ = attempt { try database.setUserVersion(Int32(bitPattern: newValue)) } }
    }
}

extension FMDatabase {
    /// A formatter for ``setDateFormat(_:)``, in UTC whatever the user's settings.
    public class func storeableDateFormat(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.dateFormat = format
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.locale = Locale(identifier: "en_US_POSIX")
        return formatter
    }

    /// Whether dates are stored as text.
    public func hasDateFormatter() -> Bool { inTurn(or: false) { dateFormatter != nil } }

    /// Stores dates as text of this format; nil stores seconds since 1970.
    public func setDateFormat(_ format: DateFormatter?) {
        guard let stay = turn.enterIfFree() else { return }
        defer { turn.leave(stay) }
        dateFormatter = format
        database.dateFormat =
            format.map { format in
                DateFormat(string: { format.string(from: $0) }, date: { format.date(from: $0) })
            } ?? .secondsSince1970
    }

    /// The date that a text stands for; nil without a formatter.
    public func date(from text: String) -> Date? { inTurn(or: nil) { dateFormatter?.date(from: text) } }

    /// The text for a date; nil without a formatter.
    public func string(from date: Date) -> String? { inTurn(or: nil) { dateFormatter?.string(from: date) } }
}

/// FMDB before 2.7.
extension FMDatabase {
    /// Whether compiled statements are kept.
    @available(*, deprecated, message: "set shouldCacheStatements")
    public func setShouldCacheStatements(_ value: Bool) { shouldCacheStatements = value }

    /// Runs a statement with an array of values; nil is none.
    @available(*, deprecated, message: "pass [] for nil")
    @_disfavoredOverload @discardableResult
    public func executeUpdate(_ sql: String, withArgumentsIn arguments: [Any]?) -> Bool {
        executeUpdate(sql, withArgumentsIn: arguments ?? [])
    }

    /// Starts a query with an array of values; nil is none.
    @available(*, deprecated, message: "pass [] for nil")
    @_disfavoredOverload @discardableResult
    public func executeQuery(_ sql: String, withArgumentsIn arguments: [Any]?) -> FMResultSet? {
        executeQuery(sql, withArgumentsIn: arguments ?? [])
    }
}

extension FMResultSet {
    /// As ``object(forColumn:)``.
    @available(*, deprecated, renamed: "object(forColumn:)")
    public func object(forColumnName columnName: String) -> Any? { object(forColumn: columnName) }
}
