internal import CipherKeys
internal import CipherSystem
package import SQLiteFormat

/// A database file that is open and has no key yet: it can be recognised, read, locked, and tried with keys. With the right key
/// it becomes a connection.
package final class UnkeyedFile {
    let location: DatabaseLocation
    /// The path or URI, as it was given.
    var path: String { location.path }
    /// The path, also where a URI was given.
    let filePath: String
    let configuration: Configuration
    /// Those that the file was opened with.
    package let flags: OpenFlags
    /// Whether a URI said that nobody changes the file, so that no locks are taken.
    let isImmutable: Bool
    let connection: Connection
    /// What the file was when it was opened.
    package let kind: FileKind
    /// Its bytes, and those of its side files.
    package let pages: StoredPages
    /// How long it waits for another connection's lock.
    var busyMilliseconds: Int
    private let wasCreated: Bool

    /// Opens the file, and makes an empty one, which only its owner can read, if there is none and `flags` have `create`.
    ///
    /// - Throws: ``DatabaseError`` naming the path; `KeyError.engineHasNoEncryption`.
    package convenience init(path: String, configuration: Configuration, flags: OpenFlags) throws {
        try self.init(
            DatabaseLocation(path, flags),
            configuration,
            busyMilliseconds: configuration.busyTimeout.boundedMilliseconds
        )
    }

    /// - Parameter turn: That of the database that opens it.
    init(
        _ location: DatabaseLocation,
        _ configuration: Configuration,
        busyMilliseconds: Int,
        turn: Turn = Turn()
    ) throws {
        guard let file = location.file else { throw DatabaseError(.misuse, "a database in memory has no file") }
        guard Engine.current.canEncrypt || configuration.allowsPlaintext else {
            throw KeyError(.engineHasNoEncryption, path: file)
        }
        if let vfs = configuration.vfs, !Connection.hasFileSystem(named: vfs) {
            throw DatabaseError(.cannotOpen, "SQLite has no VFS with the name \(vfs)")
        }
        self.location = location
        filePath = UnkeyedFile.shown(file)
        flags = location.flags.subtracting(.uri)
        isImmutable = location.isImmutable
        self.configuration = configuration
        self.busyMilliseconds = busyMilliseconds
        try OpenFile.checkIsNotOfParent(file)
        wasCreated = try UnkeyedFile.create(file, location.flags)
        do throws(DatabaseError) {
            // SQLCipher 4 takes a path that begins with "file:" for a URI, and a key from its parameters.
            connection = try Connection(
                path: DatabaseURI.isURI(location.path) && !location.flags.contains(.uri)
                    ? "./" + location.path : location.path,
                flags: location.flags,
                vfs: configuration.vfs,
                turn: turn
            )
        } catch {
            // Nothing was written to it, and nobody knows of it yet.
            if wasCreated { try? Platform.remove(file) }
            guard StorageFailure.concerns(error.code) else { throw error }
            let failure = StorageFailure(
                code: error.code,
                path: (try? Platform.resolved(file)) ?? file,
                isForReading: !flags.contains(.readWrite)
            )
            throw DatabaseError(error.code, error.message + (failure.cause.isEmpty ? "" : ": \(failure.cause)"))
        }
        connection.setBusyTimeout(milliseconds: busyMilliseconds)
        pages = try StoredPages(connection)
        kind = try FileKind.recognise(pages)
    }

    /// A path as errors show it: one that was meant as a URI may have a key behind its question mark.
    private static func shown(_ path: String) -> String {
        DatabaseURI.isURI(path) ? String(path.prefix { $0 != "?" }) : path
    }

    /// The bytes of the file at `path`; nil where there is none.
    static func size(_ path: String) throws(DatabaseError) -> Int64? {
        guard !path.hasByte(0) else { throw DatabaseError(.cannotOpen, "the path has a NUL character") }
        let status: FileStatus
        do throws(Errno) {
            status = try Platform.status(of: path)
        } catch .noSuchFile {
            return nil
        } catch {
            throw unopened(path, error)
        }
        // SQLite would wait for a pipe's writer for ever.
        guard status.kind == .regular else {
            throw DatabaseError(
                .cannotOpen,
                "\(shown(path)): \(status.kind == .directory ? "a directory" : "a device or pipe"), not a file"
            )
        }
        return status.size
    }

    /// Makes a private file unless there is one.
    ///
    /// - Returns: Whether it made one.
    private static func create(_ path: String, _ flags: OpenFlags) throws(DatabaseError) -> Bool {
        guard try size(path) == nil else { return false }
        guard flags.contains(.create) else { throw unopened(path, .noSuchFile) }
        do throws(Errno) {
            // SQLite would give everyone permissions; its side files get those of this one.
            try Platform.createPrivateFile(path)
            return true
        } catch .exists {
            // Another process made it meanwhile, or it is a link to a file that does not exist: SQLite would make that one.
            guard (try? Platform.status(of: path)) != nil else {
                throw DatabaseError(.cannotOpen, "\(shown(path)): a symbolic link that leads nowhere")
            }
            return false
        } catch {
            throw unopened(path, error)
        }
    }

    private static func unopened(_ path: String, _ error: Errno) -> DatabaseError {
        DatabaseError(.cannotOpen, "\(shown(path)): \(StorageFailure.description(of: error, path))")
    }

    /// Closes the file. One that this opening made is removed if it is empty still and nobody has it locked.
    ///
    /// Another connection that has it open without a lock finds out when it writes the first page; see `encryptNew`.
    package func close() {
        if wasCreated, !connection.turn.isOfParent {
            pages.file.ifUnlocked {
                guard (try? pages.size()) == 0, !connection.hasMoved else { return }
                try? Platform.remove(connection.filename)
            }
        }
        connection.close()
    }

    /// Removes the file that this opening made, whose schema is empty.
    func removeIfCreated() {
        if wasCreated { try? Platform.remove(connection.filename) }
    }

    /// Whether the file, which is neither empty nor plaintext, has no pattern, as an encrypted one.
    package func looksEncrypted() throws -> Bool {
        try kind == .plaintextHeader || FileKind.looksEncrypted(pages)
    }

    /// An error that names the file.
    func keyError(_ code: ErrorCode<KeyError>, format: CipherFormat? = nil) -> KeyError {
        KeyError(code, path: filePath, format: format, fileType: code == .notADatabase ? fileType : nil)
    }

    /// What a file is that is no database, such as `gzip data` or `empty`; nil where that is not known.
    package var fileType: String? { kind == .empty ? "empty" : try? KnownMagic.name(of: pages) }

    /// Whether the path leads to another file by now, or to none.
    package var hasMoved: Bool { connection.hasMoved }

    /// Locks out all others.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` if another connection keeps the file for longer than the busy timeout.
    package func lockExclusively() throws -> ExclusiveFile {
        try ExclusiveFile(self)
    }

    func checkSideFiles() throws {
        try StoredPages.checkSideFiles(of: connection.filename, forWriting: flags.contains(.readWrite))
    }
}
