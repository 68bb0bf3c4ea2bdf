internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension Database {
    /// Re-encrypts the whole file under another key, in place, and proves that the new key opens it and the old does not.
    ///
    /// Needs an exclusive lock on the file, no transaction and no attached or temporary tables, and room on the disk for a
    /// second copy. In WAL mode every other connection that is open is in the way, also an idle one of another process; in
    /// rollback mode those that read or write. It waits for them up to ``busyTimeout``, and holds none of them up meanwhile.
    /// Only that wait can be interrupted. Settings that were made on this connection
    /// other than through ``Configuration`` are lost, because it is closed and opened again. Whatever the outcome, the
    /// file opens with one of the two keys, whole; keep both until this returns.
    ///
    /// The file keeps its salt, so a passphrase that stays the same gives the same key, which is refused. A database that was opened by a
    /// keyring is refused, too: see ``rotateKey(of:)``.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way, and
    ///   then nothing was touched. What ``Configuration/prepareDatabase`` throws when the connection is opened again closes
    ///   the database; the new key is in force then.
    public func rekey(_ newKey: DatabaseKey) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        let deadline = ContinuousClock.now + .milliseconds(busyMilliseconds)
        guard let present = verifiedKey else {
            throw RekeyError(.notStarted, path: path, reason: "the database is not encrypted")
        }
        guard keyOrigin != .keyring else {
            throw RekeyError(
                .notStarted,
                path: path,
                reason:
                    "the database was opened by a keyring, which would no longer open it; rotateKey(of:) gives it a new key, and "
                    + "change(slot:to:) of the keyring changes a secret"
            )
        }
        try checkMayRekey(connection)
        let next = try derive(newKey, present)
        clearCachedStatements()
        do {
            try connection.testSelect()
        } catch {
            throw explained(error)
        }
        try takeExclusively(connection, until: deadline)
        let literal = try next.key.literal()
        let failure = try connection.derivingMACKey(next.format) { try connection.rekey(literal) }
        // A handle whose rekey failed would write its next page under the new key into a file under the old one.
        connection.close()
        try decide(path: connection.filename, present, next, failure)
        instruments.keyChanged()
        try removeOldPages(present)
    }

    /// As ``rekey(_:)-(DatabaseKey)``, with text as ``setKey(_:)-(String)`` reads it.
    ///
    /// - Throws: ``MalformedKey``; else as ``rekey(_:)-(DatabaseKey)``.
    public func rekey(_ newKey: String) throws {
        try rekey(.engineBytes(SecretBytes(utf8: newKey)))
    }

    /// As ``rekey(_:)-(DatabaseKey)``, with bytes as ``setKeyWithData(_:)`` reads them.
    ///
    /// - Throws: ``MalformedKey``; else as ``rekey(_:)-(DatabaseKey)``.
    public func rekeyWithData(_ newKey: Data) throws {
        try rekey(.engineBytes(newKey.withUnsafeBytes { try SecretBytes(copying: $0) }))
    }

    func checkMayRekey(_ connection: Connection) throws {
        if let reason = connection.whyInUse { throw RekeyError(.notStarted, path: path, reason: reason) }
        guard !connection.isReadOnly else {
            throw RekeyError(.notStarted, path: path, reason: "the database is open read-only")
        }
        if let name = try connection.schemas().first(where: { $0 != "main" && $0 != "temp" }) {
            throw RekeyError(.notStarted, path: path, reason: "\(name) is attached; detach it first")
        }
        guard try connection.text("SELECT name FROM sqlite_temp_master") == nil else {
            throw RekeyError(
                .notStarted,
                path: path,
                reason: "the connection has temporary tables, which would be lost; use a new connection"
            )
        }
    }

    private func derive(_ newKey: DatabaseKey, _ present: VerifiedKey) throws -> VerifiedKey {
        let salt = present.key.salt
        if let other = newKey.salt, other != salt { throw RekeyError(.saltDiffers, path: path) }
        let next = try VerifiedKey(writing: newKey, salt: salt, format: present.format)
        guard try !(next.key == present.key) else { throw RekeyError(.sameKey, path: path) }
        return next
    }

    /// Finds out by opening the file which key is in force. Both are kept until this is known.
    private func decide(path: String, _ present: VerifiedKey, _ next: VerifiedKey, _ failure: DatabaseError?) throws {
        do {
            state = .keyed(try reopened(path, next, .readWrite), next)
        } catch let newKeyFailed {
            do {
                state = .keyed(try reopened(path, present, .readWrite), present)
            } catch {
                close()
                throw RekeyError(.undecided, path: path, cause: newKeyFailed)
            }
            try finishOpening()
            throw RekeyError(.oldKeyInForce, path: path, cause: damage(present) ?? failure)
        }
        try finishOpening()
    }

    /// Why the engine could not read all of the file, where pages are damaged; it does not always say so.
    private func damage(_ present: VerifiedKey) -> DatabaseError? {
        guard let connection, let pages = try? StoredPages(connection).damagedPages(present), !pages.isEmpty,
            pages != [0]
        else {
            return nil
        }
        return DatabaseError(.corrupt, KeyError.damage(pages, of: "").sentence)
    }

    /// In WAL mode the file itself holds pages under the old key until a checkpoint; in rollback mode the journal does until it is
    /// removed.
    private func removeOldPages(_ old: VerifiedKey) throws {
        guard let connection else { return }
        try removeJournal(connection)
        do {
            try emptyLog(connection)
        } catch {
            throw RekeyError(.checkpointPending, path: path)
        }
        let pages = try StoredPages(connection)
        let probe = try KeyProbe(database: pages, log: pages.writeAheadLog)
        guard case .rejected = try probe.run(old.key, format: old.format) else {
            throw RekeyError(.checkpointPending, path: path)
        }
    }

    /// Copies the log into the file, and cuts it. It waits for others itself: SQLite asks no busy handler for the lock that another
    /// checkpoint has, or a backup.
    func emptyLog(_ connection: Connection) throws {
        let mayTryAgain = wait(connection, until: .now + .milliseconds(busyMilliseconds))
        connection.setBusyTimeout(milliseconds: 0)
        defer { installBusyHandling() }
        while true {
            do throws(DatabaseError) {
                _ = try connection.uninterrupted { () throws(DatabaseError) in
                    try connection.checkpoint(.truncate, schema: "main", isReported: false)
                }
                return
            } catch {
                guard error.code.primary == .busy else { throw explained(error) }
                guard mayTryAgain() else { throw error }
            }
        }
    }

    /// The engine removes it when its connection is closed, and does not say where that failed.
    private func removeJournal(_ connection: Connection) throws {
        let journal = SideFile.rollbackJournal.path(of: connection.filename)
        guard (try? Platform.statusOfLink(journal)) != nil else { return }
        do {
            // Under this lock it is nobody's.
            try connection.execute("BEGIN EXCLUSIVE")
            defer { try? connection.execute("ROLLBACK") }
            try FileCalls.remove(journal)
        } catch let error as Errno where error == .noSuchFile {
            // Its writer removed it meanwhile.
        } catch {
            throw RekeyError(.oldFileRemains, path: path, cause: error, oldFile: journal)
        }
    }
}

// How a connection locks out all others for a change of key, without holding them up while it waits for them.
extension Database {
    /// Whether to try again, after a pause. SQLite's own waiting asks ten times a second at most, and rarely finds a gap between the commits
    /// of several writers.
    private func wait(_ connection: Connection, until deadline: ContinuousClock.Instant) -> () -> Bool {
        var attempts = 0
        return { [hooks] in
            defer { attempts += 1 }
            if let handler = hooks.busy { return connection.inCallback { handler(attempts) } }
            if let wait = LockWait.current { return wait.mayTryAgain() }
            guard ContinuousClock.now < deadline else { return false }
            Platform.sleep(milliseconds: 2)
            return true
        }
    }

    /// Locks out every other connection until this one is closed. In rollback mode an idle connection of another process
    /// cannot be seen; it will find the file under another key, and get an error.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where others are in the way until `deadline`, or the busy handler
    ///   ends the wait, ``ResultCode/interrupted``; no lock is left then.
    private func takeExclusively(_ connection: Connection, until deadline: ContinuousClock.Instant) throws {
        let requests = connection.progress.interrupter.requests
        let isStopped = { connection.progress.stopsWait(since: requests) }
        let wait = wait(connection, until: deadline)
        let mayTryAgain = { !isStopped() && wait() }
        defer { installBusyHandling() }
        #if canImport(Darwin)
            // Without them the engine calls fsync, which does not reach the disk there.
            try connection.execute("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        #endif
        do {
            while true {
                if try isInWALMode(connection) {
                    if try lockWithLog(connection) { return }
                    guard mayTryAgain() else { throw DatabaseError(.busy, "") }
                } else if try connection.waiting(mayTryAgain, { try lockWithJournal(connection) }) {
                    return
                }
            }
        } catch let error as DatabaseError where error.code.primary == .busy {
            if isStopped() { throw DatabaseError(.interrupted, "interrupted") }
            throw connection.storageError(error.code, "another connection uses the database; the key was not changed")
        }
    }

    /// In rollback mode the lock comes first: in exclusive mode a connection would keep its shared lock while it waits, and
    /// the writer for whom it waits could not commit.
    ///
    /// - Returns: Whether it is locked; not where the file is in WAL mode by now.
    private func lockWithJournal(_ connection: Connection) throws -> Bool {
        try connection.execute("BEGIN EXCLUSIVE")
        do {
            guard try !isInWALMode(connection) else {
                try connection.execute("ROLLBACK")
                return false
            }
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE; COMMIT")
            return true
        } catch {
            try leaveExclusiveMode(connection)
            throw error
        }
    }

    /// In WAL mode every open connection has a shared lock on the file, and only one in exclusive mode asks for more. It asks
    /// once: SQLite keeps its PENDING lock while it waits, and nobody could open the file.
    ///
    /// - Returns: Whether it is locked; not where others have the file open.
    private func lockWithLog(_ connection: Connection) throws -> Bool {
        connection.setBusyTimeout(milliseconds: 0)
        do {
            try connection.execute("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT")
            return true
        } catch {
            try leaveExclusiveMode(connection)
            guard error.code.primary == .busy else { throw error }
            return false
        }
    }

    private func leaveExclusiveMode(_ connection: Connection) throws {
        if connection.isInTransaction { try connection.execute("ROLLBACK") }
        // The locks go with the next read in normal mode.
        try connection.execute("PRAGMA locking_mode = NORMAL")
        try connection.testSelect()
        try EngineFile(connection).dropPendingLock()
    }

    private func isInWALMode(_ connection: Connection) throws -> Bool {
        try connection.text("PRAGMA main.journal_mode") == JournalMode.wal.rawValue
    }
}
