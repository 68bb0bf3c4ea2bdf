#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Bytes in a column, as `Data`, which are an array in the program: `executeUpdate("UPDATE t SET image = ?", ByteArray(bytes))`.
///
/// An array itself is no value of a column: `[1, 2]` could be a list of ids.
public struct ByteArray: ColumnEncodable, ColumnDecodable, Hashable {
    /// The bytes.
    public let bytes: [UInt8]

    /// These bytes.
    @inlinable public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// A blob of the same bytes, also where there are none.
    public var databaseValue: DatabaseValue { .blob(Data(bytes)) }

    /// Binds the same bytes.
    @inlinable public func bind(to parameter: Parameter) throws { try bytes.withUnsafeBytes { try parameter.bind($0) } }

    /// The bytes of a blob, or of a text in UTF-8; empty where there are none.
    public static func decode(_ column: ResultColumn) throws -> ByteArray {
        let stored = try column.borrow()
        switch stored.storageClass {
        case .blob: return ByteArray([UInt8](stored.bytes(isText: false).bindMemory(to: UInt8.self)))
        case .text: return ByteArray([UInt8](stored.bytes(isText: true).bindMemory(to: UInt8.self)))
        default: throw column.mismatch(ByteArray.self)
        }
    }
}

extension URL: ColumnEncodable {
    /// Its text, with the base of a relative one.
    public var databaseValue: DatabaseValue { .text(absoluteString) }
}

extension URL: ColumnDecodable {
    /// A text that is a URL.
    public static func decode(_ column: ResultColumn) throws -> URL {
        guard let url = URL(string: try String.decode(column)) else { throw column.wrong("text that is no URL") }
        return url
    }
}

extension Decimal: ColumnEncodable {
    /// Its digits as text, which has all of them: a number of SQLite's has about 16. As text it does not sort by its size. A NaN is NULL.
    public var databaseValue: DatabaseValue { isNaN ? .null : .text(description) }
}

extension Decimal: ColumnDecodable {
    /// A text that is a number, or a number.
    public static func decode(_ column: ResultColumn) throws -> Decimal {
        let text = try String.decode(column)
        // Decimal takes a prefix that is a number, and a sign alone.
        guard text.wholeMatch(of: /[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?/) != nil, let number = Decimal(string: text)
        else {
            throw column.wrong("\(try column.storageClass.rawValue) that is no decimal number")
        }
        return number
    }
}
