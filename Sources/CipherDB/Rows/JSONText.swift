internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

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
        if pieces.count == 1, case .text(let text) = pieces[0] { return .text(text) }
        return .text(try pieces.map { try $0.json(in: storage) }.joined())
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
        private let kept = Mutex<[Piece]>([])

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
