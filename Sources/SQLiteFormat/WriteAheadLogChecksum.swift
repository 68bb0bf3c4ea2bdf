internal import CipherSystem

/// > The Fletcher-like sum of 32-bit words by which frames are known (sqlite.org/fileformat.html, section 4.2).
struct WriteAheadLogChecksum: Equatable {
    private var first: UInt32 = 0
    private var second: UInt32 = 0
    private let isBigEndian: Bool

    /// That of no bytes, for the log with `header`.
    init(_ header: [UInt8]) {
        isBigEndian = header[3] & 1 == 1
    }

    /// As it is stored, which is always in big-endian order.
    init(_ stored: ArraySlice<UInt8>, like header: [UInt8]) {
        self.init(header)
        let bytes = Array(stored)
        (first, second) = (UInt32(bytes.bigEndian(at: 0)), UInt32(bytes.bigEndian(at: 4)))
    }

    func subtracting(_ other: WriteAheadLogChecksum) -> WriteAheadLogChecksum {
        var difference = self
        difference.first &-= other.first
        difference.second &-= other.second
        return difference
    }

    /// Whether only one of the two words differs from zero.
    var isOneWord: Bool { first == 0 || second == 0 }

    /// By how much the sum changes when a word grows by one, for each of the last `count` words that were added, the last
    /// ones first. The sum is linear in its words, modulo 2^32.
    func weights(ofWords count: Int) -> [WriteAheadLogChecksum] {
        var (even, odd) = (self, self)
        // A step adds x and the second sum to the first, then y and the first sum to the second.
        (even.first, even.second, odd.first, odd.second) = (1, 1, 0, 1)
        return (0..<(count / 2)).flatMap { _ in
            defer {
                even.step()
                odd.step()
            }
            return [even, odd]
        }
    }

    private mutating func step() {
        first &+= second
        second &+= first
    }

    /// Whether some number times `weight` is this; the two products differ else, but for one in 2^32.
    func isMultiple(of weight: WriteAheadLogChecksum) -> Bool {
        first &* weight.second == second &* weight.first
    }

    func adding(_ bytes: ArraySlice<UInt8>) -> WriteAheadLogChecksum {
        var sum = self
        bytes.withUnsafeBytes { bytes in
            for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
                let x = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let y = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                sum.first &+= (isBigEndian ? x.bigEndian : x.littleEndian) &+ sum.second
                sum.second &+= (isBigEndian ? y.bigEndian : y.littleEndian) &+ sum.first
            }
        }
        return sum
    }
}
