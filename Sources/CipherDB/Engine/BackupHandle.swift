internal import CSQLCipher

/// One `sqlite3_backup`: the only owner of it.
final class BackupHandle {
    private var handle: OpaquePointer?
    private let source: Connection
    private let destination: Connection
    private let isOfMain: Bool
    /// Whether the engine knows how many pages there are.
    private var hasBegun = false
    /// Whether all of it was copied.
    private var isDone = false

    init(
        from source: Connection,
        _ from: String,
        to destination: Connection,
        _ into: String
    ) throws(DatabaseError) {
        self.source = source
        self.destination = destination
        isOfMain = from == "main"
        try destination.checkFile()
        handle = destination.working {
            sqlite3_backup_init(destination.handle, into, source.handle, from)
        }
        guard handle != nil else { throw destination.error(sqlite3_errcode(destination.handle)) }
        source.openHandles.add(self)
        destination.openHandles.add(self)
        destination.isBackupTarget = true
    }

    deinit {
        end()
    }

    /// Ends it where it runs; what was copied of it is undone.
    @discardableResult func end() -> Int32 {
        guard let handle else { return SQLITE_OK }
        self.handle = nil
        guard !destination.turn.isOfParent else { return SQLITE_OK }
        source.openHandles.remove(self)
        destination.openHandles.remove(self)
        destination.isBackupTarget = false
        let code = destination.working { sqlite3_backup_finish(handle) }
        if code == SQLITE_OK, isDone { destination.tracker?.replaced() }
        return code
    }

    var total: Int { Int(sqlite3_backup_pagecount(handle)) }
    var remaining: Int { Int(sqlite3_backup_remaining(handle)) }

    /// Copies pages.
    ///
    /// - Parameter checkLastPage: Called before the last page is copied, in the call that also commits: all others were looked at
    ///   then, and what this throws leaves the destination as it was.
    /// - Returns: Whether that was the last page; nil where another connection is in the way, and it must be tried again.
    func step(pages: Int, checkLastPage: (_ number: Int) throws -> Void) throws -> Bool? {
        guard let handle else {
            throw DatabaseError(.misuse, "one of the backup's databases was closed while it ran")
        }
        let watch = source.isWatched && isOfMain ? try source.damageWatch("main") : nil
        watch?.begin()
        defer { watch?.end() }
        guard try hasLock(watch) else { return nil }
        var code = SQLITE_OK
        if !hasBegun {
            code = destination.working { sqlite3_backup_step(handle, 0) }
            hasBegun = code == SQLITE_OK
        }
        if code == SQLITE_OK {
            var pages = pages
            if watch != nil, remaining <= 1 {
                try checkLastPage(total)
            } else if watch != nil, pages >= remaining {
                pages = remaining - 1
            }
            code = destination.working { sqlite3_backup_step(handle, Int32(clamping: pages)) }
        }
        try watch?.check()
        switch code & 0xff {
        case SQLITE_OK: return false
        case SQLITE_DONE:
            isDone = true
            return true
        case SQLITE_BUSY, SQLITE_LOCKED: return nil
        default: throw destination.error(code)
        }
    }

    /// Whether the source's pages stay locked for `watch`; false where another connection is in the way.
    private func hasLock(_ watch: DamageWatch?) throws(DatabaseError) -> Bool {
        do throws(DatabaseError) {
            try watch?.hold()
            return true
        } catch {
            guard error.code.primary == .busy else { throw error }
            return false
        }
    }

    /// Ends it, and throws where it could not be made whole.
    func finish() throws(DatabaseError) {
        try destination.check(end())
    }
}
