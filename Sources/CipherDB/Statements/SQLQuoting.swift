/// A name as an SQL identifier.
package func quotedIdentifier(_ name: String) -> String {
    quoted(name, by: "\"")
}

/// A name that can only be a column's: SQLite takes what stands between double quotes for a text where there is no such column.
func quotedColumn(_ name: String) -> String {
    quoted(name, by: "`")
}

/// A text between quotes, those in it doubled.
private func quoted(_ text: String, by quote: Unicode.Scalar) -> String {
    // By scalars, as SQLite reads: a quote with an accent on it is one character to Swift, and no quote.
    var quoted = String.UnicodeScalarView([quote])
    for scalar in text.unicodeScalars {
        if scalar == quote { quoted.append(scalar) }
        quoted.append(scalar)
    }
    quoted.append(quote)
    return String(quoted)
}

extension DatabaseValue {
    /// The value as SQL, for where no parameter may stand.
    ///
    /// - Throws: ``DatabaseError`` for a text with a NUL character.
    var literal: String {
        get throws {
            switch self {
            case .null: return "NULL"
            case .integer(let value): return "(\(value))"
            case .real(let value):
                if value.isNaN { return "NULL" }
                return value.isFinite ? "(\(value))" : value < 0 ? "(-9e999)" : "9e999"
            case .text(let value):
                guard !value.utf8.contains(0) else {
                    throw DatabaseError(.mismatch, "the text has a NUL character, which SQL cannot have")
                }
                return quoted(value, by: "'")
            case .blob(let value):
                let digits = value.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
                return "x'\(digits.joined())'"
            }
        }
    }
}
