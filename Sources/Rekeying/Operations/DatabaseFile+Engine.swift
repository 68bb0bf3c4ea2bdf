internal import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

// What the engine does for the operations that write a new file.
extension DatabaseFile {
    /// Keeps everybody else out of the file.
    func lockExclusively() throws -> ExclusiveFile {
        for _ in 0..<5 {
            let locked = try lockOnce()
            // The process that had it locked may have replaced it.
            if !locked.hasMoved { return locked }
            locked.release()
        }
        throw busy("other processes go on replacing the file; nothing was changed")
    }

    func busy(_ message: String) -> DatabaseError { DatabaseError(code: .busy, message: "\(path): \(message)") }

    private func lockOnce() throws -> ExclusiveFile {
        let file = try open(forWriting: true)
        do {
            return try file.lockExclusively()
        } catch {
            file.close()
            guard let busy = error as? DatabaseError, busy.code.primary == .busy else { throw error }
            throw DatabaseError(code: busy.code, message: busy.message + "; nothing was changed")
        }
    }

    /// Locks everybody out of the file, when nothing is to be recovered in it any more.
    ///
    /// - Parameter present: How the database is, for the engine to recover it; nil for plaintext.
    func lockAtRest(_ present: VerifiedKey?) throws -> ExclusiveFile {
        for _ in 0..<3 {
            let locked = try lockExclusively()
            do {
                if try checkAtRest(locked, present) { return locked }
            } catch {
                locked.release()
                throw error
            }
            locked.release()
            try recover(present)
        }
        throw busy("another connection goes on writing to the database; nothing was changed")
    }

    /// Whether nothing is to be recovered in the locked file. Throws where nothing may be recovered, and where the file changed.
    @discardableResult
    func checkAtRest(_ locked: ExclusiveFile, _ present: VerifiedKey?) throws -> Bool {
        guard try isAtRest(locked.path) else { return false }
        try checkFirstPage(locked, present)
        return true
    }

    /// Throws where the file is no more what the key was tried on: somebody changed its key before it was locked.
    private func checkFirstPage(_ locked: ExclusiveFile, _ present: VerifiedKey?) throws {
        let isSame =
            if let present {
                try PageCipher(key: present.key, format: present.format)
                    .opensFirstPage(locked.read(present.format.pageSize, at: 0))
            } else {
                try locked.read(FileKind.magic.count, at: 0).elementsEqual(FileKind.magic)
            }
        guard isSame else {
            throw busy("another process changed the file meanwhile; try again")
        }
    }

    /// Whether all of the database stands in its own file.
    private func isAtRest(_ path: String) throws -> Bool {
        _ = try statusBeside(SideFile.sharedMemory.path(of: path))
        if let log = try statusBeside(SideFile.writeAheadLog.path(of: path)), log.size > 0 { return false }
        return try !hasJournal(path)
    }

    /// Lets the engine roll back what a journal holds, and copy what a log holds into the file.
    func recover(_ present: VerifiedKey?) throws {
        let database = try database(under: present, forWriting: true)
        defer { database.close() }
        _ = try database.int(forQuery: "SELECT count(*) FROM sqlite_master")
        let counts = try database.checkpoint(.truncate)
        guard counts.logFrameCount <= 0 else {
            throw busy("another connection reads the database; nothing was changed")
        }
    }

    /// Whether a transaction that was cut off stands in the journal of the database at `path`, links resolved, which is
    /// locked. An ended one, or none, is of no use to anybody.
    func hasJournal(_ path: String) throws -> Bool {
        let journal = SideFile.rollbackJournal.path(of: path)
        guard try statusBeside(journal) != nil else { return false }
        do {
            let bytes = try FileBytes(path: journal)
            if try RollbackJournal.isFinalized(bytes) { return false }
            guard try RollbackJournal(bytes) != nil else {
                throw DatabaseError(
                    code: .corrupt,
                    message: "\(journal): damaged, or not a journal; nothing was changed"
                )
            }
            return true
        } catch let error as Errno {
            throw FileError(.system, path: journal, errno: error.code)
        }
    }

    /// The status of a journal, WAL or shared memory. Nil only where nothing stands there: a journal that cannot be read may hold
    /// a transaction. Throws for what is no file of the engine's, which would be written through a link.
    func statusBeside(_ path: String) throws -> FileStatus? {
        let status: FileStatus
        do {
            status = try Platform.statusOfLink(path)
        } catch  where error.meansNoFile {
            return nil
        } catch {
            throw FileError(.system, path: path, errno: error.code)
        }
        guard status.kind == .regular else { throw FileError(.notAFile, path: path) }
        guard status.linkCount == 1 else { throw FileError(.severalNames, path: path) }
        return status
    }

    /// Opens a file that nobody changes meanwhile, without locks, or files beside it. Nil stands for plaintext.
    func openUnchanging(_ path: String, _ verifiedKey: VerifiedKey?) throws -> Database {
        let escaped = path.pathBytes.map { "%" + [$0].hexadecimal }
        let database = Database(
            path: "file:\(escaped.joined())?immutable=1",
            configuration: configured(plaintext: verifiedKey == nil)
        )
        try database.open(flags: [.readOnly, .uri])
        if let verifiedKey { try database.unlock(verifiedKey) }
        return database
    }

    /// Opens an empty file that is to become a database under a key that was derived for it. Nil stands for plaintext.
    func openNew(
        _ path: String,
        _ verifiedKey: VerifiedKey?,
        pageSize: Int,
        memoryLimit: Int = .max
    ) throws -> Database {
        let database = Database(
            path: path,
            configuration: configured(plaintext: verifiedKey == nil, memoryLimit: memoryLimit)
        )
        try database.open(flags: [.readWrite, .create])
        if let verifiedKey {
            try database.unlock(verifiedKey, makesNew: true)
            try database.allowKeyringRecord()
        } else {
            try database.executeStatements("PRAGMA page_size = \(raw: String(pageSize))")
        }
        return database
    }

    /// Lets the engine read a new file: its schema, or with `content` all of it.
    ///
    /// - Returns: What it could not check, a line each.
    func testNew(
        _ path: String,
        _ verifiedKey: VerifiedKey?,
        content: Bool,
        _ progress: (FileProgress) throws -> Void
    ) throws -> [String] {
        if let verifiedKey, !Engine.current.writes(verifiedKey.format) { return [] }
        if content {
            let found = try checkNew(path, verifiedKey, progress)
            guard let problem = found.problems.first else { return found.unchecked }
            throw DatabaseError(code: .corrupt, message: "the new file would not be sound: \(problem)")
        }
        let database = try openUnchanging(path, verifiedKey)
        defer { database.close() }
        _ = try database.int(forQuery: "SELECT count(*) FROM sqlite_master")
        return []
    }

    /// Runs SQLite's integrity check over a new file.
    func checkNew(
        _ path: String,
        _ verifiedKey: VerifiedKey?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> StructureCheck {
        let database = try openUnchanging(path, verifiedKey)
        defer { database.close() }
        return try checkStructure(database, progress)
    }
}
