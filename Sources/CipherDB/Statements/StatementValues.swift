/// The values for the parameters of a statement: in order, or by name.
///
/// ```swift
/// try database.executeUpdate("UPDATE notes SET text = ? WHERE id = ?", values: [text, id])
/// try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: ["text": text, "id": id])
/// try database.executeUpdate("UPDATE notes SET text = :text WHERE id = :id", values: .encoding(note))
/// ```
///
/// A literal makes them; of an array or a dictionary in a variable, `StatementValues(ids)` does.
public struct StatementValues: Sendable, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    enum Content: Sendable {
        /// As many as there are parameters.
        case ordered([(any ColumnEncodable)?])
        /// Those that stand in the SQL itself; as many as there are parameters.
        case interpolated([SQL.Interpolated])
        /// One for each parameter, and no others unless lenient.
        case named([String: (any ColumnEncodable)?], isLenient: Bool)
    }

    let content: Content

    init(_ content: Content) {
        self.content = content
    }

    /// Values in the order of the parameters.
    public init(_ values: [(any ColumnEncodable)?]) {
        self.init(.ordered(values))
    }

    /// Values by the names of the parameters, with or without `:`, `@` or `$`.
    public init(_ values: [String: (any ColumnEncodable)?]) {
        self.init(.named(values, isLenient: false))
    }

    /// Values in the order of the parameters.
    public init(arrayLiteral values: (any ColumnEncodable)?...) {
        self.init(values)
    }

    /// Values by the names of the parameters, with or without `:`, `@` or `$`. Of a name that stands twice the last counts.
    public init(dictionaryLiteral values: (String, (any ColumnEncodable)?)...) {
        self.init(Dictionary(values) { $1 })
    }

    /// The values of `row` by its coding keys: a parameter has the name of one. Keys without a parameter do not matter.
    ///
    /// - Throws: ``DatabaseError`` for something inside that cannot be stored; what `row` throws.
    public static func encoding(_ row: some Encodable) throws -> StatementValues {
        let values = try RowEncoder.values(of: row).map { ($0.name, $0.value) }
        return StatementValues(.named(Dictionary(values) { first, _ in first }, isLenient: true))
    }

    /// As by name; names that the statement does not have do not matter, as in FMDB.
    package static func lenient(_ values: [String: (any ColumnEncodable)?]) -> StatementValues {
        StatementValues(.named(values, isLenient: true))
    }

    var isEmpty: Bool {
        switch content {
        case .ordered(let values): values.isEmpty
        case .interpolated(let values): values.isEmpty
        case .named(let values, let isLenient): values.isEmpty && !isLenient
        }
    }
}
