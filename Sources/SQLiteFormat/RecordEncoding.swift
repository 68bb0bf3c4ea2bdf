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
