package import CipherKeys
package import SQLiteFormat

/// What a key says of the frames that SQLite would read of a write-ahead log.
///
/// The checksums of a WAL need no key: a WAL of another database, or one that somebody made, has right ones. SQLite would copy its pages
/// over those of the database.
package struct LogAuthentication {
    /// How many pages have a newest image in the log.
    private let pageCount: Int
    /// Those whose image is not authentic, ascending.
    private let damaged: [UInt32]
    /// Whether page 1 counts as many pages as the last transaction of the log.
    private let isSizeRight: Bool
    /// Whether the log has all pages that the file has.
    private let isWhole: Bool
    /// Whether page 1 of the file is authentic.
    private let opensFile: Bool

    /// Nil without a log.
    ///
    /// - Parameter database: The file, whose page 1 counts where the log has none.
    package init?(_ source: any PageSource, database: any PageSource, key: DerivedKey, format: CipherFormat) throws {
        guard let log = try WriteAheadLog(source, frames: WriteAheadLog.validFrames(source)) else { return nil }
        let images = log.offsets.sorted { $0.value < $1.value }
        pageCount = images.count
        // No change of key leaves pages of another size.
        guard log.pageSize == format.pageSize else {
            (damaged, isSizeRight, isWhole, opensFile) = (log.offsets.keys.sorted(), true, false, true)
            return
        }
        let cipher = try PageCipher(key: key, format: format)
        damaged = try images.filter { number, offset in
            try cipher.isAuthentic(source.read(log.pageSize, at: offset), number: number) == false
        }.map(\.key).sorted()
        func count(_ page: [UInt8]) throws -> Int? {
            guard try cipher.opensFirstPage(page) else { return nil }
            let header = try DatabaseHeader(cipher.decrypt(page, number: 1))
            return header.countsPages ? header.pageCount : nil
        }
        let firstPage = try database.read(log.pageSize, at: 0)
        opensFile = try cipher.opensFirstPage(firstPage)
        let ofFile = try count(firstPage)
        let inForce = try log.offsets[1].map { try count(source.read(log.pageSize, at: $0)) } ?? ofFile
        isSizeRight = inForce == nil || log.pageCount == nil || inForce == log.pageCount
        // SQLite never writes the page with the locks.
        isWhole = ofFile == log.pageCount && log.offsets[1] != nil && pageCount + 1 >= ofFile ?? .max
    }

    /// Where a log without a right image comes from.
    package enum Origin {
        /// A change of key that is still in the log, or that came into the file meanwhile: the key is not in force.
        case changeOfKey
        /// Another database, or one that somebody made.
        case unknown
    }

    /// Nil if the key is right for one of the images, or there is none.
    package var foreignOrigin: Origin? {
        guard pageCount > 0, damaged.count == pageCount else { return nil }
        return isWhole || !opensFile ? .changeOfKey : .unknown
    }

    /// The damage, a sentence each.
    package var errors: [String] {
        let pages = damaged.prefix(LogAuthentication.mostErrors).map {
            "the image of page \($0) in the write-ahead log is damaged"
        }
        return pages + (isSizeRight ? [] : ["the write-ahead log has another size of the database than page 1"])
    }

    /// More are not told: a log can be long.
    private static let mostErrors = 100
}
