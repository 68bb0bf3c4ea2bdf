public import CipherKeys
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// The key of a database in a keyring. The next opening completes or undoes an interrupted rotation: the keyring
// holds both keys until one of them is proved, and everything is on the disk under it.
extension Database {
    /// Opens the file with the key that a keyring holds, and verifies it.
    ///
    /// A new file is made where the keyring is new, too. The database remembers the keyring's generation, in the table
    /// `cipherdb_keyring`, so that an old copy of the keyring is known. A record that another program has altered is an error,
    /// and is written again where ``Configuration/acceptsOldCopies`` is set.
    ///
    /// - Parameters:
    ///   - keyring: The keyring that stores the key of the database.
    ///   - secret: What opens the keyring.
    ///   - slot: The only slot to try; needed where ``KeyringContent/needsSlotNumber`` says so.
    ///   - flags: For reading and writing, and made where it does not exist, unless set.
    /// - Throws: ``KeyringError``; ``KeyringError/Problem/otherDatabase`` where the database is under no key of the keyring;
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
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        guard !isOpen else { throw DatabaseError(.misuse, "the database is open already") }
        do {
            let content = try keyring.content()
            do {
                try openAndResolve(keyring, content, flags)
            } catch let error as KeyringError where error.problem == .otherDatabase {
                // Another process may have changed the key since its keys were read, or replaced the file between the tries of two keys.
                let now = try keyring.content()
                guard content.isRotationPending || now.generation != content.generation else { throw error }
                try openAndResolve(keyring, now, flags)
            }
            try updateRecord(of: keyring)
            keyOrigin = .keyring
        } catch {
            close()
            throw error
        }
    }

    private func openAndResolve(_ keyring: UnlockedKeyring, _ content: KeyringContent, _ flags: OpenFlags) throws {
        guard content.isRotationPending, flags.contains(.readWrite) else {
            return try open(keyring, flags)
        }
        do {
            // Which key is in force must not change between the finding and the writing down of it.
            try keyring.withLock(waiting: .zero) { locked in
                try open(keyring, flags)
                // Where that cannot be done now, both keys stay.
                try? KeyRotation(locked, self).resolve()
            }
        } catch let error as KeyringError where error.isOfTheSystem {
            // Another process is at it, or the keyring cannot be written: whichever key fits is the right one.
            close()
            try open(keyring, flags)
        }
    }

    /// Opens the file with the first key of the keyring that fits.
    private func open(_ keyring: UnlockedKeyring, _ flags: OpenFlags) throws {
        let keys = try keyring.databaseKeys()
        var damage: KeyError?
        for key in [keys.next, keys.current].compactMap({ $0 }) {
            do {
                try open(key, keys.content, keyring, flags)
                return try checkRecord(of: keyring)
            } catch KeyError.wrongKey {
                continue
            } catch let error as KeyError where error.isOfDamage {
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
        var key = key
        if hasNewFile {
            guard !content.isInUse, !content.isRotationPending else {
                throw KeyringError(path: keyring.keyring.path, problem: .databaseMissing)
            }
            if configuration.format.map({ $0.plaintextHeaderSize > 0 }) == true {
                key.saltOfHeader = try newSalt(in: keyring)
            }
        }
        try setKey(key)
        if !content.isInUse, let salt = verifiedKey?.key.salt, flags.contains(.readWrite) {
            // Without this a missing file is not noticed, and the keyring counts as one that no database has.
            try? keyring.withLock(waiting: .zero) { try $0.note(salt: salt) }
        }
    }

    /// A salt for a new file that does not contain it: it is in the keyring before the file is made.
    private func newSalt(in keyring: UnlockedKeyring) throws -> [UInt8] {
        let salt = try CipherFormat.newSalt()
        try keyring.withLock { try $0.note(salt: salt) }
        return salt
    }

    /// Opens a copy of the database from before a change of its key, where that is meant, and makes its key the one that counts.
    private func openOldCopy(_ keyring: UnlockedKeyring, _ content: KeyringContent, _ flags: OpenFlags) throws {
        for (key, day) in try keyring.retiredKeys() {
            do {
                try open(key, content, keyring, flags)
            } catch let error as KeyError where error == .wrongKey || error == .otherMACKey {
                continue
            }
            guard configuration.acceptsOldCopies, let salt = verifiedKey?.key.salt else {
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
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        _ = try usableConnection()
        guard let present = verifiedKey else {
            throw RekeyError(path: path, problem: .notStarted("the database is not encrypted"))
        }
        try keyring.withLock { locked in
            guard try present.isOpened(by: locked.current) else { throw KeyringError(.otherDatabase) }
            let origin = keyOrigin
            keyOrigin = .rotation
            defer { keyOrigin = origin }
            try KeyRotation(locked, self).run { _, next in try rekey(next) }
        }
        try? writeRecord(of: keyring)
    }
}

extension Database: RotationTarget {
    package func failedChangeLeft(_ key: DatabaseKey) -> Bool { (try? verifiedKey?.isOpened(by: key)) == true }

    package func settleKeyInForce(of keyring: LockedKeyring) throws -> KeyInForce? {
        guard let verifiedKey, let connection, let next = try keyring.next, !connection.isReadOnly else { return nil }
        let isNext = try verifiedKey.isOpened(by: next)
        // Pages under the old key may stand in the file still, and those under the new one in the WAL alone.
        guard (try? checkpoint(.truncate).logFrameCount) ?? 1 <= 0 else { return nil }
        try EngineFile(connection).sync()
        do {
            // The name of a new file, or that of a journal which is gone.
            try FileCalls.syncDirectory(of: connection.filename)
        } catch {
            throw DatabaseError(.inputOutput, "\(connection.filename): the directory could not be synced: \(error)")
        }
        return KeyInForce(isNext: isNext, salt: verifiedKey.key.salt)
    }
}
