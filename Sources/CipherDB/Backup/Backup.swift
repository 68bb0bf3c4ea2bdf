public import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// The progress of a backup, in pages of the source.
public struct BackupProgress: Sendable, Hashable {
    /// The pages still to be copied; a source that grows meanwhile raises it.
    public let remaining: Int
    /// The pages of the source.
    public let total: Int
}

extension Database {
    /// Copies this whole database over `destination`, while others may go on using this one.
    ///
    /// Pages are copied in steps; between two of them other connections can write. What is written by others meanwhile
    /// restarts the copy, so in rollback mode a source that is written to all the time is better copied in one step.
    /// Whatever was in `destination` is replaced; where this throws, it is as it was before.
    ///
    /// Two encrypted databases keep each its own key, and need one cipher format. Between an encrypted database and one in
    /// plaintext, also one in memory, the content goes through SQLCipher's export instead of page by page, into an empty
    /// destination; into an encrypted one that needs ``Capability/exportFromAttached``.
    ///
    /// - Parameters:
    ///   - destination: An open and keyed database.
    ///   - pagesPerStep: How many pages a step copies.
    ///   - decrypting: Must be true where this database is encrypted and `destination` is not.
    ///   - progress: Called after each step; what it throws ends the backup.
    /// - Throws: ``DatabaseError``, with ``ResultCode/misuse`` for a plaintext destination without `decrypting`, and with
    ///   ``ResultCode/busy`` where a lock stays in the way for longer than ``busyTimeout``; ``KeyError``; what `progress`
    ///   throws.
    public func backup(
        to destination: Database,
        pagesPerStep: Int = 256,
        decrypting: Bool = false,
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        guard pagesPerStep > 0 else { throw DatabaseError(.range, "a step copies at least one page") }
        // A child that is forked there goes no further.
        func show(_ done: BackupProgress) throws {
            try progress(done)
            guard !turn.isOfParent else { throw UsedAfterFork.database }
        }
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let stayThere = try destination.turn.enter()
        defer { destination.turn.leave(stayThere) }
        let source = try usableConnection()
        let target = try destination.usableConnection()
        guard source !== target else { throw DatabaseError(.misuse, "a database is not copied over itself") }
        guard destination.verifiedKey != nil || verifiedKey == nil || decrypting else {
            throw DatabaseError(
                .misuse,
                "the destination has no key, so the copy would be plaintext; "
                    + "give it a key, or set decrypting: true"
            )
        }
        if let reason = target.whyInUse { throw DatabaseError(.misuse, "the destination is in use: \(reason)") }
        destination.clearCachedStatements()
        switch (verifiedKey, destination.verifiedKey) {
        case (nil, nil): break
        case (let mine?, let other?):
            // Pages are copied with the room that each format keeps at their ends.
            guard mine.format.pageSize == other.format.pageSize, mine.format.reserve == other.format.reserve else {
                throw DatabaseError(
                    .misuse,
                    "the destination is in the format of \(other.format), and this database in that of \(mine.format)"
                )
            }
        case (_?, nil):
            try Database.export(by: self, other: destination, outward: true) {
                try show(BackupProgress(remaining: 0, total: try pageCount(of: source)))
            }
            return
        case (nil, _?):
            try Database.export(by: destination, other: self, outward: false) {
                try show(BackupProgress(remaining: 0, total: try pageCount(of: target)))
            }
            return
        }
        do {
            try copyPages(source, target, pagesPerStep, show)
        } catch {
            throw explained(error)
        }
    }

    private func copyPages(
        _ source: Connection,
        _ target: Connection,
        _ pagesPerStep: Int,
        from: String = "main",
        into: String = "main",
        _ progress: (BackupProgress) throws -> Void
    ) throws {
        let backup = try BackupHandle(from: source, from, to: target, into)
        var wait = LockWait.current(or: .milliseconds(busyMilliseconds))
        var blocked = ContinuousClock.now
        while true {
            switch try backup.step(pages: pagesPerStep, checkLastPage: checkIsAuthentic) {
            case true?:
                let total = backup.total
                try backup.finish()
                return try progress(BackupProgress(remaining: 0, total: total))
            case false?:
                (wait, blocked) = (LockWait.current(or: .milliseconds(busyMilliseconds)), .now)
                try progress(BackupProgress(remaining: backup.remaining, total: backup.total))
            case nil:
                guard wait.mayTryAgain() else {
                    let isOfSource = LockSearch(source.filename).signs >= LockSearch(target.filename).signs
                    throw (isOfSource ? source : target).storageError(
                        .busy,
                        "another connection holds a lock that the backup needs",
                        waited: .now - blocked
                    )
                }
            }
        }
    }

    /// Throws where a page is damaged.
    private func checkIsAuthentic(_ page: Int) throws {
        guard let connection, let verifiedKey, verifiedKey.format.pageAuthentication != nil else { return }
        guard try StoredPages(connection).scan(verifiedKey).isAuthentic(page) else {
            throw connection.damagedPage(nil)
        }
    }

    private func pageCount(of connection: Connection) throws -> Int {
        try connection.text("PRAGMA page_count").flatMap { Int($0) } ?? 0
    }

    /// Lets the encrypted one of two databases attach the other's file and export, in one transaction that `tell` can still
    /// undo. So no key stands in any statement. A database in memory has no file: pages are copied between it and one that is attached.
    private static func export(
        by encrypted: Database,
        other: Database,
        outward: Bool,
        _ tell: () throws -> Void
    ) throws {
        let plain = try other.usableConnection()
        let isInMemory = plain.filename.isEmpty
        guard !encrypted.isInTransaction, isInMemory || !other.isInTransaction else {
            throw DatabaseError(
                .misuse,
                "a transaction is open; end it first, or call this in inDatabase instead of read or write"
            )
        }
        guard outward || Engine.current.has(.exportFromAttached) else {
            throw DatabaseError(.error, "this engine cannot export into an encrypted database; SQLCipher 4 can")
        }
        // The engine would open what is attached for reading, too.
        guard !outward || encrypted.connection?.isReadOnly == false else {
            throw DatabaseError(
                .misuse,
                "the encrypted database is open for reading only; open it for writing to export it"
            )
        }
        let target = outward ? other : encrypted
        guard try target.value(forQuery: "SELECT count(*) FROM sqlite_master") == 0 else {
            throw DatabaseError(.misuse, "the destination is not empty")
        }
        let connection = try encrypted.usableConnection()
        try connection.unrestricted {
            try connection.attach(
                isInMemory ? ":memory:" : plain.filename,
                "cipherdb_plain",
                SecretBytes(count: 0) { _ in }
            )
        }
        defer {
            encrypted.clearCachedStatements()
            try? connection.undo(by: "DETACH cipherdb_plain")
        }
        if isInMemory, !outward { try encrypted.copyPages(plain, connection, 256, into: "cipherdb_plain") { _ in } }
        let (from, into) = outward ? ("main", "cipherdb_plain") : ("cipherdb_plain", "main")
        // 3.4.1 knows the first form only.
        let sql: SQL =
            outward ? "SELECT sqlcipher_export('cipherdb_plain')" : "SELECT sqlcipher_export('main', 'cipherdb_plain')"
        // The copy in memory is no statement's.
        let limit = connection.progress.memoryLimit
        if isInMemory { connection.progress.memoryLimit = nil }
        defer { connection.progress.memoryLimit = limit }
        try encrypted.inTransaction { encrypted in
            // It copies the record of a keyring, too.
            try connection.unrestricted { _ = try encrypted.value(forQuery: sql) as DatabaseValue? }
            // The export leaves these two out.
            for pragma in ["user_version", "application_id"] {
                let number: Int = try encrypted.value(forQuery: "PRAGMA \(raw: from).\(raw: pragma)") ?? 0
                try encrypted.executeStatements("PRAGMA \(raw: into).\(raw: pragma) = \(raw: String(number))")
            }
            try tell()
        }
        if isInMemory, outward { try encrypted.copyPages(connection, plain, 256, from: "cipherdb_plain") { _ in } }
        // The export writes triggers, views and virtual tables past the schema that the engine has read.
        if !outward { try connection.unrestricted { try connection.execute("PRAGMA writable_schema = RESET") } }
    }
}

extension Database {
    /// Copies this whole database to a new file, while others may go on using this one.
    ///
    /// - Parameters:
    ///   - path: The copy's path; no file may exist there.
    ///   - key: The key of the copy; nil for the same. A database in plaintext is exported, as by
    ///     ``backup(to:pagesPerStep:decrypting:progress:)``; one in memory needs a key, unless its configuration allows plaintext.
    ///   - pagesPerStep: How many pages a step copies; between two of them others can write.
    ///   - progress: Called after each step; what it throws ends the backup.
    /// - Throws: ``DatabaseError``, ``KeyError``, what `progress` throws; no file is left then.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        guard (try? Platform.statusOfLink(path)) == nil else {
            throw DatabaseError(.cannotOpen, "\(path): exists already; a backup replaces nothing")
        }
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        _ = try usableConnection()
        let verifiedKey = verifiedKey
        let copy = Database(
            path: path,
            configuration: Configuration {
                $0.format = verifiedKey?.format ?? configuration.format
                // An export runs what the schema needs of the program's.
                if verifiedKey == nil { $0.prepareDatabase = configuration.prepareDatabase }
                $0.allowsPlaintext = configuration.allowsPlaintext && verifiedKey == nil && key == nil
            }
        )
        do {
            try copy.open()
            if let key {
                try copy.setKey(key)
            } else if let verifiedKey {
                try copy.unlock(verifiedKey, makesNew: true)
            }
            if key != nil || verifiedKey != nil { try copy.allowKeyringRecord() }
            try takingLong { try backup(to: copy, pagesPerStep: pagesPerStep, progress: progress) }
            copy.close()
        } catch {
            copy.close()
            // In a child that `progress` has forked, the copy is its parent's.
            guard !turn.isOfParent else { throw error }
            for file in [path] + SideFile.allCases.map({ $0.path(of: path) }) { try? Platform.remove(file) }
            throw error
        }
    }
}

extension DatabaseReader {
    /// Copies the whole database, in one state of it, to a new file; see ``Database/backup(to:key:pagesPerStep:progress:)``.
    ///
    /// - Parameters:
    ///   - path: The copy's path; no file may exist there.
    ///   - key: The key of the copy; nil for the same.
    ///   - pagesPerStep: How many pages a step copies.
    ///   - progress: Called after each step; what it throws ends the backup.
    /// - Throws: ``DatabaseError``, ``KeyError``, what `progress` throws; no file is left then.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        try read { try $0.backup(to: path, key: key, pagesPerStep: pagesPerStep, progress: progress) }
    }

    /// Asynchronous version; does not block the calling thread. Cancelling the task ends it after a step.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: @Sendable (BackupProgress) throws -> Void = { _ in }
    ) async throws {
        try await read { database in
            try database.backup(to: path, key: key, pagesPerStep: pagesPerStep) {
                try Task.checkCancellation()
                try progress($0)
            }
            return
        }
    }
}
