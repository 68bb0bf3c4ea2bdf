package import CipherKeys
internal import CipherSystem
package import SQLiteFormat

/// Authenticates every page of a database: in its newest image, which may stand in the write-ahead log.
package struct PageScan {
    /// What a scan found.
    package struct Result: Equatable, Sendable {
        /// Whole pages in the database, with those that stand in the log only.
        package var pages: Int
        /// The numbers of the pages in the file that are not what was written, from 1, ascending; a part of one at the end is among them.
        package var damaged: [Int]
        /// Those that the header counts and the file does not have. A header can name four thousand millions.
        package var missing: Range<Int>
        /// Whether the part of a page at the end is one that the header does not count.
        package var endsInSurplus: Bool

        package init(pages: Int, damaged: [Int], missing: Range<Int> = 0..<0, endsInSurplus: Bool = false) {
            self.pages = pages
            self.damaged = damaged
            self.missing = missing
            self.endsInSurplus = endsInSurplus
        }

        package var isSound: Bool { damaged.isEmpty && missing.isEmpty }

        /// All that are damaged or missing; of the missing ones the first thousand.
        package var listed: [Int] { damaged + PageScan.listed(missing) }

        /// The missing ones, and at the end one that is cut.
        package var absent: Range<Int> {
            guard let last = damaged.last, last > pages, !endsInSurplus else { return missing }
            return (pages + 1)..<max(last + 1, missing.upperBound)
        }

        /// What the list does not say; nil where it is complete.
        package var rest: String? { PageScan.rest(of: missing) }
    }

    /// The first thousand.
    package static func listed(_ missing: Range<Int>) -> [Int] { Array(missing.prefix(mostMissing)) }

    /// All that are damaged; of those that neither file nor log has, the first thousand.
    package static func listed(_ damaged: [Int], in pages: NewestPages) throws -> [Int] {
        var absent = 0
        return try damaged.filter { number in
            guard try pages.isAbsent(number) else { return true }
            absent += 1
            return absent <= mostMissing
        }
    }

    /// How many pages are missing, where ``listed(_:)`` leaves some out.
    package static func rest(of missing: Range<Int>) -> String? {
        guard missing.count > mostMissing else { return nil }
        return "\(missing.count) pages are missing in all: the header counts \(missing.upperBound - 1)"
    }

    private static let mostMissing = 1000

    private let database: any PageSource
    private let log: (bytes: any PageSource, extent: WriteAheadLog.Extent)?
    private let key: DerivedKey
    private let format: CipherFormat
    private let inHeaderSizeOnly: Bool

    /// - Parameters:
    ///   - log: The WAL, with how much of it counts.
    ///   - inHeaderSizeOnly: Whether pages are left out that stand behind those which the header counts.
    package init(
        database: any PageSource,
        log: (bytes: any PageSource, extent: WriteAheadLog.Extent)?,
        key: DerivedKey,
        format: CipherFormat,
        inHeaderSizeOnly: Bool = false
    ) {
        self.database = database
        self.log = log
        self.key = key
        self.format = format
        self.inHeaderSizeOnly = inHeaderSizeOnly
    }

    /// Reads all pages, on all cores, and calls `progress` with the number done and the number in all, about every mebibyte.
    ///
    /// In a format without authentication nothing can be found. A page at the end that is not whole counts as damaged, as do those
    /// that the header counts and the file does not have.
    package func run(progress: (Int, Int) throws -> Void = { _, _ in }) throws -> Result {
        let result = try run(frames: nil, progress)
        // Checksums take as long as the authentication, so only where they may explain what was found.
        guard !result.isSound, let log, log.extent == .valid else { return result }
        return try run(frames: WriteAheadLog.validFrames(log.bytes), progress)
    }

    private func run(frames: Int?, _ progress: (Int, Int) throws -> Void) throws -> Result {
        let present = try proved(frames)
        let source = try counted(present)
        let pipeline = try PagePipeline(source, pageSize: format.pageSize)
        let damaged = Lock<[Int]>([])
        try pipeline.run(progress: progress) { [key, format] in
            let authenticator = try PageAuthenticator(key: key, format: format)
            return { batch in
                let found = try authenticator.damaged(in: batch)
                damaged.withLock { $0 += found.map(Int.init) }
            }
        }
        let pages = Int(try source.size()) / format.pageSize
        let suspects = try PageScan.listed(damaged.withLock { $0.sorted() }, in: present)
        let found = try stillDamaged(suspects, frames) { try progress(pages, pages) }
        let isHeaderDamaged = try found.first != 1 && HeaderFlaw(newest(frames).read(24, at: 0), format: format) != nil
        let inHeader = try PagesInHeaderSize(newest(frames), PageCipher(key: key, format: format))
        return Result(
            pages: pages,
            damaged: (isHeaderDamaged ? [1] : []) + found,
            missing: inHeader.missing,
            endsInSurplus: inHeader.endsInSurplus
        )
    }

    /// The pages in force, as they are found now.
    private func newest(_ frames: Int? = nil) throws -> any PageSource {
        try counted(proved(frames))
    }

    private func counted(_ pages: NewestPages) throws -> any PageSource {
        inHeaderSizeOnly ? try PagesInHeaderSize(pages, PageCipher(key: key, format: format)) : pages
    }

    private func proved(_ frames: Int?) throws -> NewestPages {
        try pages(frames).proved(by: PageCipher(key: key, format: format))
    }

    private func pages(_ frames: Int? = nil) throws -> NewestPages {
        try NewestPages(database: database, log: log?.bytes, pageSize: format.pageSize, frames: frames)
    }

    /// The numbers of the pages that the header counts and the file does not have; the log may have some of them.
    package func missingPages() throws -> Range<Int> {
        try PagesInHeaderSize(pages(), PageCipher(key: key, format: format)).missing
    }

    /// Whether the page of this number is what was written.
    package func isAuthentic(_ number: Int) throws -> Bool {
        try LockBytePage.isPage(UInt32(number), ofSize: format.pageSize) || damaged([number], in: newest()).isEmpty
            || stillDamaged([number], nil, {}).isEmpty
    }

    /// Those of the pages that are not what was written.
    private func damaged(
        _ numbers: [Int],
        in source: any PageSource,
        _ progress: () throws -> Void = {}
    ) throws -> [Int] {
        let cipher = try PageCipher(key: key, format: format)
        return try numbers.enumerated().filter { index, number in
            if index % 256 == 255 { try progress() }
            let page = try source.read(format.pageSize, at: Int64(number - 1) * Int64(format.pageSize))
            return try page.withUnsafeBytes { try cipher.isAuthentic($0, number: UInt32(number)) == false }
        }.map(\.element)
    }

    /// A page may be read while another process writes it, or the WAL restart: those that turn out whole a moment later
    /// are not damaged. As long as some do, the others are looked at again.
    private func stillDamaged(_ suspects: [Int], _ frames: Int?, _ progress: () throws -> Void) throws -> [Int] {
        var suspects = suspects
        for _ in 0..<3 where !suspects.isEmpty {
            Platform.sleep(milliseconds: 10)
            let again = try damaged(suspects, in: newest(frames), progress)
            if again.count == suspects.count { break }
            suspects = again
        }
        return suspects
    }
}
