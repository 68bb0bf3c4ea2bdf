#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How dates are stored.
///
/// Whatever the format, a number is read as seconds since 1970, and a text that the format does not know as ISO 8601 or SQLite writes it.
public struct DateFormat: Sendable {
    enum Storage: Sendable {
        case secondsSince1970
        case text(string: @Sendable (Date) -> String?, date: @Sendable (String) -> Date?)
    }

    let storage: Storage

    /// A text by two functions, each the reverse of the other; `date` gives nil for a text that is no date.
    public init(string: @escaping @Sendable (Date) -> String, date: @escaping @Sendable (String) -> Date?) {
        storage = .text(string: { string($0) }, date: date)
    }

    private init(_ storage: Storage) {
        self.storage = storage
    }

    private init(_ text: DateText) {
        storage = .text(string: text.string, date: DateText.date)
    }

    /// `2009-02-13 23:31:30.500` in UTC, as SQLite's own date functions write and read it (sqlite.org/lang_datefunc.html), with as many
    /// digits of the second as bring an equal date back: three at least.
    public static let sqlite = DateFormat(DateText(separator: UInt8(ascii: " "), zone: ""))

    /// `2009-02-13T23:31:30.500Z` (ISO 8601, in UTC), with as many digits of the second as bring an equal date back: three at least.
    public static let iso8601 = DateFormat(DateText(separator: UInt8(ascii: "T"), zone: "Z"))

    /// A number of seconds since 1970, as FMDB stores dates. `Date` counts from 2001, so that about half of all dates come back changed by
    /// a ten-millionth of a second.
    public static let secondsSince1970 = DateFormat(.secondsSince1970)
}

extension Date: Bindable {
    /// Its text in ``DateFormat/sqlite``. Throws ``DatabaseError`` for a date that is no point in time, such as infinity.
    public var databaseValue: DatabaseValue { get throws { try databaseValue(in: .sqlite) } }

    /// Binds what the database's ``Database/dateFormat`` makes of it.
    public func bind(to parameter: Parameter) throws {
        try parameter.bind(databaseValue(in: parameter.statement.dateFormat))
    }

    private func databaseValue(in format: DateFormat) throws -> DatabaseValue {
        switch format.storage {
        case .secondsSince1970: return .real(timeIntervalSince1970)
        case .text(let string, _):
            guard let text = string(self) else { throw DatabaseError(.mismatch, "the date is not finite") }
            return .text(text)
        }
    }
}

extension Date: ColumnDecodable {
    /// A number of seconds since 1970, or a text in the database's ``Database/dateFormat``, that of SQLite, or ISO 8601.
    public static func decode(_ column: ResultColumn) throws -> Date {
        let stored = try column.stored
        switch stored.storageClass {
        case .real, .integer: return Date(timeIntervalSince1970: stored.real)
        case .text:
            let text = try String.decode(column)
            if case .text(_, let date) = column.statement.dateFormat.storage, let date = date(text) { return date }
            if let date = DateText.date(text) { return date }
        case .blob, .null: break
        }
        throw column.mismatch(Date.self)
    }
}
