#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// How often each value of a byte occurs.
package struct ByteHistogram {
    private var counts = [Int](repeating: 0, count: 256)
    private let total: Double

    /// Counts `bytes`.
    package init(_ bytes: [UInt8]) {
        for byte in bytes { counts[Int(byte)] += 1 }
        total = Double(bytes.count)
    }

    /// Shannon's entropy in bits per byte: 8 at most.
    package var entropy: Double {
        counts.filter { $0 > 0 }.reduce(0) { sum, count in
            let share = Double(count) / total
            return sum - share * log2(share)
        }
    }

    /// Pearson's chi-squared against equal counts.
    package var chiSquared: Double {
        let expected = total / 256
        return counts.reduce(0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
    }
}
