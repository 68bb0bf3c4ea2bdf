internal import CipherSystem

extension WriteAheadLog {
    /// What in a WAL differs from what was written, a sentence each.
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
            WriteAheadLog.isHeaderValid(header)
        else { return ["the header of the write-ahead log is damaged"] }
        var errors: [String] = []
        /// Frames that are wrong, and damaged if a commit follows that is right; or any right frame, where they hold a commit.
        var suspects: [String] = []
        var suspectsCommit = false
        var last = WriteAheadLogChecksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        let count = Int((try source.size() - 32) / Int64(length))
        frames: for number in 0..<max(0, count) {
            let frame = try source.read(length, at: 32 + Int64(number) * Int64(length))
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

    /// Whether the checksum of the first 24 bytes is right.
    static func isHeaderValid(_ header: [UInt8]) -> Bool {
        WriteAheadLogChecksum(header).adding(header[..<24]) == WriteAheadLogChecksum(header[24..<32], like: header)
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
        var last = WriteAheadLogChecksum(header[24..<32], like: header)
        let length = 24 + log.pageSize
        // Not what a writer appends meanwhile, who may be quicker.
        let count = try Int((source.size() - 32) / Int64(length))
        for number in 0..<max(0, count) {
            let frame = try source.read(length, at: 32 + Int64(number) * Int64(length))
            guard frame.count == length, frame[8..<16] == header[16..<24] else { return number }
            last = last.adding(frame[..<8]).adding(frame[24...])
            guard last == WriteAheadLogChecksum(frame[16..<24], like: header) else { return number }
        }
        return max(0, count)
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
