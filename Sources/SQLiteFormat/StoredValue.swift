package import CipherSystem

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

extension [UInt8] {
    /// Appends a varint: seven bits in each byte but the ninth, whose high bit says that another one follows.
    package mutating func append(varint value: Int64) {
        let bits = UInt64(bitPattern: value)
        if bits >> 56 != 0 {
            for shift in stride(from: 57, through: 8, by: -7) {
                append(UInt8(truncatingIfNeeded: bits >> shift) | 0x80)
            }
            append(UInt8(truncatingIfNeeded: bits))
            return
        }
        var count = 1
        while count < 8, bits >> (7 * count) != 0 { count += 1 }
        for index in (1..<count).reversed() { append(UInt8(truncatingIfNeeded: bits >> (7 * index)) | 0x80) }
        append(UInt8(truncatingIfNeeded: bits) & 0x7f)
    }

    /// Appends `value` as a number of `count` bytes, the most significant first.
    package mutating func append(bigEndian value: UInt64, count: Int) {
        for index in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: value >> (8 * index))) }
    }
}

extension StoredValue {
    /// The fewest bytes that a record can have for `number`.
    private static func bytes(of number: Int64) -> Int {
        for size in [1, 2, 3, 4, 6] {
            let unused = Int64(64 - 8 * size)
            if (number << unused) >> unused == number { return size }
        }
        return 8
    }

    /// A record of `values`, which schemas of every format can have: the numbers 0 and 1 take a byte.
    package static func record(of values: [StoredValue]) -> [UInt8] {
        var (types, body): ([UInt8], [UInt8]) = ([], [])
        for value in values {
            switch value {
            case .null: types.append(0)
            case .integer(let number):
                // > 1 to 4: so many bytes; 5: six; 6: eight
                let size = bytes(of: number)
                types.append(size == 8 ? 6 : size == 6 ? 5 : UInt8(size))
                body.append(bigEndian: UInt64(bitPattern: number), count: size)
            case .real(let number):
                types.append(7)
                body.append(bigEndian: number.bitPattern, count: 8)
            case .text(let bytes):
                types.append(varint: Int64(13 + 2 * bytes.count))
                body += bytes
            case .blob(let bytes):
                types.append(varint: Int64(12 + 2 * bytes.count))
                body += bytes
            }
        }
        // The size of the header counts itself.
        var header: [UInt8] = []
        var size = 0
        repeat {
            size += 1
            header = []
            header.append(varint: Int64(size + types.count))
        } while header.count != size
        return header + types + body
    }
}

extension ByteReader {
    /// > Seven bits of each of up to eight bytes whose high bit is set and one whose is not; of a ninth all eight bits.
    package mutating func varint() -> Int64? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = bytes(1)?.first else { return nil }
            if index == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte < 0x80 { return Int64(bitPattern: value) }
        }
        return nil
    }
}
