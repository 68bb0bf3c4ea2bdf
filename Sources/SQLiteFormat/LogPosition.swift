internal import CipherSystem

/// How far a WAL was read: up to a commit that was in force.
package struct LogPosition: Equatable, Sendable {
    /// Of the WAL; of the next one, if there are no frames.
    package let salts: [UInt8]
    /// How many frames there are up to the commit.
    package let frames: Int
    /// The checksum in the last of them; empty without one.
    fileprivate let checksum: [UInt8]

    /// - Parameters:
    ///   - salts: As the index of the WAL has them.
    ///   - frames: How many frames are in force.
    package init(_ log: some PageSource, salts: [UInt8], frames: Int) throws {
        let header = try log.read(32, at: 0)
        let size = header.count == 32 ? header.bigEndian(at: 8) : 0
        self.init(
            salts: salts,
            frames: frames,
            checksum: frames == 0 ? [] : try log.read(8, at: WriteAheadLog.offset(ofFrame: frames, size) + 16)
        )
    }

    fileprivate init(salts: [UInt8], frames: Int, checksum: [UInt8]) {
        self.salts = salts
        self.frames = frames
        self.checksum = checksum
    }
}

/// What was committed to a WAL behind a position.
package struct LogChanges {
    /// Where the newest image of each page is in the file.
    package private(set) var offsets: [UInt32: Int64] = [:]
    /// Pages of the database after the last commit; 0 without one.
    package private(set) var pageCount = 0
    /// Behind the last commit.
    package private(set) var position: LogPosition
    package let pageSize: Int
    private let header: [UInt8]

    /// Nil where it cannot be told: the log was restarted, and had perhaps more than was read.
    ///
    /// - Parameters:
    ///   - position: How far the log was read before.
    ///   - frames: How many frames are in force, as the index of the WAL says together with `salts`. What stands behind them may be a
    ///     commit of a killed writer, which never was one.
    package init?(_ log: some PageSource, since position: LogPosition, salts: [UInt8], frames: Int) throws {
        header = try log.read(32, at: 0)
        self.position = position
        guard salts == position.salts, frames >= position.frames, header.count == 32 else { return nil }
        pageSize = header.bigEndian(at: 8)
        guard frames > position.frames else { return }
        guard try WriteAheadLog(log, frames: 0) != nil, Array(header[16..<24]) == salts, try walk(log, frames) else {
            return nil
        }
    }

    /// Whether what was found is in the file still; to be asked when the pages have been read. A restart begins with the header.
    package func isUnchanged(_ log: some PageSource) throws -> Bool {
        try log.read(32, at: 0) == header
    }

    /// Takes in the frames behind the position; returns whether all have the right checksum, and the last ends a commit.
    private mutating func walk(_ log: some PageSource, _ frames: Int) throws -> Bool {
        let before = position.frames == 0 ? Array(header[24..<32]) : position.checksum
        var checksum = before
        let last = try WriteAheadLog.validFrames(log, header, after: position.frames, before[...], through: frames) {
            offsets[UInt32($1.bigEndian(at: 0))] = WriteAheadLog.offset(ofFrame: $0, pageSize) + 24
            pageCount = $1.bigEndian(at: 4)
            checksum = Array($1[16..<24])
        }
        position = LogPosition(salts: position.salts, frames: last, checksum: checksum)
        return last == frames && pageCount > 0
    }
}
