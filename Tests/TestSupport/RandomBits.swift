/// Whether bytes are made by a generator: over 64 samples each bit is once 0 and once 1. Of random ones a bit is not in one case of
/// 2^63.
package enum RandomBits {
    /// The bits, counted from the first byte's lowest, that are the same in all samples.
    package static func constant(in samples: [[UInt8]]) -> [Int] {
        let count = samples.map(\.count).min() ?? 0
        return (0..<8 * count).filter { bit in
            Set(samples.map { $0[bit / 8] >> UInt8(bit % 8) & 1 }).count < 2
        }
    }
}
