#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How values are stored that SQLite has no kind of its own for, in a file that other programs use too. What is stored, what a condition
/// compares with and what SQL gets goes by it.
///
/// ```swift
/// let configuration = Configuration {
///     $0.storage.uuids = .blob
///     $0.storage.datesInJSON = .millisecondsSince1970
/// }
/// ```
public struct ValueStorage: Sendable {
    /// A `Date` in a column: text in SQLite's form unless set. A file whose dates are numbers, as FMDB makes them, needs
    /// ``DateFormat/secondsSince1970``, or its dates do not compare with new ones.
    public var dates = DateFormat.sqlite

    /// A `UUID` in a column: text unless set. Whatever is set, texts and blobs are read; a condition finds only those of this form.
    public var uuids = UUIDFormat.text

    /// A `Date` inside of JSON: a number of seconds since 2001 unless set.
    public var datesInJSON = DateFormat.secondsSince2001

    /// `Data` inside of JSON: base64 unless set.
    public var dataInJSON = JSONDataFormat.base64

    /// Whether a coding key such as `createdAt` stands for the column, or the parameter, `created_at`. No column has the key's own spelling
    /// then, and a ``Column`` is named as it is in the table.
    public var columnsAreSnakeCase = false

    /// Whether `/` in JSON is `\/`, as Foundation's encoder writes it unless told otherwise.
    var escapesSlashesInJSON = false

    /// The defaults.
    public init() {}

    /// As GRDB stores values unless a record says otherwise: a UUID as a blob, a date in milliseconds, and JSON as Foundation's encoder
    /// writes it with dates in milliseconds.
    public static let grdb: ValueStorage = {
        var storage = ValueStorage()
        storage.dates = DateFormat(.sqliteMilliseconds)
        storage.uuids = .blob
        storage.datesInJSON = DateFormat(.unroundedMilliseconds)
        storage.escapesSlashesInJSON = true
        return storage
    }()
}

/// How a `UUID` is stored in a column.
public enum UUIDFormat: Sendable {
    /// A text of 36 characters in capital letters, as `uuidString`.
    case text
    /// A text of 36 characters in small letters.
    case lowercaseText
    /// A blob of its 16 bytes, as GRDB stores it.
    case blob
}

/// How `Data` is written in JSON. Whatever is set, both are read.
public enum JSONDataFormat: Sendable {
    /// A text in base64.
    case base64
    /// A list of numbers, one for each byte.
    case integers
}

/// How dates are stored: in columns (``ValueStorage/dates``), and in JSON (``ValueStorage/datesInJSON``).
///
/// Whatever the format, a text that it does not know is read as ISO 8601 or SQLite writes it. Where the format is text, a number is read as
/// what was stored before it was set: seconds since 1970, in JSON since 2001.
public struct DateFormat: Sendable {
    fileprivate enum Form: Sendable {
        case sqlite, sqliteMilliseconds, iso8601
        case secondsSince1970, millisecondsSince1970, unroundedMilliseconds, secondsSince2001
        case text(string: @Sendable (Date) -> String, date: @Sendable (String) -> Date?)
    }

    private let form: Form

    fileprivate init(_ form: Form) {
        self.form = form
    }

    /// A text by two functions, each the reverse of the other; `date` gives nil for a text that is no date.
    public init(string: @escaping @Sendable (Date) -> String, date: @escaping @Sendable (String) -> Date?) {
        self.init(.text(string: string, date: date))
    }

    /// `2009-02-13 23:31:30.500` in UTC, as SQLite's own date functions write and read it (sqlite.org/lang_datefunc.html), with as many
    /// digits of the second as bring an equal date back: three at least.
    public static let sqlite = DateFormat(.sqlite)

    /// `2009-02-13T23:31:30.500Z` (ISO 8601, in UTC), with as many digits of the second as bring an equal date back: three at least.
    public static let iso8601 = DateFormat(.iso8601)

    /// A number of seconds since 1970, as FMDB stores dates. `Date` counts from 2001, so that about half of all dates come back changed by
    /// a ten-millionth of a second.
    public static let secondsSince1970 = DateFormat(.secondsSince1970)

    /// A whole number of milliseconds since 1970, as JavaScript counts, and GRDB in JSON. What is less than a millisecond is rounded.
    public static let millisecondsSince1970 = DateFormat(.millisecondsSince1970)

    /// A number of seconds since 2001, as `Date` counts, and Core Data stores it.
    public static let secondsSince2001 = DateFormat(.secondsSince2001)

    /// - Throws: ``DatabaseError`` for a date that is no point in time, such as infinity.
    func value(of date: Date) throws(DatabaseError) -> DatabaseValue {
        switch form {
        case .sqlite: return try text(DateText(separator: UInt8(ascii: " "), zone: "").string(date))
        case .sqliteMilliseconds:
            // As Foundation's formatter rounds, and in its calendar.
            let milliseconds = (date.timeIntervalSince1970 * 1000 + 0.5).rounded(.down)
            let rounded = Date(timeIntervalSinceReferenceDate: (milliseconds - 978_307_200_000) / 1000)
            let form = DateText(separator: UInt8(ascii: " "), zone: "", mostDigits: 3, calendar: .gregorianSince1582)
            return try text(form.string(rounded))
        case .iso8601: return try text(DateText(separator: UInt8(ascii: "T"), zone: "Z").string(date))
        case .text(let string, _): return .text(string(date))
        case .secondsSince1970: return try number(date.timeIntervalSince1970)
        case .secondsSince2001: return try number(date.timeIntervalSinceReferenceDate)
        case .unroundedMilliseconds: return try number(date.timeIntervalSince1970 * 1000)
        case .millisecondsSince1970:
            guard let number = Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()) else {
                throw DateFormat.isNotFinite
            }
            return .integer(number)
        }
    }

    private func text(_ text: String?) throws(DatabaseError) -> DatabaseValue {
        guard let text else { throw DateFormat.isNotFinite }
        return .text(text)
    }

    /// SQLite would store NULL, which another row may have.
    private func number(_ number: Double) throws(DatabaseError) -> DatabaseValue {
        guard !number.isNaN else { throw DateFormat.isNotFinite }
        return .real(number)
    }

    private static var isNotFinite: DatabaseError { DatabaseError(.mismatch, "the date is not finite") }

    /// The date that a number stands for.
    func date(_ number: Double, inJSON: Bool) -> Date {
        switch form {
        case .secondsSince1970: Date(timeIntervalSince1970: number)
        case .millisecondsSince1970, .unroundedMilliseconds: Date(timeIntervalSince1970: number / 1000)
        case .secondsSince2001: Date(timeIntervalSinceReferenceDate: number)
        case .sqlite, .sqliteMilliseconds, .iso8601, .text:
            inJSON ? Date(timeIntervalSinceReferenceDate: number) : Date(timeIntervalSince1970: number)
        }
    }

    /// The date that a text stands for; nil for a text that is none.
    func date(_ text: String) -> Date? {
        switch form {
        case .text(_, let date): date(text) ?? DateText.date(text)
        // A column of texts makes a text of a number.
        case .secondsSince1970, .secondsSince2001, .millisecondsSince1970, .unroundedMilliseconds:
            Double(text).flatMap { $0.isFinite ? date($0, inJSON: false) : nil } ?? DateText.date(text)
        case .sqliteMilliseconds: DateText.date(text, in: .gregorianSince1582)
        case .sqlite, .iso8601: DateText.date(text)
        }
    }
}

extension Date: ColumnEncodable {
    /// Its text in ``DateFormat/sqlite``. Throws ``DatabaseError`` for a date that is no point in time, such as infinity.
    public var databaseValue: DatabaseValue { get throws { try DateFormat.sqlite.value(of: self) } }

    /// What ``ValueStorage/dates`` makes of it. Throws as ``databaseValue``.
    public func databaseValue(in storage: ValueStorage) throws -> DatabaseValue { try storage.dates.value(of: self) }
}

extension Date: ColumnDecodable {
    /// A number or a text as ``DateFormat`` says.
    public static func decode(_ column: ResultColumn) throws -> Date {
        let stored = try column.borrow()
        switch stored.storageClass {
        case .real, .integer: return try column.storage.dates.date(stored.real, inJSON: false)
        case .text:
            if let date = try column.storage.dates.date(try String.decode(column)) { return date }
            throw column.wrong("text that is no date: one is 2026-11-24 10:11:12 or 2026-11-24T10:11:12Z")
        case .blob, .null: throw column.mismatch(Date.self)
        }
    }
}
