internal import CipherKeys
internal import CipherSystem

// How a connection locks out all others for a change of key, without holding them up while it waits for them.
extension Database {
    /// Locks out every other connection until this one is closed. In rollback mode an idle connection of another process
    /// cannot be seen; it will find the file under another key, and get an error.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where others are in the way until `deadline`, or the busy handler
    ///   ends the wait; no lock is left then.
    func takeExclusively(_ connection: Connection, until deadline: ContinuousClock.Instant) throws {
        var attempts = 0
        // SQLite's own waiting asks ten times a second at most, and rarely finds a gap between the commits of several writers.
        let mayTryAgain = { [hooks] in
            defer { attempts += 1 }
            if let handler = hooks.busy { return connection.inCallback { handler(attempts) } }
            if let wait = LockWait.current { return wait.mayTryAgain() }
            guard ContinuousClock.now < deadline else { return false }
            Platform.sleep(milliseconds: 2)
            return true
        }
        defer { installBusyHandling() }
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
