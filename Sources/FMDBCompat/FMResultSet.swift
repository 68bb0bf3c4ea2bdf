internal import CipherDB
public import Foundation

/// FMDB's `FMResultSet`: the rows of a query, one after the other, with FMDB's ways of calling.
///
/// A column that is not there reads as nil, 0 or false, as in FMDB. `ResultSet` throws instead.
open class FMResultSet {
    /// That of its database; nil for a set without one.
    private let turn: Turn?
    /// ``turn``, without the count of references that each column would pay for.
    private let uncountedTurn: Unmanaged<Turn>?
    private let lastCall: FMDatabase.LastCall?
    // For each `@exclusivity(unchecked)`: the turn of the database keeps other threads out, and it is read and written at once.
    @exclusivity(unchecked) private weak var database: FMDatabase?
    private let sql: String?
    /// The database; nil once it is gone or the set was closed.
    public var parentDB: FMDatabase? { inTurn(or: nil) { database } }
    /// The SQL.
    public var query: String? { sql }

    /// Of ``FMDatabase/prepare(_:)``; nil once it was closed.
    @exclusivity(unchecked) private var prepared: Statement?
    @exclusivity(unchecked) private var rows: ResultSet? {
        didSet {
            if !found.isEmpty { found = [:] }
            rowsOnRow = nil
        }
    }
    /// ``rows``, while they have a current row, without the count of references that each column would pay for.
    @exclusivity(unchecked) private var rowsOnRow: Unmanaged<ResultSet>?
    private var isOnRow: Bool { rowsOnRow != nil }

    /// A result set without rows, as of a query that was closed.
    public init() {
        turn = nil
        uncountedTurn = nil
        lastCall = nil
        sql = nil
    }

    init(_ rows: ResultSet, _ database: FMDatabase, _ sql: String) {
        turn = database.turn
        uncountedTurn = .passUnretained(database.turn)
        lastCall = database.lastCall
        self.rows = rows
        self.database = database
        self.sql = sql
    }

    init(prepared: Statement?, _ database: FMDatabase, _ sql: String) {
        turn = database.turn
        uncountedTurn = .passUnretained(database.turn)
        lastCall = database.lastCall
        self.prepared = prepared
        self.database = prepared == nil ? nil : database
        self.sql = sql
    }

    @inline(__always) private func enterIfFree() -> Turn.Stay? {
        uncountedTurn?._withUnsafeGuaranteedRef { $0.enterIfFree() }
    }

    @inline(__always) private func leave(_ stay: Turn.Stay) {
        uncountedTurn?._withUnsafeGuaranteedRef { $0.leave(stay) }
    }

    /// Runs `body` as one call; `refused`, and nothing happens, where the calling thread must not use the database.
    private func inTurn<Result>(or refused: Result, _ body: () -> Result) -> Result {
        guard let stay = enterIfFree() else { return refused }
        defer { leave(stay) }
        return body()
    }

    var isPreparedAndOpen: Bool { prepared != nil }

    /// Ends it. Closing twice does nothing.
    open func close() {
        inTurn(or: ()) { closeNow() }
    }

    private func closeNow() {
        rows?.close()
        rows = nil
        prepared = nil
        database = nil
    }

    // MARK: Rows

    /// Goes to the next row; false after the last and where something went wrong, which `lastErrorCode()` then says.
    @discardableResult open func next() -> Bool {
        (try? nextWithError()) ?? false
    }

    /// Goes to the next row; false after the last.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`; 21 where the set is closed.
    @discardableResult open func nextWithError() throws -> Bool {
        let stay: Turn.Stay
        do {
            stay = try uncountedTurn?._withUnsafeGuaranteedRef { try $0.enter() } ?? .inner
        } catch {
            throw FMDatabase.error(FMDatabase.databaseError(error))
        }
        defer { leave(stay) }
        do {
            return try advance()
        } catch {
            guard let database else { throw FMDatabase.error(FMDatabase.databaseError(error)) }
            throw database.noted(error)
        }
    }

    private func advance() throws -> Bool {
        // A prepared set without parameters need not be bound.
        let rows = try current()
        if lastCall?.failure != nil { lastCall?.failure = nil }
        rowsOnRow = nil
        if try rows.next() {
            rowsOnRow = .passUnretained(rows)
            return true
        }
        self.rows = nil
        if prepared == nil { database = nil }
        return false
    }

    private func current() throws -> ResultSet {
        if let rows { return rows }
        guard let prepared else { throw DatabaseError(code: .misuse, message: "the result set is closed") }
        let rows = try prepared.executeQuery()
        self.rows = rows
        return rows
    }

    /// Runs a prepared statement that returns no rows. True where it came to its end.
    @discardableResult open func step() -> Bool {
        (try? stepWithError()) ?? false
    }

    /// Runs a prepared statement that returns no rows. True where it came to its end.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    @discardableResult open func stepWithError() throws -> Bool {
        try !nextWithError()
    }

    /// Whether the last call gave a row.
    open func hasAnotherRow() -> Bool { inTurn(or: false) { isOnRow } }

    // MARK: Prepared statements

    /// Gives a prepared statement its values, as many as it has parameters, and makes it ready to run.
    @discardableResult open func bind(with array: [Any]) -> Bool {
        bind { try $0.executeQuery(values: Arguments.list(array)) }
    }

    /// Gives a prepared statement values for its named parameters, and makes it ready to run.
    @discardableResult open func bind(with dictionary: [AnyHashable: Any]) -> Bool {
        bind { try $0.executeQuery(values: Arguments.dictionary(dictionary)) }
    }

    private func bind(_ body: (Statement) throws -> ResultSet) -> Bool {
        inTurn(or: false) {
            guard let prepared, let database else { return false }
            rows = nil
            return database.attempt { rows = try body(prepared) }
        }
    }

    // MARK: Columns

    /// How many columns there are; 0 once it is closed.
    public var columnCount: Int32 { inTurn(or: 0) { Int32(clamping: names.count) } }

    private var names: [String] { rows?.columnNames ?? prepared?.columnNames ?? [] }
    /// The indices that were asked for so far, of the columns of ``rows``.
    @exclusivity(unchecked) private var found = [String: Int32]()

    /// The index of each column, an `NSNumber`, by its name in small letters; of two with one name, the last. Changes to it do nothing.
    public var columnNameToIndexMap: NSMutableDictionary {
        let map = NSMutableDictionary()
        for (name, index) in inTurn(or: [:], { self.indices }) as [String: Int32] {
            map[NSString(string: name)] = NSNumber(value: index)
        }
        return map
    }

    private var indices: [String: Int32] {
        Dictionary(names.enumerated().map { ($1.lowercased(), Int32($0)) }) { _, last in last }
    }

    /// The index of the column with this name, whatever the case of its letters; of two with one name, as in FMDB, the last; -1 where there
    /// is none.
    open func columnIndex(forName columnName: String) -> Int32 {
        guard let stay = enterIfFree() else { return -1 }
        defer { leave(stay) }
        if let index = found[columnName] { return index }
        guard let index = indices[columnName.lowercased()] else { return -1 }
        if rows != nil { found[columnName] = index }
        return index
    }

    /// The name of a column; nil where there is none.
    open func columnName(for columnIdx: Int32) -> String? {
        inTurn(or: nil) { names.indices.contains(Int(columnIdx)) ? names[Int(columnIdx)] : nil }
    }

    /// The current row's value in a column, read by SQLite's own conversions; nil where there is no row or no column.
    @inline(__always) func raw<Value>(_ index: Int32, _ read: (RawColumn) -> Value?) -> Value? {
        guard let uncountedTurn, let stay = uncountedTurn._withUnsafeGuaranteedRef({ $0.enterIfFree() }) else {
            return nil
        }
        defer { uncountedTurn._withUnsafeGuaranteedRef { $0.leave(stay) } }
        guard let column = rowsOnRow?._withUnsafeGuaranteedRef({ $0.rawColumn(Int(index)) }) else { return nil }
        return read(column)
    }

    /// The current row by the columns' names, with NSNull for NULL; of two columns with one name, the last. Nil where
    /// there is no row.
    public var resultDictionary: [AnyHashable: Any]? {
        guard let turn, let stay = turn.enterIfFree() else { return nil }
        defer { turn.leave(stay) }
        guard isOnRow else { return nil }
        let values = names.indices.map { object(forColumnIndex: Int32($0)) ?? NSNull() }
        return Dictionary(zip(names.map { AnyHashable($0) }, values)) { _, last in last }
    }
}
