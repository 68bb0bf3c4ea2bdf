internal import SQLiteFormat

/// The images of page 1 in the log, read once and only when they are asked for.
final class FirstPagesInLog {
    private let open: () -> (any PageSource)?
    private var images: [[UInt8]]?

    init(_ open: @escaping () -> (any PageSource)?) {
        self.open = open
    }

    func pages() throws -> [[UInt8]] {
        if let images { return images }
        var found: [[UInt8]] = []
        if let log = open(), let index = try WriteAheadLog(log) {
            // The last of them is the one in force; one before may become so when a torn log is recovered. Each takes as long as page 1.
            found = try index.firstPages.suffix(16).reversed().map { try log.read(index.pageSize, at: $0) }
        }
        images = found
        return found
    }
}
