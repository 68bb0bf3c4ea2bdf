/// A database as a new connection would find it: where the write-ahead log has a newer image of a page, that one.
struct NewestPages: PageSource {
    private let database: any PageSource
    private let log: (any PageSource)?
    private let offsets: [UInt32: Int64]
    private let pageSize: Int

    init(database: any PageSource, log: (any PageSource)?, pageSize: Int) throws {
        self.database = database
        self.log = log
        self.pageSize = pageSize
        offsets = try log.flatMap { try WriteAheadLog($0) }?.offsets ?? [:]
    }

    /// Of the database file; pages that stand in the log only are beyond it.
    func size() throws -> Int64 {
        try database.size()
    }

    /// For whole pages, the last of the file excepted.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = try database.read(into: buffer, at: offset)
        guard let log, !offsets.isEmpty else { return count }
        for start in stride(from: 0, to: count, by: pageSize) {
            let number = UInt32((offset + Int64(start)) / Int64(pageSize)) + 1
            guard let place = offsets[number] else { continue }
            _ = try log.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[start..<count].prefix(pageSize)),
                at: place
            )
        }
        return count
    }
}
