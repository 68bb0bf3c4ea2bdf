/// SQL with its values in it, which are bound: `"INSERT INTO t VALUES (\(name))"`. A literal makes it; text in a variable does not.
public struct FMFormat: ExpressibleByStringInterpolation {
    let sql: String
    let values: [Any]

    /// SQL without values.
    public init(stringLiteral sql: StaticString) {
        self.sql = sql.description
        values = []
    }

    /// SQL with values.
    public init(stringInterpolation pieces: StringInterpolation) {
        sql = pieces.sql
        values = pieces.values
    }

    /// The pieces of a literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql = ""
        fileprivate var values: [Any] = []

        /// Makes room.
        public init(literalCapacity: Int, interpolationCount: Int) {
            sql.reserveCapacity(literalCapacity + interpolationCount)
        }

        /// Adds SQL.
        public mutating func appendLiteral(_ literal: StaticString) { sql += literal.description }

        /// Adds a value, to be bound; nil is NULL.
        public mutating func appendInterpolation(_ value: Any?) {
            values.append(value as Any)
            sql += "?"
        }
    }
}
