internal import CCipherEngine

/// What it looks like: its columns, its parameters, its text.
extension PreparedStatement {
    /// The SQL, unless it may hold a key.
    var shownSQL: String { mayHoldKey ? DatabaseError.hiddenSQL : sql }

    var storage: ValueStorage { connection.storage }

    var columnCount: Int { Int(sqlite3_column_count(handle)) }

    func columnName(_ column: Int) -> String {
        handle.flatMap { sqlite3_column_name($0, Int32(column)) }.map { String(cString: $0) } ?? ""
    }

    /// The name of parameter `index`, counted from 1, with its prefix; nil for `?`.
    func parameterName(_ index: Int) -> String? {
        handle.flatMap { sqlite3_bind_parameter_name($0, Int32(index)) }.map { String(cString: $0) }
    }
}
