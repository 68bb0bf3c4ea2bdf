/// A database as a new connection would find it: where its write-ahead log has a newer image of a page, that one; where a
/// transaction was cut off, the image from before it, which its rollback journal has.
package struct NewestPages: PageSource {
    private let database: any PageSource
    private let other: (any PageSource)?
    private let offsets: [UInt32: Int64]
    private let pageSize: Int
    /// The database's size in pages after the log's last transaction, or before the journal's; not to be trusted.
    private let pageCount: Int?
    /// The highest number of a page of the log or the journal that is known to be what was written.
    private var lastProved = 0

    /// A log of another page size is another database's, and does not count.
    ///
    /// - Parameter frames: How many frames of the log count; nil for all that have its salts.
    package init(database: any PageSource, log: (any PageSource)?, pageSize: Int, frames: Int? = nil) throws {
        let index = try log.flatMap { try WriteAheadLog($0, frames: frames) }.flatMap {
            $0.pageSize == pageSize ? $0 : nil
        }
        self.init(database, log, index?.offsets ?? [:], pageSize, index?.pageCount)
    }

    package init(database: any PageSource, journal: any PageSource, pageSize: Int) throws {
        let index = try RollbackJournal(journal)
        self.init(database, journal, try index?.offsets() ?? [:], pageSize, index?.pageCount)
    }

    private init(
        _ database: any PageSource,
        _ other: (any PageSource)?,
        _ offsets: [UInt32: Int64],
        _ pageSize: Int,
        _ pageCount: Int?
    ) {
        self.database = database
        self.other = offsets.isEmpty ? nil : other
        self.offsets = offsets
        self.pageSize = pageSize
        self.pageCount = offsets.isEmpty ? nil : pageCount
    }

    /// With pages that neither of the two has, where one behind them is what was written: the database was cut off.
    package func proving(_ isWritten: (_ page: [UInt8], _ number: UInt32) throws -> Bool) throws -> NewestPages {
        let size = try size()
        var proved = self
        let behind = offsets.filter { Int64($0.key) * Int64(pageSize) > size }.sorted { $0.key > $1.key }
        let last = try behind.first { number, place in
            guard let page = try other?.read(pageSize, at: place) else { return false }
            return try isWritten(page, number)
        }
        if let last { proved.lastProved = Int(last.key) }
        return proved
    }

    /// Whether the page is one that neither of the two has, before another one.
    package func isAbsent(_ number: Int) throws -> Bool {
        try number <= lastProved && Int64(number) * Int64(pageSize) > database.size() && offsets[UInt32(number)] == nil
    }

    package func size() throws -> Int64 {
        let size = try database.size()
        // Each page stands in one of the two, but for the page with the locks.
        let most = max(size + Int64(offsets.count + 1) * Int64(pageSize), Int64(lastProved) * Int64(pageSize))
        return pageCount.map { min(Int64($0) * Int64(pageSize), most) } ?? size
    }

    /// For whole pages, the last of the file excepted.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try database.read(into: buffer, at: offset)
        guard let other else { return count }
        // A page that neither file has is not authentic.
        buffer[count...].initializeMemory(as: UInt8.self, repeating: 0)
        let end = Int(max(0, min(Int64(buffer.count), try size() - offset)))
        for start in stride(from: 0, to: end, by: pageSize) {
            let number = UInt32((offset + Int64(start)) / Int64(pageSize)) + 1
            guard let place = offsets[number] else { continue }
            _ = try other.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[start..<end].prefix(pageSize)),
                at: place
            )
        }
        return end
    }
}

/// The files that SQLite keeps beside a database in use: the database's name and a suffix (sqlite.org/tempfiles.html).
package enum SideFile: String, CaseIterable {
    case rollbackJournal = "-journal"
    case writeAheadLog = "-wal"
    /// Of the write-ahead log: its index, and the locks of its users.
    case sharedMemory = "-shm"

    package func path(of database: String) -> String { database + rawValue }
}
