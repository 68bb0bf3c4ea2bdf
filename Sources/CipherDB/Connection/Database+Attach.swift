public import CipherKeys
internal import CipherSystem

// Another file on the same connection. By SQL that is refused on a keyed connection: its key would show, and without one the
// engine would write plaintext, or give the file the key and the salt of the main one.
extension Database {
    /// Attaches another encrypted database under `name`, so that statements can use the tables of both; made where it does not
    /// exist. `DETACH` ends it.
    ///
    /// It must be in the engine's own format.
    ///
    /// - Parameters:
    ///   - path: The file; neither a URI nor a database in memory.
    ///   - name: What stands before the names of its tables.
    ///   - key: Its own key, or the keyring that holds it.
    /// - Throws: ``KeyError`` where the key does not open it, and then nothing is attached; ``DatabaseError``; ``KeyringError``.
    public func attach(_ path: String, as name: String, key: some KeyProvider) throws {
        let format = try Engine.current.ownFormat()
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        guard verifiedKey != nil else {
            throw DatabaseError(.misuse, "the main database has no key; attach to one that has")
        }
        try checkAttaching(connection, path, name)
        // Another connection finds out what the file is, makes it where it must, and proves the key.
        let other = Database(path: path, configuration: Configuration { $0.busyTimeout = timeout })
        try other.open(key: key, flags: isReadOnly ? .readOnly : [.readWrite, .create])
        defer { other.close() }
        guard let found = other.verifiedKey else { throw KeyError(.notADatabase, path: path) }
        guard found.format == format else { throw KeyError(.otherFormat, path: path, format: found.format) }
        try attach(connection, path, name, found.key.literal())
    }

    /// Attaches a database in plaintext, which everybody with the file can read, as ``attach(_:as:key:)`` does.
    ///
    /// - Throws: `KeyError.keyMissing` unless ``Configuration/allowsPlaintext`` is set; ``DatabaseError``.
    public func attachPlaintext(_ path: String, as name: String) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard configuration.allowsPlaintext else { throw KeyError(.keyMissing, path: path) }
        let connection = try usableConnection()
        try checkAttaching(connection, path, name)
        try attach(connection, path, name, SecretBytes(count: 0) { _ in })
    }

    private func checkAttaching(_ connection: Connection, _ path: String, _ name: String) throws {
        guard !name.hasByte(0), try !connection.schemas().contains(where: { $0.lowercased() == name.lowercased() }),
            Authorizer.mayHaveRecord(name), name.lowercased() != "main"
        else {
            throw DatabaseError(.misuse, "\(path): a database is attached by this name, or none can be; choose another")
        }
        guard !path.isEmpty, path != ":memory:", !path.hasByte(0), !DatabaseURI.isURI(path) else {
            throw DatabaseError(.misuse, "\(path): attach needs the path of a file")
        }
        guard !isInTransaction else {
            throw DatabaseError(
                .misuse,
                "a transaction is open; end it first, or call this in inDatabase instead of read or write"
            )
        }
    }

    private func attach(_ connection: Connection, _ path: String, _ name: String, _ key: SecretBytes) throws {
        if let resolved = try? Platform.resolved(path) {
            try StoredPages.checkSideFiles(of: resolved, forWriting: flags.contains(.readWrite))
        }
        try OpenFile.checkIsNotOfParent(path)
        try connection.unrestricted {
            try Engine.keying.withLock { _ in try connection.attach(path, name, key) }
            do {
                try connection.derivingMACKey(.v4) {
                    _ = try connection.text("SELECT count(*) FROM \(quotedIdentifier(name)).sqlite_master")
                }
            } catch {
                try? connection.execute("DETACH \(quotedIdentifier(name))")
                throw error
            }
        }
        if let file = OpenFile(path) { connection.openFiles.append(file) }
        connection.attached.insert(name)
    }
}
