internal import CipherSystem

/// The pages that stand in a `-wal` file, where they are newer than the database's own.
///
/// Frame headers and page numbers are in clear, the pages in the form that they have in the database
/// (sqlite.org/fileformat.html, section 4).
package struct WriteAheadLog {
    /// Where the newest committed image of each page begins in the file.
    package private(set) var offsets: [UInt32: Int64] = [:]
    /// Where each image of page 1 begins, committed or not: the first thing a recovery may bring back.
    package private(set) var firstPages: [Int64] = []
    package let pageSize: Int
    /// Pages that the database has after the last transaction; nil without one.
    package private(set) var pageCount: Int?

    /// Reads the index of `source`; nil where it is empty or not a write-ahead log.
    ///
    /// - Parameter frames: How many frames are looked at; nil for all that have the header's salts.
    package init?(_ source: some PageSource, frames: Int? = nil) throws {
        let header = try source.read(32, at: 0)
        guard header.count == 32, header[0..<3] == [0x37, 0x7f, 0x06], header[3] | 1 == 0x83 else { return nil }
        pageSize = header.bigEndian(at: 8)
        guard pageSize >= 512, pageSize <= 65536 else { return nil }
        let salts = header[16..<24]
        let end = try min(source.size(), frames.map { WriteAheadLog.offset(ofFrame: $0 + 1, pageSize) } ?? .max)
        var offset: Int64 = 32
        var pending: [UInt32: Int64] = [:]
        while offset + Int64(24 + pageSize) <= end {
            let frame = try source.read(24, at: offset)
            // > A frame is considered valid if the salt values in its header match those of the WAL header.
            // The checksums are not looked at: each page is authenticated by its HMAC.
            guard frame.count == 24, frame[8..<16] == salts else { break }
            let number = UInt32(frame.bigEndian(at: 0))
            // No page has the number 0; a file that was made long without being written ends here.
            guard number > 0 else { break }
            pending[number] = offset + 24
            if number == 1 { firstPages.append(offset + 24) }
            // > For commit records, the size of the database file in pages after the commit. For all others, zero.
            let count = frame.bigEndian(at: 4)
            if count != 0 {
                pageCount = count
                offsets.merge(pending) { $1 }
                pending.removeAll()
            }
            offset += Int64(24 + pageSize)
        }
    }
}

extension WriteAheadLog {
    /// The damage in a WAL, a sentence each.
    ///
    /// SQLite reads a WAL up to the first frame whose checksum is wrong and ignores the rest without an error. After a crash
    /// the frames behind the last commit may well be wrong: cut off, or a new header before the page of an older frame.
    /// There a frame counts as damaged only where one word of it is wrong, or where a later frame proves that it was whole.
    ///
    /// Nil where the WAL was restarted meanwhile.
    package static func errors(_ source: any PageSource, pageSize: Int) throws -> [String]? {
        let header = try source.read(32, at: 0)
        guard header.contains(where: { $0 != 0 }) else { return [] }
        // > The checksum of the first 24 bytes; in the byte order that the magic number says.
        guard header.count == 32, let log = try WriteAheadLog(source), log.pageSize == pageSize,
            WriteAheadLogChecksum(header).adding(header[..<24]) == WriteAheadLogChecksum(header[24..<32], like: header)
        else { return ["the header of the write-ahead log is damaged"] }
        var errors: [String] = []
        /// Frames that are wrong, and damaged if a commit follows that is right; or any right frame, where they hold a commit.
        var suspects: [String] = []
        var suspectsCommit = false
        var last = WriteAheadLogChecksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        let count = Int((try source.size() - 32) / Int64(length))
        frames: for number in 0..<max(0, count) {
            let frame = try source.read(length, at: offset(ofFrame: number + 1, log.pageSize))
            // A file that was made long without being written ends here.
            guard frame.count == length, frame.prefix(24).contains(where: { $0 != 0 }) else { break }
            let stored = WriteAheadLogChecksum(frame[16..<24], like: header)
            let isOurs = frame[8..<16] == header[16..<24]
            // > The checksum goes on from the frame before: its first 8 bytes, then the page.
            let before = last
            let isRight = isOurs && before.adding(frame[..<8]).adding(frame[24...]) == stored
            last = stored
            if isRight {
                // > For commit records, the size of the database file in pages after the commit. For all others, zero.
                guard suspectsCommit || frame.bigEndian(at: 4) != 0 else { continue }
                errors += suspects
                (suspects, suspectsCommit) = ([], false)
            } else {
                let flaw = "frame \(number + 1) of the write-ahead log is damaged"
                if isOurs ? isNearlyRight(frame, before, stored) : isNearlyOurs(frame, header) {
                    errors.append(flaw)
                } else if isOurs {
                    suspects.append(flaw)
                    suspectsCommit = suspectsCommit || frame.bigEndian(at: 4) != 0
                } else {
                    // One of an earlier log: ours ends here, or after a loss of power was not written further.
                    break frames
                }
            }
        }
        return try source.read(32, at: 0) == header ? errors : nil
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
        // Not what a writer appends meanwhile, who may be quicker.
        let count = try Int((source.size() - 32) / Int64(24 + log.pageSize))
        return try validFrames(source, header, after: 0, header[24..<32], through: count)
    }

    /// The last frame before the first whose salts or checksum are wrong, from 1.
    ///
    /// - Parameters:
    ///   - frame: The frame before the first that is looked at; 0 for the header.
    ///   - checksum: The checksum that this one ends with.
    ///   - body: Called with the number and the bytes of each frame.
    static func validFrames(
        _ source: any PageSource,
        _ header: [UInt8],
        after frame: Int,
        _ checksum: ArraySlice<UInt8>,
        through last: Int,
        _ body: (_ number: Int, _ bytes: [UInt8]) -> Void = { _, _ in }
    ) throws -> Int {
        var sum = WriteAheadLogChecksum(checksum, like: header)
        let pageSize = header.bigEndian(at: 8)
        for number in frame..<max(frame, last) {
            let bytes = try source.read(24 + pageSize, at: offset(ofFrame: number + 1, pageSize))
            guard bytes.count == 24 + pageSize, bytes[8..<16] == header[16..<24] else { return number }
            // > The checksum goes on from the frame before: its first 8 bytes, then the page.
            sum = sum.adding(bytes[..<8]).adding(bytes[24...])
            guard sum == WriteAheadLogChecksum(bytes[16..<24], like: header) else { return number }
            body(number + 1, bytes)
        }
        return max(frame, last)
    }

    /// Where frame `number` begins, from 1.
    static func offset(ofFrame number: Int, _ pageSize: Int) -> Int64 {
        32 + Int64(number - 1) * Int64(24 + pageSize)
    }

    /// Whether one 32-bit word of the page, the page number, the size or the checksum is all that is wrong.
    private static func isNearlyRight(
        _ frame: [UInt8],
        _ before: WriteAheadLogChecksum,
        _ stored: WriteAheadLogChecksum
    ) -> Bool {
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
}

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
