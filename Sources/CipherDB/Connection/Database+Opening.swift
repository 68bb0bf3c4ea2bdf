public import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

extension Database {
    /// Opens the file, for reading and writing and made where it does not exist, unless `flags` say otherwise.
    ///
    /// With ``OpenFlags/uri`` the path is a URI. Nothing is read yet but the file's first bytes. Give the key next, by ``setKey(_:)-(DatabaseKey)``. A file that
    /// this makes can be read by its owner only. Opening an open database does nothing.
    ///
    /// - Throws: ``DatabaseError`` naming the path; `KeyError.engineHasNoEncryption`.
    public func open(flags: OpenFlags = [.readWrite, .create]) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard !isOpen else { return }
        guard OpenFlags.possible.isSuperset(of: flags) else {
            throw DatabaseError(
                .misuse,
                "these flags are refused: a shared cache would let a connection without the key read; for an in-memory database give no path"
            )
        }
        guard let path = place ?? path, !path.isEmpty else {
            return try openInMemory(path ?? ":memory:")
        }
        let location = try DatabaseLocation(path, flags)
        guard location.file != nil else { return try openInMemory(":memory:") }
        adopt(try UnkeyedFile(location, configuration, busyMilliseconds: busyMilliseconds, turn: turn))
    }

    private func adopt(_ file: UnkeyedFile) {
        flags = file.flags
        isImmutable = file.isImmutable
        state = .unkeyed(file)
    }

    /// A database on a file that is open and has no key yet.
    package convenience init(_ file: UnkeyedFile) {
        self.init(path: file.path, configuration: file.configuration, turn: file.connection.turn)
        adopt(file)
    }

    private func openInMemory(_ path: String) throws {
        let connection = try Connection(path: path, flags: [.readWrite, .create], turn: turn)
        // Nothing of it reaches a file in plaintext where that is not asked for.
        connection.authorizer.isLockedDown = !configuration.unsafeAllowsAllSQL && !configuration.allowsPlaintext
        state = .plain(connection)
        installBusyHandling()
        try finishOpening()
    }

    /// Opens the file with its key, and verifies the key. Without one the database must be usable in plaintext.
    ///
    /// With a keyring the database remembers the keyring's generation, in the table `cipherdb_keyring`, so that an old copy of the keyring
    /// is known. A record that another program has altered is an error, and is written again where ``Configuration/acceptsOldCopies`` is
    /// set. Where a database is there, a missing keyring is an error, and nothing is written.
    ///
    /// - Parameters:
    ///   - key: The key, or the keyring that holds it.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: ``DatabaseError``, ``KeyError``; with a keyring ``KeyringError``: `KeyringError.otherDatabase` where the database is under no
    ///   key of the keyring, `KeyringError.lost` where the keyring is missing and the database is not. A first start that fails leaves no
    ///   keyring without its database.
    public func open(key: some KeyProvider, flags: OpenFlags = [.readWrite, .create]) throws {
        switch key.provided {
        case .none:
            try inTurn {
                try open(flags: flags)
                _ = try usableConnection()
            }
        case .key(let key):
            try inTurn {
                try open(flags: flags)
                try setKey(key)
            }
        case .unlocked(let keyring): try open(unlocked: keyring, flags)
        case .locked(let keyring, let secret, let slot): try open(unlocking: keyring, secret, slot, flags)
        }
    }

    /// The pages of the file, as its connection has it open now.
    package func storedPages() throws -> StoredPages { try inTurn { try StoredPages(readyConnection()) } }

    /// The connection, where it may be used: keyed and verified, or meant to be in plaintext.
    func usableConnection() throws -> Connection {
        let connection = try readyConnection()
        try throwDeferredError(connection)
        return connection
    }

    /// As ``usableConnection()``, for who only looks: what a commit failed of stays for who uses it.
    func readyConnection() throws -> Connection {
        if let connection {
            connection.endLeftovers()
            if connection.isInvalidated { replaceInvalidatedConnection() }
        }
        switch state {
        case .keyed(let connection, _), .plain(let connection):
            guard !connection.isBackupTarget else {
                throw DatabaseError(.busy, "a backup is writing over this database; wait for its end")
            }
            return connection
        case .closed: throw DatabaseError(.misuse, "the database is not open")
        case .unkeyed(let file):
            switch file.kind {
            case .opaque where isHandleGiven && (try? file.connection.testSelect()) != nil:
                state = .plain(file.connection)
                try finishOpening()
                return file.connection
            case .plaintextHeader: throw file.keyError(.keyMissing)
            case .opaque: throw file.keyError(try file.looksEncrypted() ? .keyMissing : .notADatabase)
            case .tooShort: throw file.keyError(.notADatabase)
            case .plaintext where !configuration.allowsPlaintext: throw file.keyError(.notEncrypted)
            case .empty where !flags.contains(.create): throw file.keyError(.notADatabase)
            case .empty where keyOfNewFile != nil:
                if let keyOfNewFile { try unlock(keyOfNewFile, makesNew: true) }
                return try readyConnection()
            case .empty where !configuration.allowsPlaintext: throw file.keyError(.keyMissing)
            case .plaintext, .empty:
                // By the handle: the program believes that there is a key.
                guard !file.connection.authorizer.hasRefusedKey else { throw DatabaseError.keyPragma }
                try file.checkSideFiles()
                state = .plain(file.connection)
                try finishOpening()
                return file.connection
            }
        }
    }

    /// Throws the deferred error of a commit that was due when a blob or a statement was closed; once.
    func throwDeferredError(_ connection: Connection?) throws {
        guard let failure = connection?.takeDeferredError() else { return }
        throw explained(failure)
    }

    /// As ``throwDeferredError(_:)``, of the connection there is now.
    @usableFromInline func throwDeferredError() throws { try inTurn { try throwDeferredError(connection) } }

    /// Sets the journal mode, and returns that which is in force then.
    private func set(_ mode: JournalMode, _ connection: Connection) throws -> String? {
        let wait = LockWait.current(or: .milliseconds(busyMilliseconds))
        let deadline = ContinuousClock.now + .milliseconds(busyMilliseconds)
        while true {
            do {
                return try connection.text("PRAGMA journal_mode = \(mode.rawValue)")
            } catch let error as DatabaseError
                where error.code.primary == .busy && .now < deadline && wait.mayTryAgain()
            {
                // SQLite does not wait for each of the locks that this takes.
            }
        }
    }

    /// Makes the connection's settings, and lets the configuration's closure have it.
    func finishOpening() throws {
        guard let connection else { return }
        if !configuration.trustsSchema { connection.distrustSchema() }
        do {
            // In memory whatever the engine's default: temporary files are never encrypted.
            try connection.unrestricted {
                try connection.execute(
                    """
                    PRAGMA temp_store = MEMORY; \
                    PRAGMA cache_size = -\(max(1, configuration.pageCacheSize >> 10));
                    """
                )
            }
            // The database itself is in memory then.
            if !connection.filename.isEmpty {
                let limit = configuration.statementMemoryLimit.addingReportingOverflow(configuration.pageCacheSize)
                connection.progress.memoryLimit = limit.overflow ? nil : Int64(limit.partialValue)
            }
            try connection.setForeignKeys(configuration.enforcesForeignKeys)
            if let mode = configuration.journalMode, path != nil, path != "" {
                let found = try set(mode, connection)
                guard found == mode.rawValue else {
                    throw DatabaseError(
                        .error,
                        "the journal mode is \(found ?? "unknown") and cannot be made \(mode.rawValue)"
                    )
                }
            }
            installBusyHandling()
            connection.install(hooks)
            for (limit, value) in limits { _ = connection.limit(limit, value) }
            connection.storage = storage
            for install in registrations.values { try install(connection) }
            connection.instruments = instruments
            instruments.opened(format: cipherFormat)
            try configuration.prepareDatabase?(self)
        } catch {
            close()
            throw error
        }
    }
}

/// Another connection in the place of one on which the engine reads nothing more.
extension Database {
    /// Opens the file again, where a damaged page has invalidated the connection and nothing of it is in use.
    ///
    /// Attached databases and temporary tables would be lost: with them, and where the file does not open, the connection stays,
    /// and its statements go on to fail.
    private func replaceInvalidatedConnection() {
        guard case .keyed(let former, let verifiedKey) = state, former.isInvalidated, former.whyInUse == nil,
            !isImmutable,
            (try? former.hasMoreThanMain()) == false,
            let fresh = try? reopened(former.filename, verifiedKey, flags.subtracting(.create))
        else { return }
        clearCachedStatements()
        former.close()
        fresh.takeOver(former)
        state = .keyed(fresh, verifiedKey)
        // What fails closes the database, and the next statement says so.
        try? finishOpening()
        if former.authorizer.isReader { try? fresh.becomeReader() }
    }
}
