internal import CipherKeys

extension WriteAheadLog {
    /// What in a WAL differs from what was written, a sentence each.
    ///
    /// SQLite reads a WAL up to the first frame whose checksum is wrong and ignores the rest without an error. After a crash
    /// the frames behind the last commit may well be wrong: cut off, or a new header before the page of an older frame.
    /// There a frame counts as damaged only where one word of it is wrong, or where a later frame proves that it was whole.
    ///
    /// Nil where the WAL was restarted meanwhile.
    package static func flaws(_ source: any PageSource, pageSize: Int) throws -> [String]? {
        let header = try source.read(32, at: 0)
        guard header.contains(where: { $0 != 0 }) else { return [] }
        // > The checksum of the first 24 bytes; in the byte order that the magic number says.
        guard header.count == 32, let log = try WriteAheadLog(source), log.pageSize == pageSize,
            Checksum(header).adding(header[..<24]) == Checksum(header[24..<32], like: header)
        else { return ["the header of the write-ahead log is damaged"] }
        var flaws: [String] = []
        /// Frames that are wrong, and damaged if a commit follows that is right; or any right frame, where they hold a commit.
        var suspects: [String] = []
        var suspectsCommit = false
        var last = Checksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        let count = Int((try source.size() - 32) / Int64(length))
        frames: for number in 0..<max(0, count) {
            let frame = try source.read(length, at: 32 + Int64(number) * Int64(length))
            // A file that was made long without being written ends here.
            guard frame.count == length, frame.prefix(24).contains(where: { $0 != 0 }) else { break }
            let stored = Checksum(frame[16..<24], like: header)
            let isOurs = frame[8..<16] == header[16..<24]
            // > The checksum goes on from the frame before: its first 8 bytes, then the page.
            let before = last
            let isRight = isOurs && before.adding(frame[..<8]).adding(frame[24...]) == stored
            last = stored
            if isRight {
                // > For commit records, the size of the database file in pages after the commit. For all others, zero.
                guard suspectsCommit || frame.bigEndian(at: 4) != 0 else { continue }
                flaws += suspects
                (suspects, suspectsCommit) = ([], false)
            } else {
                let flaw = "frame \(number + 1) of the write-ahead log is damaged"
                if isOurs ? isNearlyRight(frame, before, stored) : isNearlyOurs(frame, header) {
                    flaws.append(flaw)
                } else if isOurs {
                    suspects.append(flaw)
                    suspectsCommit = suspectsCommit || frame.bigEndian(at: 4) != 0
                } else {
                    // One of an earlier log: ours ends here, or after a loss of power was not written further.
                    break frames
                }
            }
        }
        return try source.read(32, at: 0) == header ? flaws : nil
    }

    /// Which frames of a WAL count.
    package enum Extent {
        /// Those that SQLite reads: up to the first whose checksum is wrong.
        case valid
        /// All with the header's salts, to find what is damaged and to recover what stands behind it.
        case all
    }

    /// How many frames SQLite reads of a WAL: those before the first whose checksum is wrong.
    package static func validFrames(_ source: any PageSource) throws -> Int {
        let header = try source.read(32, at: 0)
        guard header.count == 32, let log = try WriteAheadLog(source, frames: 0) else { return 0 }
        var last = Checksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        // Not what a writer appends meanwhile, who may be quicker.
        let count = try Int((source.size() - 32) / Int64(length))
        for number in 0..<max(0, count) {
            let frame = try source.read(length, at: 32 + Int64(number) * Int64(length))
            guard frame.count == length, frame[8..<16] == header[16..<24] else { return number }
            last = last.adding(frame[..<8]).adding(frame[24...])
            guard last == Checksum(frame[16..<24], like: header) else { return number }
        }
        return max(0, count)
    }

    /// Whether one 32-bit word of the page, the page number, the size or the checksum is all that is wrong.
    private static func isNearlyRight(_ frame: [UInt8], _ before: Checksum, _ stored: Checksum) -> Bool {
        let difference = stored.subtracting(before.adding(frame[..<8]).adding(frame[24...]))
        if difference.isOneWord { return true }
        let words = (frame.count - 16) / 4
        return before.weights(ofWords: words).contains { difference.isMultiple(of: $0) }
    }

    /// Whether one word of the salts is the header's. In a frame of an earlier log none is: each restart increments the first and
    /// chooses the second at random.
    private static func isNearlyOurs(_ frame: [UInt8], _ header: [UInt8]) -> Bool {
        frame[8..<12] == header[16..<20] || frame[12..<16] == header[20..<24]
    }

    /// > The Fletcher-like sum of 32-bit words by which frames are known (sqlite.org/fileformat.html, section 4.2).
    private struct Checksum: Equatable {
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

        func subtracting(_ other: Checksum) -> Checksum {
            var difference = self
            difference.first &-= other.first
            difference.second &-= other.second
            return difference
        }

        /// Whether only one of the two words differs from zero.
        var isOneWord: Bool { first == 0 || second == 0 }

        /// By how much the sum changes when a word grows by one, for each of the last `count` words that were added, the last
        /// ones first. The sum is linear in its words, modulo 2^32.
        func weights(ofWords count: Int) -> [Checksum] {
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
        func isMultiple(of weight: Checksum) -> Bool {
            first &* weight.second == second &* weight.first
        }

        func adding(_ bytes: ArraySlice<UInt8>) -> Checksum {
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
}
