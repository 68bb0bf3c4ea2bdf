public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import SQLiteFormat

extension DatabaseFile {
    /// Encrypts a database in plaintext, by a new file that takes its place. The plaintext is overwritten.
    ///
    /// - Parameters:
    ///   - key: The key of the new file.
    ///   - format: The format of the new file; nil for the engine's own.
    ///   - keptAs: A path on the same file system for a copy of the plaintext file.
    ///   - progress: Called about every mebibyte; what it throws ends the operation, and nothing is changed.
    /// - Throws: `RekeyError.notStarted` for a file that is no database in plaintext or a format that this engine
    ///   cannot write; else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func encrypt(
        with key: DatabaseKey,
        format: CipherFormat? = nil,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try format?.checkMayBeWritten()
        return try encrypt(with: key, writable(format), keptAs, progress)
    }

    /// As ``encrypt(with:format:keepingOldAs:progress:)``, in the engine's own format with other parameters.
    ///
    /// - Throws: `UnusableCipherFormat`, also for one that is weaker than its version's unless `allowsWeaker` is true.
    @discardableResult
    package func encrypt(
        with key: DatabaseKey,
        changing change: FormatChange,
        allowsWeaker: Bool = false,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        let format = try change.format()
        if !allowsWeaker { try format.checkNotWeaker(than: format.own) }
        return try encrypt(with: key, writable(format), keptAs, progress)
    }

    private func encrypt(
        with key: DatabaseKey,
        _ format: CipherFormat,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        try limitingWaits {
            let header = try plaintextHeader()
            let next = try VerifiedKey(replacementUnder: key, format: format)
            let isSameLayout = header.pageSize == format.pageSize && header.reserve == format.reserve
            let write = isSameLayout ? rewrite : rewriteTrees
            return try write(
                .plaintext(pageSize: header.pageSize),
                .encrypted(next.key, next.format),
                nil,
                keptAs,
                progress
            )
        }
    }

    /// Replaces the encrypted database by one in plaintext, which everybody with the file can read.
    ///
    /// - Parameters: as of ``changeKey(from:to:keepingOldAs:progress:)``.
    /// - Throws: as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func decryptToPlaintext(
        key: DatabaseKey,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try limitingWaits {
            let present = try identify(key)
            // Without MACs no page can be called authentic: only what makes sense is copied.
            let write = present.format.pageAuthentication == nil ? rewriteTrees : rewrite
            return try write(
                .encrypted(present.key, present.format),
                .plaintext(pageSize: present.format.pageSize),
                present,
                keptAs,
                progress
            )
        }
    }

    private func plaintextHeader() throws -> DatabaseHeader {
        let file = try open(forWriting: true, plaintext: true)
        defer { file.close() }
        guard file.kind == .plaintext else {
            throw RekeyError(.notStarted, path: path, reason: "the file is not a plaintext SQLite database")
        }
        let header = DatabaseHeader(try file.pages.read(512, at: 0))
        try check(
            errors: file.sideFileErrors(.plaintext(pageSize: header.pageSize)),
            remedy: "Restore a backup, or copy the files and open the copy in `sqlite3` to see what is left"
        )
        let present = try file.pages.newestAfterRecovery(pageSize: header.pageSize, log: .valid).size()
        if header.countsPages, Int64(header.pageCount) * Int64(header.pageSize) > present {
            throw DatabaseError(
                code: .corrupt,
                message: "the file is shorter than its header says; nothing was changed"
            )
        }
        return header
    }
}
