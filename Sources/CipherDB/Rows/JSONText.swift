#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What SQLite has no kind of value for, as JSON.
enum JSONText {
    /// The JSON of a value, with its keys in order, so that equal values are equal text.
    static func string(_ value: some Encodable) throws(DatabaseError) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // It has the value in it.
            throw DatabaseError(.mismatch, "\(type(of: value)) cannot be written as JSON")
        }
    }
}

extension ResultColumn {
    /// The value in a text, or a blob, of JSON.
    func decodeJSON<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard storageClass == .text || storageClass == .blob else { throw mismatch(type) }
        do {
            // Foundation traps where JSON that is nested too deeply ends at that depth: a space behind it is read as an error.
            return try JSONDecoder().decode(type, from: Data.decode(self) + [UInt8(ascii: " ")])
        } catch DecodingError.keyNotFound(let key, _) {
            throw DatabaseError(
                .mismatch,
                "column \(index) (\(name)) holds JSON that is not \(type): the key \(key.stringValue) is missing",
                sql: statement.sql
            )
        } catch is DecodingError {
            // Its path may have keys of a dictionary in it, which are values here.
            throw DatabaseError(
                .mismatch,
                "column \(index) (\(name)) holds JSON that is not \(type)",
                sql: statement.sql
            )
        }
    }
}
