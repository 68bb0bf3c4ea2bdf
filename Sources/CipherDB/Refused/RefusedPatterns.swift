// A pattern that may be nil where one stands: an overload that is not available would lose against the one for optional values, so these
// are deprecated, and a nil throws.

extension SQL.StringInterpolation {
    /// A full-text pattern, as any value.
    public mutating func appendInterpolation(_ pattern: FTS5Pattern) {
        appendInterpolation(pattern as any ColumnEncodable)
    }

    /// Throws for nil, when the statement runs: see ``FTS5Pattern``.
    @available(*, deprecated, message: "text without words makes no pattern: unwrap it, and run no search for nil")
    public mutating func appendInterpolation(_ pattern: FTS5Pattern?) {
        appendInterpolation(OptionalPattern(pattern: pattern))
    }
}

/// A pattern that may be nil; binding nil throws.
struct OptionalPattern: ColumnEncodable {
    let pattern: FTS5Pattern?

    var databaseValue: DatabaseValue {
        get throws {
            guard let pattern else {
                throw DatabaseError(
                    .misuse,
                    "the full-text pattern is nil, because its text has no words; run no search for it"
                )
            }
            return pattern.databaseValue
        }
    }
}
