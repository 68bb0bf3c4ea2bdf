internal import CipherSystem

/// How far a WAL was read: up to a commit.
package struct LogPosition: Equatable, Sendable {
    /// The first 32 bytes of the WAL.
    package let header: [UInt8]
    /// How many frames there are up to the commit; 0 for none.
    package let frames: Int
    /// The checksum in the last of them, or in the header.
    fileprivate let checksum: [UInt8]

    /// Nil where the file is no WAL.
    ///
    /// - Parameter frames: How many frames are in force.
    package init?(_ log: some PageSource, frames: Int) throws {
        guard let index = try WriteAheadLog(log, frames: 0) else { return nil }
        header = try log.read(32, at: 0)
        self.frames = frames
        checksum = frames == 0 ? Array(header[24..<32]) : try LogPosition.checksum(log, frame: frames, index.pageSize)
    }

    fileprivate init(header: [UInt8], frames: Int, checksum: [UInt8]) {
        self.header = header
        self.frames = frames
        self.checksum = checksum
    }

    package var pageSize: Int { header.bigEndian(at: 8) }

    /// That of frame `frame`, from 1; empty where there is none.
    fileprivate static func checksum(_ log: some PageSource, frame: Int, _ pageSize: Int) throws -> [UInt8] {
        try log.read(8, at: offset(ofFrame: frame, pageSize) + 16)
    }

    /// Where frame `frame` begins, from 1.
    fileprivate static func offset(ofFrame frame: Int, _ pageSize: Int) -> Int64 {
        32 + Int64(frame - 1) * Int64(24 + pageSize)
    }
}

/// What was committed to a WAL behind a position.
package struct LogChanges {
    /// Where the newest image of each page is in the file.
    package private(set) var offsets: [UInt32: Int64] = [:]
    /// Pages of the database after the last commit; nil without one.
    package private(set) var pageCount: Int?
    /// Behind the last commit.
    package private(set) var position: LogPosition
    /// Where the frames begin that are of the log before, and that log.
    private var earlier: (frame: Int, checksum: [UInt8])?
    private let header: [UInt8]

    /// Nil where it cannot be told: the log was restarted, and what was written before has been overwritten.
    ///
    /// - Parameter position: How far the log was read before.
    package init?(_ log: some PageSource, since position: LogPosition) throws {
        let size = position.pageSize
        header = try log.read(32, at: 0)
        self.position = position
        // What is behind the position is of no use if that is not there any more.
        guard header.count == 32,
            try position.frames == 0 || LogPosition.checksum(log, frame: position.frames, size) == position.checksum
        else { return nil }
        if header == position.header {
            try walk(log)
            return
        }
        // > Each restart increments the first salt. After one restart the frames of the log before are there still, but for those that
        // the new ones have overwritten.
        guard header.starts(with: position.header[..<12]), WriteAheadLog.isHeaderValid(header), position.frames > 0,
            UInt32(truncatingIfNeeded: header.bigEndian(at: 16))
                == UInt32(truncatingIfNeeded: position.header.bigEndian(at: 16)) &+ 1
        else { return nil }
        try walk(log)
        earlier = (position.frames, position.checksum)
        self.position = LogPosition(header: header, frames: 0, checksum: Array(header[24..<32]))
        try walk(log)
        guard try isUnchanged(log) else { return nil }
    }

    /// Whether what was found is in the file still; to be asked when the pages have been read.
    package func isUnchanged(_ log: some PageSource) throws -> Bool {
        guard try log.read(32, at: 0) == header else { return false }
        guard let earlier else { return true }
        return try LogPosition.checksum(log, frame: earlier.frame, position.pageSize) == earlier.checksum
    }

    /// Takes in the commits behind the position, as far as their checksums are right.
    private mutating func walk(_ log: some PageSource) throws {
        let (header, size) = (position.header, position.pageSize)
        var sum = WriteAheadLogChecksum(position.checksum[...], like: header)
        var frame = position.frames
        var pending: [UInt32: Int64] = [:]
        while true {
            let offset = LogPosition.offset(ofFrame: frame + 1, size)
            let bytes = try log.read(24 + size, at: offset)
            guard bytes.count == 24 + size, bytes[8..<16] == header[16..<24] else { return }
            sum = sum.adding(bytes[..<8]).adding(bytes[24...])
            guard sum == WriteAheadLogChecksum(bytes[16..<24], like: header) else { return }
            frame += 1
            pending[UInt32(bytes.bigEndian(at: 0))] = offset + 24
            let count = bytes.bigEndian(at: 4)
            guard count != 0 else { continue }
            pageCount = count
            offsets.merge(pending) { $1 }
            pending.removeAll()
            position = LogPosition(header: header, frames: frame, checksum: Array(bytes[16..<24]))
        }
    }
}
