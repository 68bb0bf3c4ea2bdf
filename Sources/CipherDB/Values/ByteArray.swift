#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
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
        case .blob, .text: return ByteArray([UInt8](stored.bytes))
        default: throw column.mismatch(ByteArray.self)
        }
    }
}
