package import CipherKeys

/// Authenticates every page of a database: in its newest image, which may stand in the write-ahead log.
package struct PageScan {
    /// What a scan found.
    package struct Result: Equatable, Sendable {
        /// Whole pages in the database file.
        package var pages: Int
        /// The numbers of the pages that are not what was written, from 1, ascending.
        package var damaged: [Int]
    }

    private let database: any PageSource
    private let log: (any PageSource)?
    private let cipher: PageCipher

    package init(database: any PageSource, log: (any PageSource)?, key: DerivedKey, format: CipherFormat) throws {
        self.database = database
        self.log = log
        cipher = try PageCipher(key: key, format: format)
    }

    /// Reads all pages and calls `progress` with the number done and the number in all, about every mebibyte.
    ///
    /// In a format without authentication nothing can be found. A page at the end that is not whole counts as damaged.
    package func run(progress: (Int, Int) throws -> Void = { _, _ in }) throws -> Result {
        let pageSize = cipher.format.pageSize
        let size = try database.size()
        let pages = Int(size) / pageSize
        let total = (Int(size) + pageSize - 1) / pageSize
        guard total <= UInt32.max else { throw TooManyPages(count: total) }
        let newest = try log.flatMap { try WriteAheadLog($0) }?.offsets ?? [:]
        var damaged: [Int] = []
        let batch = max(1, (1 << 20) / pageSize)
        for first in stride(from: 0, to: total, by: batch) {
            let bytes = try database.read(min(batch, total - first) * pageSize, at: Int64(first) * Int64(pageSize))
            for index in first..<min(first + batch, total) {
                let page = bytes.dropFirst((index - first) * pageSize).prefix(pageSize)
                if try isDamaged(page, number: UInt32(index + 1), newest: newest) { damaged.append(index + 1) }
            }
            try progress(min(first + batch, total), total)
        }
        return Result(pages: pages, damaged: try stillDamaged(damaged, newest))
    }

    /// A page may be read while another process writes it: those that turn out whole a moment later are not damaged. As
    /// long as some do, the others are looked at again.
    private func stillDamaged(_ suspects: [Int], _ newest: [UInt32: Int64]) throws -> [Int] {
        var suspects = suspects
        for _ in 0..<3 where !suspects.isEmpty {
            Platform.sleep(milliseconds: 10)
            let pageSize = cipher.format.pageSize
            let again = try suspects.filter { number in
                let page = try database.read(pageSize, at: Int64(number - 1) * Int64(pageSize))
                return try isDamaged(page[...], number: UInt32(number), newest: newest)
            }
            if again.count == suspects.count { break }
            suspects = again
        }
        return suspects
    }

    private func isDamaged(_ page: ArraySlice<UInt8>, number: UInt32, newest: [UInt32: Int64]) throws -> Bool {
        // > SQLite never uses the page at offset 2^30, where the locks are: it stays as the file system made it.
        if Int64(number - 1) * Int64(cipher.format.pageSize) == 1 << 30 { return false }
        if let log, let offset = newest[number] {
            return try cipher.isAuthentic(log.read(cipher.format.pageSize, at: offset), number: number) == false
        }
        return try cipher.isAuthentic(page, number: number) == false
    }
}

/// More pages than a database can have: 4,294,967,294 (sqlite.org/limits.html).
package struct TooManyPages: Error, CustomStringConvertible {
    let count: Int

    package var description: String { "\(count) pages are more than a database can have" }
}
