/// The rows of a query, one at a time.
///
/// It belongs to its database, and is used where that is: on another thread each call throws. It is closed at its end, by ``close()``,
/// when its statement runs again, and when the database closes; reading from it then throws.
public final class ResultSet {
    let statement: Statement
    /// What the statement prepared: converting it for each column would count a reference.
    @usableFromInline let source: RowSource
    /// The same, which the statement keeps, for calls that take less time than counting it.
    private let uncounted: Unmanaged<PreparedStatement>
    @usableFromInline let execution: Int
    /// Whether the statement goes back to the database's cache.
    private let cached: Bool
    // For each `@exclusivity(unchecked)`: the ``Turn`` of the connection keeps other threads out, and it is read and written at once.
    @exclusivity(unchecked) private var phase = Phase.stepping
    /// What the first step gave, where it was taken before ``next()``.
    @exclusivity(unchecked) private var firstStep: Result<Bool, any Error>?
    @exclusivity(unchecked) private var namesRead: ColumnNames?
    /// What reads each row as a `Decodable` type.
    @exclusivity(unchecked) private var decoderUsed: RowDecoder?
    /// How many rows there were so far.
    @exclusivity(unchecked) private(set) var rowNumber = 0

    private enum Phase {
        case stepping
        /// The first step is taken, and ``next()`` returns what it gave.
        case ahead
        case closed
    }

    init(_ statement: Statement, cached: Bool) {
        self.statement = statement
        self.cached = cached
        source = statement.prepared
        uncounted = .passUnretained(statement.prepared)
        execution = statement.prepared.execution
    }

    var prepared: PreparedStatement { statement.prepared }
    /// Whether the statement did not run again since.
    @inline(__always) private var isCurrent: Bool { uncounted._withUnsafeGuaranteedRef { $0.execution } == execution }

    deinit {
        guard phase != .closed else { return }
        if let stay = uncounted._withUnsafeGuaranteedRef({ $0.enterIfFree() }) {
            defer { leave(stay) }
            return closeNow()
        }
        let (prepared, execution, cached) = (prepared, execution, cached)
        prepared.connection.letGo {
            // The cache makes another one in the place of its own.
            if cached { prepared.finalize() } else if prepared.execution == execution { prepared.end() }
        }
    }

    @inline(__always) private func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let stay = try enter()
        defer { leave(stay) }
        return try body()
    }

    @inline(__always) @usableFromInline func enter() throws -> Turn.Stay {
        try uncounted._withUnsafeGuaranteedRef { try $0.enter() }
    }
    @inline(__always) @usableFromInline func leave(_ stay: Turn.Stay) {
        uncounted._withUnsafeGuaranteedRef { $0.leave(stay) }
    }

    /// Goes to the next row; false after the last, which also closes.
    ///
    /// - Throws: ``DatabaseError`` or ``KeyError``; an error is never taken for the end.
    public func next() throws -> Bool {
        let stay = try enter()
        defer { leave(stay) }
        do {
            guard try phase == .stepping && isCurrent ? statement.step() : takeFirstStep() else {
                closeNow()
                return false
            }
        } catch {
            closeNow()
            throw error
        }
        rowNumber += 1
        return true
    }

    /// Takes the first step, so that the columns are those of the rows: in it SQLite compiles the statement again where the schema changed.
    private func lookAhead() {
        guard phase == .stepping, rowNumber == 0, prepared.execution == execution, prepared.columnCount > 0 else {
            return
        }
        phase = .ahead
        firstStep = Result { try statement.step() }
        prepared.hideRow()
    }

    private func takeFirstStep() throws -> Bool {
        try checkOpen()
        phase = .stepping
        defer { firstStep = nil }
        let hasRow = try firstStep?.get() ?? false
        if hasRow { prepared.showRow() }
        return hasRow
    }

    /// Gives the statement and its locks back. Closing twice does nothing, nor does closing on a thread that must not use it.
    public func close() {
        guard let stay = prepared.enterIfFree() else { return }
        defer { prepared.leave(stay) }
        closeNow()
    }

    private func closeNow() {
        guard phase != .closed else { return }
        phase = .closed
        firstStep = nil
        // Else it was ended by somebody, and may run again.
        if isCurrent { uncounted._withUnsafeGuaranteedRef { $0.end() } }
        if cached { statement.database?.giveBack(statement) }
    }

    /// The names of the columns, in order; none on a thread that must not use it. Before ``next()`` this runs the statement to its first row,
    /// because only then its columns are known; where that fails there are none, and ``next()`` throws why.
    public var columnNames: [String] { (try? inTurn { names.all }) ?? [] }

    /// The number of columns, as of ``columnNames``.
    public var columnCount: Int { (try? inTurn { rowWidth > 0 ? rowWidth : names.all.count }) ?? 0 }

    @inline(__always) var names: ColumnNames { namesRead ?? readNames() }

    private func readNames() -> ColumnNames {
        lookAhead()
        // Another execution may have other columns.
        let isOfThisExecution =
            prepared.execution == execution || phase == .closed && prepared.execution == execution + 1
        guard firstStep?.error == nil, isOfThisExecution else { return ColumnNames([]) }
        let names = ColumnNames(prepared.columnNames, isSnakeCase: prepared.storage.columnsAreSnakeCase)
        namesRead = names
        return names
    }

    /// The index, counted from 0, of the column with this name; the case of its letters does not matter.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/range`` where there is none; before ``next()``, what that would throw.
    public func columnIndex(forName name: String) throws -> Int { try inTurn { try index(ofName: name) } }

    /// As ``columnIndex(forName:)``, inside of a call.
    func index(ofName name: String) throws -> Int {
        guard let index = names.index(ofKey: name) else { throw whyNoColumn(name) }
        return index
    }

    func whyNoColumn(_ name: String) -> any Error {
        firstStep?.error ?? DatabaseError.noColumn(name, sql: statement.sql)
    }

    /// What reads the current row as a `Decodable` type.
    @usableFromInline var decoder: any Decoder {
        if let decoderUsed { return decoderUsed }
        let decoder = RowDecoder(RowColumns(column(0), names))
        decoderUsed = decoder
        return decoder
    }

    /// How many columns the current row has; none where there is no row.
    @usableFromInline var rowWidth: Int { prepared.execution == execution ? prepared.rowWidth : 0 }

    @usableFromInline func whyNoColumn(_ index: Int) -> any Error { prepared.whyNoColumn(index, of: execution) }

    private func checkOpen() throws {
        guard phase != .closed, prepared.execution == execution else { throw ResultSet.isClosed(sql: statement.sql) }
    }

    static func isClosed(sql: String) -> DatabaseError {
        DatabaseError(
            .misuse,
            "the result set is closed: its rows ended, the block that made it returned, its statement ran again, or its database was closed",
            sql: sql
        )
    }
}

extension Result {
    fileprivate var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension ResultSet {
    /// Hands over the rows that are left, one at a time, and closes. The row is this result set, and good until the next one.
    ///
    /// ```swift
    /// try database.executeQuery("SELECT id, text FROM notes").forEach { row in
    ///     print(try row["text"] as String)
    /// }
    /// ```
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``: an error is never taken for the end; what `body` throws, which ends it.
    public func forEach(_ body: (ResultSet) throws -> Void) throws {
        let stay = try enter()
        defer { leave(stay) }
        defer { close() }
        while try next() { try body(self) }
    }

    /// Hands over the rows that are left as values, made one at a time, and closes.
    ///
    /// - Throws: as ``next(as:)``; what `body` throws, which ends it.
    public func forEach<Value: RowDecodable>(_ type: Value.Type, _ body: (Value) throws -> Void) throws {
        let stay = try enter()
        defer { leave(stay) }
        defer { close() }
        while let value = try next(as: type) { try body(value) }
    }
}
