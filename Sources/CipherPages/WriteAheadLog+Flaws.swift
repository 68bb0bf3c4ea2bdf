internal import CipherKeys

extension WriteAheadLog {
    /// What in a log is not what was written, a sentence each.
    ///
    /// SQLite reads a log up to the first frame whose checksum is wrong, and forgets all that follows in silence. After a
    /// crash what follows the last commit may well be wrong: frames are cut off, or were written over and not yet counted
    /// anew. There only what is wrong by a bit is damage.
    ///
    /// Nil where the log began anew meanwhile.
    package static func flaws(_ source: any PageSource, cipher: PageCipher) throws -> [String]? {
        let header = try source.read(32, at: 0)
        guard header.contains(where: { $0 != 0 }) else { return [] }
        // > The checksum of the first 24 bytes; in the byte order that the magic number says.
        guard header.count == 32, let log = try WriteAheadLog(source), log.pageSize == cipher.format.pageSize,
            Checksum(header).adding(header[..<24]) == Checksum(header[24..<32], like: header)
        else { return ["the header of the write-ahead log is damaged"] }
        var flaws: [String] = []
        /// Flaws that are none unless a commit follows that is right.
        var suspects: [String] = []
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
                guard frame.bigEndian(at: 4) != 0 else { continue }
                flaws += suspects
                suspects = []
            } else {
                let flaw = "frame \(number + 1) of the write-ahead log is damaged"
                if isOurs ? isNearlyRight(frame, before, stored) : isNearlyOurs(frame, header) {
                    flaws.append(flaw)
                } else if isOurs {
                    suspects.append(flaw)
                } else {
                    // One of an earlier log: ours ends here, or after a loss of power was not written further.
                    break frames
                }
            }
        }
        return try source.read(32, at: 0) == header ? flaws : nil
    }

    /// How many frames SQLite reads of a log: those up to the first whose checksum is wrong.
    package static func framesInForce(_ source: any PageSource) throws -> Int {
        let header = try source.read(32, at: 0)
        guard header.count == 32, let log = try WriteAheadLog(source, frames: 0) else { return 0 }
        var last = Checksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        var number = 0
        while true {
            let frame = try source.read(length, at: 32 + Int64(number) * Int64(length))
            guard frame.count == length, frame[8..<16] == header[16..<24] else { return number }
            last = last.adding(frame[..<8]).adding(frame[24...])
            guard last == Checksum(frame[16..<24], like: header) else { return number }
            number += 1
        }
    }

    /// Whether a bit of the page number, the size or the checksum is all that is wrong.
    private static func isNearlyRight(_ frame: [UInt8], _ last: Checksum, _ stored: Checksum) -> Bool {
        if last.adding(frame[..<8]).adding(frame[24...]).differs(from: stored) <= 2 { return true }
        return (0..<64).contains { bit in
            var other = Array(frame[..<8])
            other[bit / 8] ^= 1 << (bit % 8)
            return last.adding(other[...]).adding(frame[24...]) == stored
        }
    }

    /// Whether the salts differ from the header's by a bit or two; those of an earlier log do by sixteen.
    private static func isNearlyOurs(_ frame: [UInt8], _ header: [UInt8]) -> Bool {
        zip(frame[8..<16], header[16..<24]).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount } <= 2
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

        /// In how many bits.
        func differs(from other: Checksum) -> Int {
            (first ^ other.first).nonzeroBitCount + (second ^ other.second).nonzeroBitCount
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
