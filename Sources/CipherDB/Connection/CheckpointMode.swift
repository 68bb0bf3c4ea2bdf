/// The mode of a checkpoint of the WAL (sqlite.org/c3ref/wal_checkpoint_v2.html).
public enum CheckpointMode: Int32, Sendable {
    /// What can be done without waiting for anyone.
    case passive = 0
    /// Everything, waiting for the writer.
    case full = 1
    /// Everything, and the next writer restarts the WAL.
    case restart = 2
    /// Everything, and the log is cut to no bytes.
    case truncate = 3
}

extension Database {
    /// Copies pages from the write-ahead log into the database file.
    ///
    /// - Parameters:
    ///   - mode: How much it does.
    ///   - name: The database: `main`, or one that is attached; nil for all.
    /// - Returns: The pages in the log, and how many of them are in the file by now; -1 each without a log.
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where others hold it up, ``KeyError``.
    @discardableResult public func checkpoint(
        _ mode: CheckpointMode = .passive,
        name: String? = nil
    ) throws -> (logFrameCount: Int, checkpointCount: Int) {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        do {
            let counts = try usableConnection().checkpoint(mode, schema: name)
            return (Int(counts.log), Int(counts.copied))
        } catch {
            throw explained(error)
        }
    }
}
