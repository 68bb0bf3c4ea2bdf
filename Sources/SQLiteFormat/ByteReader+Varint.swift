package import CipherSystem

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
