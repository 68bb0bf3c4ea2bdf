internal import CSQLCipher

/// Whose turn it is.
extension PreparedStatement {
    /// As ``Turn/isMine``.
    @inline(__always) var isMine: Bool { uncountedTurn._withUnsafeGuaranteedRef { $0.isMine } }

    /// As ``Turn/isOfParent``.
    @inline(__always) var isOfParent: Bool { uncountedTurn._withUnsafeGuaranteedRef { $0.isOfParent } }

    /// As ``Turn/enter()``.
    @inline(__always) func enter() throws -> Turn.Stay { try uncountedTurn._withUnsafeGuaranteedRef { try $0.enter() } }

    /// As ``Turn/enterIfFree()``.
    @inline(__always) func enterIfFree() -> Turn.Stay? { uncountedTurn._withUnsafeGuaranteedRef { $0.enterIfFree() } }

    /// As ``Turn/leave(_:)``.
    @inline(__always) func leave(_ stay: Turn.Stay) { uncountedTurn._withUnsafeGuaranteedRef { $0.leave(stay) } }
}

/// The current row.
extension PreparedStatement {
    /// Whether the row of this execution has this column, counted from 0.
    @inline(__always) func hasColumn(_ index: Int, of execution: Int) -> Bool {
        self.execution == execution && index >= 0 && index < rowWidth
    }

    func whyNoColumn(_ index: Int, of execution: Int) -> DatabaseError {
        guard self.execution == execution else { return ResultSet.isClosed(sql: sql) }
        guard rowWidth > 0 else {
            return DatabaseError(.misuse, "there is no current row; call next() first", sql: sql)
        }
        return DatabaseError(.range, "the result has no column \(index), it has \(rowWidth)", sql: sql)
    }
}

/// What it looks like: its columns, its parameters, its text.
extension PreparedStatement {
    /// The SQL, unless it may hold a key.
    var shownSQL: String { mayHoldKey ? DatabaseError.hiddenSQL : sql }

    var storage: ValueStorage { connection.storage }

    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// As it was compiled last, which may be before the schema changed: SQLite compiles a statement again in its first step.
    var columnNames: [String] { (0..<columnCount).map { columnName($0) } }

    /// As it is compiled now, unless it runs.
    var currentColumnNames: [String] {
        guard !isInUse, columnCount > 0 else { return columnNames }
        do {
            // Reading a database takes notice of what others did to its schema.
            for schema in try connection.schemas() where schema != "temp" {
                let sql = "SELECT 1 FROM \(quotedIdentifier(schema)).sqlite_master LIMIT 1"
                _ = try connection.unrestricted { try connection.text(sql) }
            }
            guard let (present, _) = try connection.prepare(sql) else { return [] }
            defer { present.finalize() }
            return present.columnNames
        } catch {
            return []
        }
    }

    func columnName(_ column: Int) -> String {
        handle.flatMap { sqlite3_column_name($0, Int32(column)) }.map { String(cString: $0) } ?? ""
    }

    /// The name of parameter `index`, counted from 1, with its prefix; nil for `?`.
    func parameterName(_ index: Int) -> String? {
        handle.flatMap { sqlite3_bind_parameter_name($0, Int32(index)) }.map { String(cString: $0) }
    }
}
