internal import CipherSystem

/// A value as it stands in a record (sqlite.org/fileformat.html, section 2.1).
package enum StoredValue: Equatable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    /// In the encoding of the database.
    case text(ArraySlice<UInt8>)
    case blob(ArraySlice<UInt8>)

    /// The values of a record; nil where it makes no sense.
    package static func values(ofRecord record: [UInt8]) -> [StoredValue]? {
        var header = ByteReader(record[...], at: 0)
        guard let end = header.varint().flatMap({ Int(exactly: $0) }), end <= record.count else { return nil }
        var body = ByteReader(record[...], at: end)
        var values: [StoredValue] = []
        while header.position < end {
            guard let type = header.varint(), let value = StoredValue(type, &body) else { return nil }
            values.append(value)
        }
        return header.position == end ? values : nil
    }

    private init?(_ type: Int64, _ body: inout ByteReader) {
        func integer(_ size: Int) -> StoredValue? { body.signed(size).map { .integer($0) } }
        let value: StoredValue? =
            switch type {
            case 0: .null
            case 1...4: integer(Int(type))
            case 5: integer(6)
            case 6: integer(8)
            case 7: body.signed(8).map { .real(Double(bitPattern: UInt64(bitPattern: $0))) }
            case 8, 9: .integer(type - 8)
            // > A blob of (N-12)/2 bytes where N is even, a text of (N-13)/2 bytes where it is odd.
            case 12...: body.bytes(Int((type - 12) / 2)).map { type % 2 == 0 ? .blob($0) : .text($0) }
            default: nil
            }
        guard let value else { return nil }
        self = value
    }
}
