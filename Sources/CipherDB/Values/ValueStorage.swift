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

    /// The defaults.
    public init() {}
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
