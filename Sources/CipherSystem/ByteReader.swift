/// Reads numbers and bytes one after the other; nil where they would end behind the bytes there are.
package struct ByteReader {
    private let source: ArraySlice<UInt8>
    package private(set) var position: Int

    package init(_ source: ArraySlice<UInt8>, at position: Int) {
        self.source = source
        self.position = position
    }

    package mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, position >= source.startIndex, count <= source.endIndex - position else { return nil }
        defer { position += count }
        return source[position..<(position + count)]
    }

    package mutating func bigEndian32() -> Int? {
        bigEndian(4).map { Int($0) }
    }

    /// A number of `count` bytes, eight at most.
    package mutating func bigEndian(_ count: Int) -> UInt64? {
        bytes(count)?.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// > A two's-complement number of `count` bytes, the most significant first.
    package mutating func signed(_ count: Int) -> Int64? {
        guard let bytes = bytes(count), let first = bytes.first else { return nil }
        return bytes.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
    }
}

extension [UInt8] {
    /// The 2 bytes at `offset` as a big-endian number.
    package func bigEndian16(at offset: Int) -> Int {
        Int(self[offset]) << 8 | Int(self[offset + 1])
    }

    /// The 4 bytes at `offset` as a big-endian number.
    package func bigEndian(at offset: Int) -> Int {
        self[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
    }
}
