/// A row that leaves its block: a copy of its values, which every thread reads as those of a ``ResultSet``.
///
/// ```swift
/// let rows = try pool.read { try $0.fetchAll(Row.self, "SELECT id, text FROM notes") }
/// for row in rows { print(try row[0] as Int, try row["text"] as String) }
/// ```
///
/// A type of the program's own says more, and is read without the copy.
public struct Row: RowDecodable, Sendable {
    private let kept: KeptRow

    /// A copy of the current row.
    ///
    /// - Throws: ``DatabaseError`` where there is none.
    public init(row: ResultSet) throws {
        let stay = try row.enter()
        defer { row.leave(stay) }
        guard row.rowWidth > 0 else { throw row.whyNoColumn(0) }
        kept = KeptRow(of: row.prepared, row.names)
    }

    /// The names of the columns, in order.
    public var columnNames: [String] { kept.names.all }

    /// The value in a column, as the type that is asked for: `let name: String = try row["name"]`. The case of the name's letters does not
    /// matter, and of two columns with one name it is the first.
    ///
    /// - Throws: ``DatabaseError`` for a name that is not there, and for a value of another kind; NULL is nil in an
    ///   optional, and an error in anything else. ``UsedAfterFork`` in a child of the process that read the row.
    public subscript<Value: ColumnDecodable>(name: String) -> Value {
        get throws {
            guard let index = kept.names.index(ofName: name) else { throw DatabaseError.noColumn(name, sql: kept.sql) }
            return try self[index]
        }
    }

    /// The value in a column, whichever table it is of, as the type that is asked for.
    ///
    /// - Throws: as by name.
    public subscript<Value: ColumnDecodable>(column: Column) -> Value {
        get throws { try self[column.name] }
    }

    /// The value in a column counted from 0, as the type that is asked for.
    ///
    /// - Throws: as by name.
    public subscript<Value: ColumnDecodable>(index: Int) -> Value {
        get throws { try Value.decode(ResultColumn(kept, index: index)) }
    }

    /// The row as a type whose coding keys are the names of its columns.
    ///
    /// - Throws: ``DatabaseError`` that names the column, the type wanted and the kind of value found.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        do {
            return try Value(
                from: RowDecoder(RowColumns(ResultColumn(kept, index: 0), ColumnNames(copyOf: kept.names)))
            )
        } catch let error as DecodingError {
            throw DatabaseError.notDecoded(error, as: type, sql: kept.sql)
        }
    }
}
