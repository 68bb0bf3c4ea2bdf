internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A value that is stored in one column as JSON text.
///
/// A `Codable` type inside of a row is JSON by itself, unless it is one value. This is for values outside of rows, and for what SQLite has
/// a kind of value for:
///
/// ```swift
/// try database.executeUpdate("UPDATE notes SET tags = \(JSONColumn(tags)) WHERE id = \(id)")
/// ```
public struct JSONColumn<Value: Codable & Sendable>: Codable, Sendable {
    /// What is kept.
    public var value: Value

    /// A column of `value`.
    public init(_ value: Value) {
        self.value = value
    }

    /// As the value itself: also in other JSON there is nothing around it.
    public init(from decoder: any Decoder) throws {
        value = try Value(from: decoder)
    }

    /// As the value itself.
    public func encode(to encoder: any Encoder) throws {
        try value.encode(to: encoder)
    }
}

extension JSONColumn: Equatable where Value: Equatable {}
extension JSONColumn: Hashable where Value: Hashable {}

extension JSONColumn: ColumnEncodable {
    /// The JSON, with its keys in order, so that equal values are equal text.
    public var databaseValue: DatabaseValue {
        get throws { try JSONText(value).databaseValue }
    }

    /// The JSON, with dates and data as ``ValueStorage/datesInJSON`` and ``ValueStorage/dataInJSON`` say.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue {
        try JSONText(value).databaseValue(in: storage)
    }
}

extension JSONColumn: ColumnDecodable {
    /// The value in JSON: a text, a blob of text or of SQLite's binary form (``Capability/jsonb``), or a number.
    public static func decode(_ column: ResultColumn) throws -> JSONColumn {
        JSONColumn(try column.decodeJSON(Value.self))
    }

    /// The value in JSON; nil for NULL, and for JSON's own null unless the type of the value has one.
    public static func decodeIfPresent(_ column: ResultColumn) throws -> JSONColumn? {
        try column.decodeJSONIfPresent(Value.self).map { JSONColumn($0) }
    }
}

/// What SQLite has no kind of value for, as JSON.
///
/// It is made before it is known which database it is for: the dates and data in it get their form when it is bound.
struct JSONText: ColumnEncodable {
    fileprivate enum Piece: Sendable {
        case text(String)
        case date(Date)
        case data(Data)
    }

    private let pieces: [Piece]

    /// The JSON of a value, with its keys in order, so that equal values are equal text.
    init(_ value: some Encodable) throws(DatabaseError) {
        let places = Places()
        let encoder = JSONText.encoder
        encoder.dateEncodingStrategy = .custom { try places.keep(.date($0), $1) }
        encoder.dataEncodingStrategy = .custom { try places.keep(.data($0), $1) }
        pieces = places.filled(in: try JSONText.text(value, by: encoder))
    }

    /// As it is by default.
    var databaseValue: DatabaseValue { get throws { try databaseValue(in: ValueStorage()) } }

    func databaseValue(in storage: ValueStorage) throws -> DatabaseValue {
        let text = try pieces.map { try $0.json(in: storage) }.joined()
        // JSON has them in its strings only.
        return .text(storage.escapesSlashesInJSON ? text.replacing("/", with: #"\/"#) : text)
    }

    fileprivate static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }

    fileprivate static func text(_ value: some Encodable, by encoder: JSONEncoder = encoder) throws(DatabaseError)
        -> String
    {
        do {
            return String(decoding: try encoder.encode(value), as: UTF8.self)
        } catch {
            // It has the value in it.
            throw DatabaseError(.mismatch, "\(type(of: value)) cannot be written as JSON")
        }
    }

    /// Dates and data, for each of which the JSON has a text that no value can have in it.
    private final class Places: Sendable {
        private static let mark = UUID().uuidString
        private let kept = Lock<[Piece]>([])

        func keep(_ piece: Piece, _ encoder: any Encoder) throws {
            let number = kept.withLock { kept in
                kept.append(piece)
                return kept.count - 1
            }
            var container = encoder.singleValueContainer()
            try container.encode("\(Places.mark)\(number)")
        }

        /// The JSON with what was kept in its places.
        func filled(in json: String) -> [Piece] {
            let kept = kept.withLock { $0 }
            guard !kept.isEmpty else { return [.text(json)] }
            return json.split(separator: "\"\(Places.mark)", omittingEmptySubsequences: false).enumerated().flatMap {
                index,
                part in
                guard index > 0, let end = part.firstIndex(of: "\""), let number = Int(part[..<end]) else {
                    return [Piece.text(String(part))]
                }
                return [kept[number], .text(String(part[part.index(after: end)...]))]
            }
        }
    }
}

extension JSONText.Piece {
    fileprivate func json(in storage: ValueStorage) throws -> String {
        switch self {
        case .text(let text): return text
        case .data(let data):
            return switch storage.dataInJSON {
            case .base64: "\"\(data.base64EncodedString())\""
            case .integers: "[\(data.map { String($0) }.joined(separator: ","))]"
            }
        case .date(let date):
            return switch try storage.datesInJSON.value(of: date) {
            case .integer(let number): String(number)
            case .real(let number): try JSONText.text(number)
            case .text(let text): try JSONText.text(text)
            case .null, .blob: "null"
            }
        }
    }
}

extension ResultColumn {
    /// The value in JSON: a text, a blob of text or of SQLite's own binary form (JSONB), or a number, which a text that is one becomes in
    /// a column with the affinity of numbers.
    func decodeJSON<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let json = try json(for: type)
        do {
            // Foundation traps where JSON that is nested too deeply ends at that depth: a space behind it is read as an error.
            return try decoder().decode(type, from: json + [UInt8(ascii: " ")])
        } catch DecodingError.keyNotFound(let key, _) {
            throw wrong("JSON that is not \(type): the key \(key.stringValue) is missing")
        } catch is DecodingError {
            switch try storageClass {
            case .integer, .real: throw mismatch(type)
            case .blob where isUnreadableBinaryJSON: throw unreadableBinaryJSON
            // Its path may have keys of a dictionary in it, which are values here.
            case .text, .blob, .null: throw wrong("JSON that is not \(type)")
            }
        }
    }

    /// As ``decodeJSON(_:)``; nil for NULL, and for JSON's own null where the type has none.
    func decodeJSONIfPresent<Value: Decodable>(_ type: Value.Type) throws -> Value? {
        guard try storageClass != .null else { return nil }
        do {
            return try decodeJSON(type)
        } catch {
            let text = String(decoding: try json(for: type), as: UTF8.self)
            guard text.wholeMatch(of: /[ \t\r\n]*null[ \t\r\n]*/) != nil else { throw error }
            return nil
        }
    }

    /// The text of the JSON, in UTF-8.
    private func json<Value>(for type: Value.Type) throws -> Data {
        let stored = try borrow()
        switch stored.storageClass {
        case .null: throw mismatch(type)
        case .text: return stored.data
        case .integer: return Data(String(stored.integer).utf8)
        case .real: return Data((Int64(exactly: stored.real).map { String($0) } ?? String(stored.real)).utf8)
        case .blob:
            let blob = stored.data
            if Engine.current.has(.jsonb) { return try text(ofBinaryJSON: blob) ?? blob }
            // A list or an object is no text that could be taken for another; the number 123 is the text 3123.
            if isUnreadableBinaryJSON, blob.first.map({ (0x30...0x39).contains($0) }) ?? false {
                throw unreadableBinaryJSON
            }
            return blob
        }
    }

    private func text(ofBinaryJSON blob: Data) throws -> Data? {
        if let connection { return try connection.text(ofBinaryJSON: blob) }
        // A row that was kept has none.
        let database = Database(path: nil)
        try database.open()
        return try database.usableConnection().text(ofBinaryJSON: blob)
    }

    private var unreadableBinaryJSON: DatabaseError {
        wrong("binary JSON (JSONB), which needs SQLite 3.45; this engine has \(Engine.current.sqliteVersion)")
    }

    /// Whether a blob has a header of SQLite's binary JSON, its kind and the size of all that follows (sqlite.org/jsonb.html), and the engine
    /// does not read it.
    private var isUnreadableBinaryJSON: Bool {
        guard let bytes = try? borrow().data else { return false }
        guard !Engine.current.has(.jsonb), let first = bytes.first, first & 0xf < 13 else { return false }
        let wide = [12: 1, 13: 2, 14: 4, 15: 8][Int(first >> 4)] ?? 0
        guard wide > 0 else { return bytes.count - 1 == Int(first >> 4) }
        guard bytes.count > wide else { return false }
        return bytes[1...wide].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } == UInt64(bytes.count - 1 - wide)
    }

    /// It reads dates and data in the form that is set, and in the others that it can tell from it.
    private func decoder() throws -> JSONDecoder {
        let decoder = JSONDecoder()
        let dates = try storage.datesInJSON
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            if let number = try? container.decode(Double.self) { return dates.date(number, inJSON: true) }
            guard let date = dates.date(try container.decode(String.self)) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date")
            }
            return date
        }
        decoder.dataDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            guard let text = try? container.decode(String.self) else { return Data(try container.decode([UInt8].self)) }
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no base64")
            }
            return data
        }
        return decoder
    }
}

extension Connection {
    /// The text of SQLite's own binary JSON; nil for a blob that is none.
    fileprivate func text(ofBinaryJSON blob: Data) throws -> Data? {
        guard let (statement, _) = try unrestricted({ try prepare("SELECT json(?1) WHERE json_valid(?1, 8)") }) else {
            return nil
        }
        defer { statement.finalize() }
        try blob.withUnsafeBytes { try statement.bind(blob: $0, at: 1) }
        return try statement.step() ? statement.value(0).data : nil
    }
}
