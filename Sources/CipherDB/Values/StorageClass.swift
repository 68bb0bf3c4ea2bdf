/// The kinds of value that SQLite stores (sqlite.org/datatype3.html).
public enum StorageClass: String, Sendable, Hashable {
    /// A signed 64-bit integer.
    case integer
    /// A 64-bit floating-point number.
    case real
    /// A string.
    case text
    /// Bytes.
    case blob
    /// No value.
    case null
}
