internal import CipherKeys
internal import CipherPages

extension Database {
    /// Opens the file, for reading and writing and made where it does not exist, unless `flags` say otherwise.
    ///
    /// With ``OpenFlags/uri`` the path is a URI. Nothing is read yet but the file's first bytes. Give the key next, by ``setKey(_:)-(DatabaseKey)``. A file that
    /// this makes can be read by its owner only. Opening an open database does nothing.
    ///
    /// - Throws: ``DatabaseError`` naming the path; ``KeyError/engineHasNoEncryption``.
    public func open(flags: OpenFlags = [.readWrite, .create]) throws {
        guard !isOpen else { return }
        guard OpenFlags.possible.isSuperset(of: flags) else {
            throw DatabaseError(
                .misuse,
                "the flags ask for a shared cache, which would let a connection without the key read, or for no file at all"
            )
        }
        guard let path, !path.isEmpty else {
            return try openInMemory(path ?? ":memory:")
        }
        var location = path
        var flags = flags
        isImmutable = false
        if flags.contains(.uri) {
            let uri = try DatabaseURI(path)
            guard let file = uri.path else { return try openInMemory(":memory:") }
            location = file
            flags = try uri.flags(flags)
            isImmutable = uri.parameters["immutable"] == "1"
        }
        guard Engine.current.canEncrypt || configuration.allowsPlaintext else { throw KeyError.engineHasNoEncryption }
        if let vfs = configuration.vfs, !Connection.hasFileSystem(named: vfs) {
            throw DatabaseError(.cannotOpen, "SQLite has no file system interface of the name \(vfs)")
        }
        let created = try prepareFile(location, flags: flags)
        let connection: Connection
        do {
            connection = try connect(path, flags: flags)
        } catch {
            // Nothing was written to it, and nobody knows of it yet.
            if created { try? Platform.remove(location) }
            throw error
        }
        self.flags = flags.subtracting(.uri)
        state = .opened(connection, try FileKind.recognise(EngineFile(connection)), created: created)
    }

    private func openInMemory(_ path: String) throws {
        let connection = try Connection(path: path, flags: [.readWrite, .create])
        state = .plain(connection)
        installBusyHandling()
        try finishOpening()
    }

    /// Removes the file that this opening made, where nobody has put anything into it or is about to.
    ///
    /// Another connection that has it open without a lock finds out when it writes the first page; see `encryptNew`.
    func removeUnused(_ connection: Connection) {
        guard let file = try? EngineFile(connection) else { return }
        file.ifUnlocked {
            guard (try? file.size()) == 0, !connection.hasMoved else { return }
            try? Platform.remove(connection.filename)
        }
    }

    /// Opens the file with its key, and verifies the key: ``open(flags:)`` and ``setKey(_:)-(DatabaseKey)`` in one.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func open(key: DatabaseKey, flags: OpenFlags = [.readWrite, .create]) throws {
        try open(flags: flags)
        try setKey(key)
    }

    /// The connection, where it may be used: keyed and verified, or meant to be in plaintext.
    func usableConnection() throws -> Connection {
        let connection = try readyConnection()
        try throwLateFailure(connection)
        return connection
    }

    /// As ``usableConnection()``, for who only looks: what a commit failed of stays for who uses it.
    func readyConnection() throws -> Connection {
        if connection?.isSpoiled == true { replaceSpoiledConnection() }
        switch state {
        case .keyed(let connection, _), .plain(let connection):
            guard !connection.isBackupTarget else {
                throw DatabaseError(.busy, "a backup is writing over this database; wait for its end")
            }
            return connection
        case .closed: throw DatabaseError(.misuse, "the database is not open")
        case .opened(let connection, let kind, _):
            switch kind {
            case .opaque:
                throw try FileKind.looksEncrypted(EngineFile(connection)) ? KeyError.keyMissing : .notADatabase
            case .tooShort: throw KeyError.notADatabase
            case .plaintext where !configuration.allowsPlaintext: throw KeyError.notEncrypted
            case .empty where !flags.contains(.create): throw KeyError.notADatabase
            case .empty where keyOfNewFile != nil:
                if let keyOfNewFile { try unlock(.new(keyOfNewFile)) }
                return try readyConnection()
            case .empty where !configuration.allowsPlaintext: throw KeyError.keyMissing
            case .plaintext, .empty:
                try checkSideFiles(connection)
                state = .plain(connection)
                try finishOpening()
                return connection
            }
        }
    }

    /// Throws why a commit failed that was due when a blob or a statement was given up; once.
    func throwLateFailure(_ connection: Connection?) throws {
        guard let failure = connection?.takeLateFailure() else { return }
        throw explained(failure)
    }

    func connect(_ path: String, flags: OpenFlags) throws -> Connection {
        // SQLCipher 4 takes a path that begins with "file:" for a URI, and a key from its parameters.
        let connection = try Connection(
            path: DatabaseURI.isURI(path) && !flags.contains(.uri) ? "./" + path : path,
            flags: flags,
            vfs: configuration.vfs
        )
        connection.setBusyTimeout(milliseconds: busyMilliseconds)
        return connection
    }

    /// Looks at what stands at `path`, and makes a private file where nothing does. True where it made one.
    private func prepareFile(_ path: String, flags: OpenFlags) throws -> Bool {
        guard !path.utf8.contains(0) else { throw DatabaseError(.cannotOpen, "the path has a NUL character in it") }
        do {
            let status = try Platform.status(of: path)
            // SQLite would wait for a pipe's writer for ever.
            guard status.kind == .regular else {
                throw DatabaseError(
                    .cannotOpen,
                    "\(path): \(status.kind == .folder ? "a folder" : "a device or pipe"), not a file"
                )
            }
            return false
        } catch let error as Errno {
            guard error == .noSuchFile, flags.contains(.create) else {
                throw DatabaseError(.cannotOpen, "\(path): \(error)")
            }
        }
        do {
            // SQLite would make it with rights for everyone; its side files get the rights of this one.
            try Platform.createPrivateFile(path)
            return true
        } catch .exists {
            // Somebody else made it meanwhile, or it is a link to a file that does not exist: SQLite would make that one.
            guard (try? Platform.status(of: path)) != nil else {
                throw DatabaseError(.cannotOpen, "\(path): a symbolic link that leads nowhere")
            }
            return false
        } catch {
            throw DatabaseError(.cannotOpen, "\(path): \(error)")
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
                    PRAGMA foreign_keys = \(configuration.enforcesForeignKeys ? "ON" : "OFF"); \
                    PRAGMA cache_size = -\(max(1, configuration.pageCacheSize >> 10));
                    """
                )
            }
            if let mode = configuration.journalMode, path != nil, path != "" {
                let found = try connection.text("PRAGMA journal_mode = \(mode.rawValue)")
                guard found == mode.rawValue else {
                    throw DatabaseError(
                        .error,
                        "the journal mode is \(found ?? "unknown") and cannot be made \(mode.rawValue)"
                    )
                }
            }
            installBusyHandling()
            connection.install(hooks)
            connection.dateFormat = dateFormat
            for install in registrations.values { try install(connection) }
            try configuration.prepareDatabase?(self)
        } catch {
            close()
            throw error
        }
    }
}
