internal import CipherSystem
package import SQLiteFormat

/// A database file whose state no connection changes; its pages in force can be read, also without the key.
///
/// In rollback mode it holds a shared lock: writers wait. In WAL mode nobody waits: it keeps others from copying frames into the database
/// and from restarting the WAL, so that the frames up to the last commit stay what they are.
package final class StableFile: PageSource {
    private let unkeyed: UnkeyedFile
    private let pages: any PageSource
    /// Bytes that must be read together: a page, where that is known.
    package let unit: Int
    private let hasLog: Bool
    /// How much of the WAL is in the state; nil without an index of one.
    package let logPosition: LogPosition?

    /// Waits for the locks, up to the busy timeout of the file.
    ///
    /// - Parameter unkeyed: The file, from which no connection has read; ``release()`` closes it.
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` if another connection keeps the file for longer; with
    ///   ``ResultCode/corrupt`` where a transaction was cut off, which only the engine can roll back.
    package init(_ unkeyed: UnkeyedFile) throws {
        self.unkeyed = unkeyed
        let file = unkeyed.pages.file
        let path = unkeyed.connection.filename
        let wait = LockWait.current(or: .milliseconds(unkeyed.busyMilliseconds))
        try file.lockShared(wait)
        do {
            hasLog = StableFile.hasLog(path)
            (pages, unit, logPosition) =
                hasLog ? try StableFile.logged(unkeyed, wait) : try StableFile.unlogged(unkeyed)
        } catch {
            file.closeSharedMemory()
            file.unlock()
            throw error
        }
    }

    private static func hasLog(_ path: String) -> Bool {
        (try? Platform.status(of: SideFile.writeAheadLog.path(of: path))) != nil
    }

    private static func unlogged(_ unkeyed: UnkeyedFile) throws -> (any PageSource, Int, LogPosition?) {
        let pages = unkeyed.pages
        if let journal = pages.rollbackJournal, try RollbackJournal(journal) != nil, try StoredPages.isHot(journal),
            try !pages.file.isReserved
        {
            throw DatabaseError(
                .corrupt,
                "a transaction was cut off, and its journal is not rolled back; give the key, or open the database once"
            )
        }
        return (pages.file, 1, nil)
    }

    private static func logged(_ unkeyed: UnkeyedFile, _ wait: LockWait) throws -> (any PageSource, Int, LogPosition?) {
        let file = unkeyed.pages.file
        // It opens the shared memory, in which the locks are.
        _ = try file.walIndexHeader()
        try file.lock(.checkpoint, exclusively: true, wait)
        try file.lock(.lastReader, exclusively: false, wait)
        guard let log = unkeyed.pages.writeAheadLog, let index = try WriteAheadLog(log, frames: 0) else {
            return (file, 1, nil)
        }
        let header = try file.walIndexHeader()
        let frames = try header?.frames ?? WriteAheadLog.validFrames(log)
        return (
            try NewestPages(database: file, log: log, pageSize: index.pageSize, frames: frames),
            index.pageSize,
            try header.map { try LogPosition(log, salts: $0.salts, frames: $0.frames) }
        )
    }

    /// Whether the file had no WAL, and has one now: what was read from it may be of several states.
    package var isStale: Bool { !hasLog && StableFile.hasLog(unkeyed.connection.filename) }

    /// Whether the path leads to another file by now.
    package var hasMoved: Bool { unkeyed.hasMoved }

    /// Gives the locks back, and closes the file.
    package func release() {
        let file = unkeyed.pages.file
        if hasLog {
            file.unlock(.lastReader, exclusively: false)
            file.unlock(.checkpoint, exclusively: true)
            file.closeSharedMemory()
        }
        file.unlock()
        unkeyed.close()
    }

    package func size() throws -> Int64 { try pages.size() }

    /// - Parameters:
    ///   - buffer: For a number of units; the last may not be whole.
    ///   - offset: A multiple of ``unit``.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try pages.read(into: buffer, at: offset)
    }
}
