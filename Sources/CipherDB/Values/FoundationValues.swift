#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

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
    /// Its digits as text, which has all of them: a number of SQLite's has about 16. As text it does not sort by its size.
    public var databaseValue: DatabaseValue { .text(description) }
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
