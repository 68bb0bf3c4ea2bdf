public import CipherKeys
internal import CipherPages

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// The database's key in a keyring. A change of it that was cut off is ended, or taken back, by the next opening: the keyring
// holds both keys until one of them is proved, and everything is on the disk under it.
extension Database {
    /// Opens the file with the key that a keyring holds, and verifies it.
    ///
    /// A new file is made where the keyring is new, too. The database remembers the keyring's generation, in the table
    /// `cipherdb_keyring`, so that an old copy of the keyring is known.
    ///
    /// - Parameter secret: What opens the keyring.
    /// - Throws: ``KeyringError``; ``KeyringError/Problem/otherDatabase`` where the database is not under the keyring's key;
    ///   ``DatabaseError``; ``KeyError``.
    public func open(
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        try open(keyring: keyring.unlock(secret), flags: flags)
    }

    /// Opens the file with the key that an unlocked keyring holds, and verifies it.
    ///
    /// - Throws: as ``open(keyring:unlockedBy:flags:)``.
    public func open(keyring: UnlockedKeyring, flags: OpenFlags = [.readWrite, .create]) throws {
        guard !isOpen else { throw DatabaseError(.misuse, "the database is open already") }
        do {
            try open(keyring, flags)
            try checkGeneration(keyring)
        } catch {
            close()
            throw error
        }
    }

    private func open(_ keyring: UnlockedKeyring, _ flags: OpenFlags) throws {
        let keys = try keyring.databaseKeys()
        guard keys.next != nil else {
            return try open(keyring, keys.content, [keys.current], flags)
        }
        guard flags.contains(.readWrite) else {
            return try open(keyring, keys.content, [keys.next, keys.current].compactMap { $0 }, flags)
        }
        do {
            // Which key is in force must not change between the finding and the writing down of it.
            try keyring.withLock(waiting: .zero) { locked in
                let next = try locked.next
                try open(keyring, locked.content, [next, try locked.current].compactMap { $0 }, flags)
                try settle(locked, next)
            }
        } catch let error as KeyringError where error.problem == .busy {
            // Another process is at it. Its locks are waited for, and whichever key fits then is the right one.
            try open(keyring, keys.content, [keys.next, keys.current].compactMap { $0 }, flags)
        }
    }

    /// Opens the file with the first of `keys` that fits.
    private func open(
        _ keyring: UnlockedKeyring,
        _ content: KeyringContent,
        _ keys: [DatabaseKey],
        _ flags: OpenFlags
    ) throws {
        var damage: KeyError?
        for key in keys {
            try open(flags: flags)
            let isNew = if case .opened(_, .empty, _) = state { true } else { false }
            guard !isNew || !content.isInUse && !content.isRotationPending else {
                throw KeyringError(path: keyring.keyring.path, problem: .databaseMissing)
            }
            do {
                try setKey(key)
                if !content.isInUse, let salt = unlocked?.key.salt, flags.contains(.readWrite) {
                    // Without this a missing file is not noticed, and nothing else.
                    try? keyring.withLock(waiting: .zero) { try $0.note(salt: salt) }
                }
                return
            } catch KeyError.wrongKey {
                continue
            } catch let error as KeyError where error.isDamage {
                // A change of key that was cut off leaves pages under both; the other one may be that of its journal.
                damage = error
            }
        }
        if let damage { throw damage }
        throw KeyringError(path: keyring.keyring.path, problem: try whyNoKeyFits(content, flags))
    }

    private func whyNoKeyFits(_ content: KeyringContent, _ flags: OpenFlags) throws -> KeyringError.Problem {
        try open(flags: flags.subtracting(.create))
        defer { close() }
        let salt = try firstPage(CipherFormat.saltSize)
        guard let key = content.retired.last(where: { $0.salt == salt }), salt != content.current.salt else {
            return .otherDatabase
        }
        return .oldDatabase(retired: key.retired)
    }

    // MARK: Changing the key

    /// Gives the database a new random key, which the keyring holds for all its slots, and re-encrypts the file in place.
    ///
    /// The conditions are those of ``rekey(_:)-(DatabaseKey)``. A kill at any moment leaves a database that opens with the
    /// keyring; the next opening ends the change or takes it back.
    ///
    /// - Throws: ``KeyringError``; else as ``rekey(_:)-(DatabaseKey)``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try rotateKey(of: keyring) { try rekey($0) }
    }

    func rotateKey(of keyring: UnlockedKeyring, _ rekey: (DatabaseKey) throws -> Void) throws {
        guard let present = unlocked else { throw RekeyError.notStarted("the database is not encrypted") }
        try keyring.withLock { locked in
            guard try present.isOpened(by: locked.current) else { throw KeyringError.Problem.otherDatabase }
            let next = try locked.beginRotation()
            do {
                try rekey(next)
            } catch {
                // Only where the old key is proved to be in force; else the next opening finds out.
                if let unlocked, unlocked.key == present.key { try? settle(locked, next) }
                throw error
            }
            try settle(locked, next)
        }
        try? writeGeneration(keyring.content())
    }

    /// Ends the change of key where this connection, which is keyed, is under `next`, and takes it back otherwise. Leaves it
    /// to the next opening where other connections hold pages of the log.
    private func settle(_ locked: LockedKeyring, _ next: DatabaseKey?) throws {
        guard let unlocked, let connection, let next, !connection.isReadOnly else { return }
        let isUnderNext = try unlocked.isOpened(by: next)
        // Pages under the old key may stand in the file still, and those under the new one in the log alone.
        guard (try? checkpoint(.truncate).logFrameCount) ?? 1 <= 0 else { return }
        try EngineFile(connection).sync()
        // The name of a new file, or that of a journal which is gone.
        try FileCalls.syncFolder(of: connection.filename)
        if isUnderNext {
            try locked.finishRotation(salt: unlocked.key.salt)
        } else {
            try locked.cancelRotation()
        }
    }

    // MARK: The keyring's generation

    /// Throws where the database was used with a newer copy of the keyring, and writes down this one's generation where it was
    /// used with an older one.
    private func checkGeneration(_ keyring: UnlockedKeyring) throws {
        let content = try keyring.content()
        let known = try knownGeneration(content)
        if known > content.generation {
            guard configuration.acceptsOlderKeyring else {
                throw KeyringError(path: keyring.keyring.path, problem: .outdated(generation: known))
            }
            try keyring.withLock { try $0.overtake(generation: known) }
        }
        // A file without tables can still be given its vacuum mode.
        guard known < content.generation, try int(forQuery: "SELECT count(*) FROM sqlite_master") ?? 0 > 0 else {
            return
        }
        try? writeGeneration(content)
    }

    private func knownGeneration(_ content: KeyringContent) throws -> UInt64 {
        guard try tableExists("cipherdb_keyring") else { return 0 }
        let known = try int(
            forQuery: "SELECT generation FROM cipherdb_keyring WHERE identifier = ?",
            Data(content.identifier)
        )
        return UInt64(clamping: known ?? 0)
    }

    private func writeGeneration(_ content: KeyringContent) throws {
        guard let connection, !connection.isReadOnly else { return }
        // A writer is not waited for: the next opening does it.
        connection.setBusyTimeout(milliseconds: 0)
        defer { installBusyHandling() }
        try inTransaction { database in
            try database.executeUpdate(
                "CREATE TABLE IF NOT EXISTS cipherdb_keyring (identifier BLOB PRIMARY KEY, generation INTEGER NOT NULL)"
            )
            // Those of keyrings that the database had before are of no use.
            try database.executeUpdate("DELETE FROM cipherdb_keyring")
            try database.executeUpdate(
                "INSERT INTO cipherdb_keyring VALUES (?, ?)",
                Data(content.identifier),
                Int64(clamping: content.generation)
            )
        }
    }
}
