internal import CipherKeys
package import CipherPages
internal import CipherSystem
package import SQLiteFormat

/// The pages of an open database as they are stored: in its file, and in the WAL or rollback journal beside it.
package struct StoredPages: PageSource {
    /// The file's full path, links resolved.
    package let path: String
    let file: EngineFile

    init(_ connection: Connection) throws(DatabaseError) {
        path = connection.filename
        file = try EngineFile(connection)
    }

    /// Of the file alone, in bytes.
    package func size() throws -> Int64 { try file.size() }

    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try file.read(into: buffer, at: offset)
    }

    // MARK: Side files

    var writeAheadLog: FileBytes? { sideFile(.writeAheadLog) }
    var rollbackJournal: FileBytes? { sideFile(.rollbackJournal) }

    /// They carry no locks, so they may be opened freely; but not a link to the database itself, because closing that would drop
    /// this process's locks on it.
    private func sideFile(_ side: SideFile) -> FileBytes? {
        let sidePath = side.path(of: path)
        guard let side = try? Platform.status(of: sidePath), let main = try? Platform.status(of: path),
            side.kind == .regular, side.identity != main.identity
        else { return nil }
        return try? FileBytes(path: sidePath)
    }

    /// Whether SQLite would play `journal` back.
    static func isHot(_ journal: FileBytes) throws -> Bool {
        if try RollbackJournal.isFinalized(journal) { return false }
        guard let several = try RollbackJournal.superJournal(journal) else { return true }
        return (try? Platform.status(of: several)) != nil
    }

    /// Throws if something else has the name of a journal, WAL or shared memory. SQLite would wait for the writer of a pipe for ever,
    /// and overwrite the target of a link.
    static func checkSideFiles(of path: String, forWriting: Bool) throws(DatabaseError) {
        for path in SideFile.allCases.map({ $0.path(of: path) }) {
            guard let side = try? Platform.statusOfLink(path) else { continue }
            guard side.kind == .regular else {
                throw DatabaseError(
                    .cannotOpen,
                    "\(path): not a regular file; remove it"
                )
            }
            // None where another process removes it at this moment.
            guard side.linkCount <= 1 || !forWriting else {
                throw DatabaseError(
                    .cannotOpen,
                    "\(path): has hard links, and writing to it would change another file; replace it by a copy"
                )
            }
        }
    }

    // MARK: All pages

    /// The pages that are in force.
    package func newest(pageSize: Int) throws -> NewestPages {
        try NewestPages(database: file, log: writeAheadLog, pageSize: pageSize)
    }

    /// The pages that are in force when a hot journal was played back.
    ///
    /// - Parameters:
    ///   - extent: How much of a WAL counts.
    ///   - ignored: What does not count.
    package func newestAfterRecovery(
        pageSize: Int,
        log extent: WriteAheadLog.Extent,
        ignoring ignored: SideFile? = nil
    ) throws -> NewestPages {
        if ignored != .rollbackJournal, let journal = rollbackJournal, try RollbackJournal(journal) != nil,
            try StoredPages.isHot(journal)
        {
            return try NewestPages(database: file, journal: journal, pageSize: pageSize)
        }
        let log = ignored == .writeAheadLog ? nil : writeAheadLog
        return try NewestPages(
            database: file,
            log: log,
            pageSize: pageSize,
            frames: extent == .all ? nil : log.map { try WriteAheadLog.validFrames($0) }
        )
    }

    /// Authenticates every page.
    ///
    /// - Parameter inHeaderSizeOnly: Whether pages are left out that the header does not count.
    package func scan(
        _ verifiedKey: VerifiedKey,
        log extent: WriteAheadLog.Extent = .all,
        inHeaderSizeOnly: Bool = false
    ) throws -> PageScan {
        PageScan(
            database: file,
            log: writeAheadLog.map { ($0, extent) },
            key: verifiedKey.key,
            format: verifiedKey.format,
            inHeaderSizeOnly: inHeaderSizeOnly
        )
    }

    /// The pages that are damaged, or missing at the end of a file that was cut off; `[0]` if no page is authentic.
    func damagedPages(_ verifiedKey: VerifiedKey) throws -> [Int] {
        let result = try scan(verifiedKey, inHeaderSizeOnly: true).run()
        // A page at the end that was cut off is damaged, and not among the whole ones.
        if result.damaged.filter({ $0 <= result.pages }).count >= result.pages, result.pages > 0 { return [0] }
        return result.listed
    }
}
