import Foundation

/// A row of the table t of the benchmark.
public struct SampleRow<Blob: RandomAccessCollection<UInt8>> {
    /// The primary key, from 0 on.
    public let id: Int64
    /// 16 bytes.
    public let name: String
    /// Half of the key.
    public let value: Double
    /// 32 bytes.
    public let data: Blob

    /// A row of these values.
    public init(_ id: Int64, _ name: String, _ value: Double, _ data: Blob) {
        self.id = id
        self.name = name
        self.value = value
        self.data = data
    }
}

extension SampleRow<Data> {
    /// The rows that every side inserts, and that raw_fill writes.
    public static func rows(_ count: Int) -> [SampleRow] {
        (0..<count).map { id in
            let text = String(id)
            let name = "name " + String(repeating: "0", count: 11 - text.count) + text
            return SampleRow(Int64(id), name, Double(id) / 2, Data(repeating: UInt8(truncatingIfNeeded: id), count: 32))
        }
    }
}

/// What shows that a row was read, and all of its values.
@inlinable @inline(__always)
public func digest(_ id: Int64, _ name: String, _ value: Double, _ data: some RandomAccessCollection<UInt8>) -> Int64 {
    id + Int64(name.utf8.first!) + Int64(name.utf8.count) + Int64(value) + Int64(data.first!) + Int64(data.count)
}

/// Keys in a random order, the same each time.
public func keys(_ count: Int, below end: Int) -> [Int64] {
    var state: UInt64 = 20_261_121
    return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int64(state >> 33) % Int64(end)
    }
}
