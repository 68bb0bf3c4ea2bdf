public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

extension DatabaseFile {
    /// Makes a consistent encrypted copy of a database that others go on using, for a backup.
    ///
    /// The copy has a salt of its own, unless a raw key brings one or the file has a plaintext header, and is its owner's alone. It gets its name when it is
    /// complete, was read back and is on the disk. In WAL mode writers are not blocked; in rollback mode they can write
    /// between two steps, and the copy restarts when they do; the fourth time it locks them out.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - destination: The copy's path; no file may exist there.
    ///   - newKey: The key of the copy; nil for the same.
    ///   - progress: Called about every mebibyte; what it throws ends the copying, and nothing is left of it.
    /// - Throws: `KeyError`, ``FileError``, `DatabaseError`; `KeyError.damaged` with the numbers
    ///   of the pages where a page of the database is damaged.
    @discardableResult
    public func copy(
        key: DatabaseKey,
        to destination: String,
        newKey: DatabaseKey? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try limitingWaits {
            try checkFree(destination)
            let (source, present) = try database(under: key)
            defer { source.close() }
            let next = try VerifiedKey(replacementUnder: newKey ?? key, format: present.format, like: present)
            return try makeNew(at: destination, next, from: present, progress) { path in
                do {
                    try copyPages(source, path, next, progress)
                } catch let error as DatabaseError where [.corrupt, .error].contains(error.code.primary) {
                    // SQLCipher 4.6 answers SQLITE_ERROR for a page that is not authentic.
                    let scan = try source.storedPages().scan(present, log: .valid).run()
                    throw scan.isSound ? error : KeyError(path: path, scan)
                } catch let error as DatabaseError where error.code.primary == .readOnly && next.format.pageSize == 512
                {
                    throw DatabaseError(code: .error, message: DatabaseFile.cannotFillSmallestPages)
                }
                // No MAC covers what a plaintext header says of the number of pages.
                let isUnproved = present.format.plaintextHeaderSize > 0
                return isUnproved ? try testNew(path, next, content: true, progress) : []
            }
        }
    }

    /// Throws where anything stands at `destination`.
    package func checkFree(_ destination: String) throws {
        guard !destination.isEmpty else { throw FileError(.missing, path: destination) }
        guard (try? Platform.statusOfLink(destination)) == nil else { throw FileError(.exists, path: destination) }
        // What another database of the name has left would be played into this one.
        for side in SideFile.allCases.map({ $0.path(of: destination) }) where (try? Platform.statusOfLink(side)) != nil
        {
            throw FileError(.exists, path: side)
        }
        // What has the name of a database's journal or log would be played into it.
        for suffix in SideFile.allCases.map(\.rawValue)
        where destination.utf8.reversed().starts(with: suffix.utf8.reversed()) {
            let database = String(destination.dropLast(suffix.count))
            guard (try? Platform.statusOfLink(database)) == nil else { throw FileError(.belongs, path: destination) }
        }
    }

    /// Makes a file that gets its name when it is complete, was read back and is on the disk.
    ///
    /// - Parameter write: Writes the database to a path, and returns what could not be checked of it.
    func makeNew(
        at destination: String,
        _ next: VerifiedKey,
        from present: VerifiedKey,
        _ progress: (FileProgress) throws -> Void,
        _ write: (String) throws -> [String]
    ) throws -> RewriteResult {
        try Leftovers(of: destination).remove()
        // A caller who handles signals by this does so from here on.
        try progress(FileProgress(.writing, done: 0, all: 1))
        let new = try ReplacementFile(beside: destination)
        defer { new.discard() }
        let unchecked: [String]
        do {
            unchecked = try write(new.path)
        } catch let error as DatabaseError {
            // The source is only read: what cannot be written is the new file.
            switch error.code {
            case .full: throw FileError(.system, path: destination, errno: Errno.noSpace.code)
            case .inputOutputWrite, .inputOutputSync:
                throw FileError(.system, path: destination, errno: Errno.inputOutput.code)
            default: throw error
            }
        }
        try new.sync()
        let pageSize = next.format.pageSize
        let scan = try PageScan(database: new, log: nil, key: next.key, format: next.format).run {
            try progress(FileProgress(.verifying, pages: $0, of: $1, size: pageSize))
        }
        guard scan.isSound, scan.pages > 0 else { throw KeyError(path: path, scan) }
        try checkFree(destination)
        try new.giveName(destination)
        return RewriteResult(
            format: next.format,
            previousFormat: present.format,
            pageSize: pageSize,
            pages: scan.pages,
            unchecked: unchecked
        )
    }

    private func copyPages(
        _ source: Database,
        _ path: String,
        _ next: VerifiedKey,
        _ progress: (FileProgress) throws -> Void
    ) throws {
        let target = try openNew(path, next, pageSize: next.format.pageSize)
        defer { target.close() }
        // A transaction keeps to one state, and in WAL mode keeps nobody from writing.
        var holdsState = false
        func holdState() throws {
            try source.executeStatements("BEGIN; SELECT count(*) FROM sqlite_master")
            holdsState = true
        }
        if try source.string(forQuery: "PRAGMA journal_mode") == "wal" { try holdState() }
        defer { if holdsState { try? source.rollback() } }
        let pageSize = next.format.pageSize
        var (remaining, restarts) = (Int.max, 0)
        try source.backup(to: target, pagesPerStep: max(1, (1 << 20) / pageSize)) { step in
            if step.remaining >= remaining { restarts += 1 }
            remaining = step.remaining
            // A writer that never rests would restart it for ever: then the writer has to wait.
            if restarts >= 3, !holdsState { try holdState() }
            try progress(
                FileProgress(.writing, pages: step.total - step.remaining, of: step.total, size: pageSize)
            )
        }
    }
}
