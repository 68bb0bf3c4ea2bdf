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
    /// `cipherdb_keyring`, so that an old copy of the keyring is known. A record that another program has altered is an error,
    /// and is written again where ``Configuration/acceptsOldCopies`` is set.
    ///
    /// - Parameters:
    ///   - keyring: The keyring that holds the database's key.
    ///   - secret: What opens the keyring.
    ///   - slot: The only slot to try; needed where ``KeyringContent/needsSlotNumber`` says so.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: ``KeyringError``; ``KeyringError/Problem/otherDatabase`` where the database is not under the keyring's key;
    ///   ``DatabaseError``; ``KeyError``.
    public func open(
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        // An old copy of the keyring is found out before it is written to.
        let unlocked = try keyring.unlock(secret, slot: slot, upgrades: false)
        try open(keyring: unlocked, flags: flags)
        try unlocked.upgrade(secret)
    }

    /// Opens the file with the key that an unlocked keyring holds, and verifies it.
    ///
    /// - Throws: as ``open(keyring:unlockedBy:slot:flags:)``.
    public func open(keyring: UnlockedKeyring, flags: OpenFlags = [.readWrite, .create]) throws {
        guard !isOpen else { throw DatabaseError(.misuse, "the database is open already") }
        do {
            let content = try keyring.content()
            do {
                try openAndSettle(keyring, content, flags)
            } catch let error as KeyringError where error.problem == .otherDatabase {
                // Another process may have changed the key since its keys were read.
                let now = try keyring.content()
                guard now.generation != content.generation else { throw error }
                try openAndSettle(keyring, now, flags)
            }
            try updateRecord(of: keyring)
        } catch {
            close()
            throw error
        }
    }

    private func openAndSettle(_ keyring: UnlockedKeyring, _ content: KeyringContent, _ flags: OpenFlags) throws {
        guard content.isRotationPending, flags.contains(.readWrite) else {
            return try open(keyring, flags)
        }
        do {
            // Which key is in force must not change between the finding and the writing down of it.
            try keyring.withLock(waiting: .zero) { locked in
                try open(keyring, flags)
                // Where that cannot be done now, both keys stay.
                try? settle(locked)
            }
        } catch let error as KeyringError where error.isOfTheSystem {
            // Another process is at it, or the keyring cannot be written: whichever key fits is the right one.
            close()
            try open(keyring, flags)
        }
    }

    /// Opens the file with the first of the keyring's keys that fits.
    private func open(_ keyring: UnlockedKeyring, _ flags: OpenFlags) throws {
        let keys = try keyring.databaseKeys()
        var damage: KeyError?
        for key in [keys.next, keys.current].compactMap({ $0 }) {
            do {
                try open(key, keys.content, keyring, flags)
                return try checkRecord(of: keyring)
            } catch KeyError.wrongKey {
                continue
            } catch let error as KeyError where error.isDamage {
                // A change of key that was cut off leaves pages under both; the other one may be that of its journal.
                damage = error
            }
        }
        if let damage { throw damage }
        try openOldCopy(keyring, keys.content, flags)
    }

    private func open(
        _ key: DatabaseKey,
        _ content: KeyringContent,
        _ keyring: UnlockedKeyring,
        _ flags: OpenFlags
    ) throws {
        try open(flags: flags)
        if case .opened(_, .empty, _) = state {
            guard !content.isInUse, !content.isRotationPending else {
                throw KeyringError(path: keyring.keyring.path, problem: .databaseMissing)
            }
        }
        try setKey(key)
        if !content.isInUse, let salt = unlocked?.key.salt, flags.contains(.readWrite) {
            // Without this a missing file is not noticed, and the keyring counts as one that no database has.
            try? keyring.withLock(waiting: .zero) { try $0.note(salt: salt) }
        }
    }

    /// Opens a copy of the database from before a change of its key, where that is meant, and makes its key the one that counts.
    private func openOldCopy(_ keyring: UnlockedKeyring, _ content: KeyringContent, _ flags: OpenFlags) throws {
        for (key, day) in try keyring.retiredKeys() {
            do {
                try open(key, content, keyring, flags)
            } catch KeyError.wrongKey {
                continue
            }
            guard configuration.acceptsOldCopies, let salt = unlocked?.key.salt else {
                throw KeyringError(path: keyring.keyring.path, problem: .oldDatabase(retired: day))
            }
            return try keyring.withLock { try $0.adopt(key, salt: salt) }
        }
        throw KeyringError(path: keyring.keyring.path, problem: .otherDatabase)
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
        _ = try usableConnection()
        guard let present = unlocked else { throw RekeyError.notStarted("the database is not encrypted") }
        try keyring.withLock { locked in
            guard try present.isOpened(by: locked.current) else { throw KeyringError.Problem.otherDatabase }
            let next = try locked.beginRotation()
            do {
                try rekey(next)
            } catch {
                try? takeBack(locked, present, error)
                throw error
            }
            try settle(locked)
        }
        try? writeRecord(of: keyring)
    }

    /// After a change that failed. Where it is not proved that the old key is in force the next opening finds out.
    private func takeBack(_ locked: LockedKeyring, _ present: Unlocked, _ error: any Error) throws {
        guard let unlocked, unlocked.key == present.key else { return }
        if case RekeyError.oldKeyInForce = error {
            try settle(locked, wasUsed: false)
        } else {
            // It ended before the engine had the new key.
            try locked.cancelRotation(wasUsed: false)
        }
    }

    /// Ends the change of key where this connection, which is keyed, is under the new one, and takes it back otherwise. Leaves
    /// it to the next opening where other connections hold pages of the log.
    ///
    /// - Parameter wasUsed: Whether the new key may be that of a file: what this connection has open may be a copy.
    private func settle(_ locked: LockedKeyring, wasUsed: Bool = true) throws {
        guard let unlocked, let connection, let next = try locked.next, !connection.isReadOnly else { return }
        let isUnderNext = try unlocked.isOpened(by: next)
        // Pages under the old key may stand in the file still, and those under the new one in the log alone.
        guard (try? checkpoint(.truncate).logFrameCount) ?? 1 <= 0 else { return }
        try EngineFile(connection).sync()
        do {
            // The name of a new file, or that of a journal which is gone.
            try FileCalls.syncFolder(of: connection.filename)
        } catch {
            throw DatabaseError(.inputOutput, "\(connection.filename): the folder: \(error)")
        }
        if isUnderNext {
            try locked.finishRotation(salt: unlocked.key.salt)
        } else {
            try locked.cancelRotation(wasUsed: wasUsed)
        }
    }
}
