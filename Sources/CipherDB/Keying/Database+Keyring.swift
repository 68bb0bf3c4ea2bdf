internal import CipherKeys
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

// The key of a database in a keyring. The next opening completes or undoes an interrupted rotation: the keyring
// holds both keys until one of them is proved, and everything is on the disk under it.
extension Database {
    /// Opens the file with the key that a keyring holds. At the first start both are made.
    func open(
        unlocking keyring: Keyring,
        _ secret: KeyringSecret,
        _ slot: Int?,
        _ flags: OpenFlags
    ) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard !isOpen else { throw DatabaseError(.misuse, "the database is open already") }
        let (unlocked, newFile) = try unlockOrMake(keyring, secret, slot, flags)
        do {
            try open(unlocked: unlocked, flags)
        } catch {
            // A process that has its key makes the database under its lock only.
            if let newFile { try? unlocked.eraseUnused { try UnkeyedFile.size(newFile) ?? 0 > 0 } }
            throw error
        }
        try unlocked.upgrade(secret)
    }

    /// Unlocks the keyring, which is made where neither it nor the database is there.
    ///
    /// - Returns: With the path of the database that a keyring was made for.
    private func unlockOrMake(
        _ keyring: Keyring,
        _ secret: KeyringSecret,
        _ slot: Int?,
        _ flags: OpenFlags
    ) throws -> (unlocked: UnlockedKeyring, newFile: String?) {
        // An old copy of the keyring is found out before it is written to.
        let unlock = { try keyring.unlock(secret, slot: slot, upgrades: false) }
        do {
            return (try unlock(), nil)
        } catch let error as KeyringError where error.code == .missing {
            guard let path, !path.isEmpty else { throw error }
            let location = try DatabaseLocation(path, flags)
            guard let file = location.file else { throw error }
            guard try UnkeyedFile.size(file) ?? 0 == 0 else {
                // Another process may have made both since.
                do {
                    return (try unlock(), nil)
                } catch let error as KeyringError where error.code == .missing {
                    throw KeyringError(.lost, path: keyring.path, database: file)
                }
            }
            guard location.flags.isSuperset(of: [.readWrite, .create]), slot ?? 1 == 1 else { throw error }
            do {
                return (try keyring.make(with: secret), file)
            } catch let error as KeyringError where error.code == .exists {
                // Another process has made it meanwhile.
                return (try unlock(), nil)
            }
        }
    }

    /// Opens the file with the key that an unlocked keyring holds.
    func open(unlocked keyring: UnlockedKeyring, _ flags: OpenFlags) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        guard !isOpen else { throw DatabaseError(.misuse, "the database is open already") }
        do {
            let content = try keyring.content()
            do {
                try openAndResolve(keyring, content, flags)
            } catch let error as KeyringError where error.code == .otherDatabase {
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
        guard !hasNewFile else {
            guard !content.isInUse, !content.isRotationPending else {
                throw KeyringError(.databaseMissing, path: keyring.keyring.path)
            }
            return try makeDatabase(keyring, key)
        }
        try setKey(key)
        if !content.isInUse, let salt = verifiedKey?.key.salt, flags.contains(.readWrite) {
            // Without this a missing file is not noticed, and the keyring counts as one that no database has.
            try? keyring.withLock(waiting: .zero) { try $0.note(salt: salt) }
        }
    }

    /// Makes the database under the keyring's lock, so that the keyring is not taken back by the process that made it and failed.
    ///
    /// - Parameter key: The key of the keyring, for a process that may not write the keyring.
    private func makeDatabase(_ keyring: UnlockedKeyring, _ key: DatabaseKey) throws {
        let hidesSalt = configuration.format.map { $0.plaintextHeaderSize > 0 } == true
        try keyConnection { file in
            var isLocked = false
            do {
                return try keyring.withLock { locked in
                    isLocked = true
                    // A salt that the file does not contain is in the keyring before the file is made.
                    if hidesSalt { try locked.note(salt: CipherFormat.newSalt()) }
                    let made = try file.unlock(locked.current)
                    try? locked.note(salt: made.key.salt)
                    return made
                }
            } catch KeyringError.system where !isLocked && !hidesSalt {
                return try file.unlock(key)
            }
        }
    }

    /// Opens a copy of the database from before a change of its key, where that is meant, and makes its key the one that counts.
    private func openOldCopy(_ keyring: UnlockedKeyring, _ content: KeyringContent, _ flags: OpenFlags) throws {
        for (key, day) in try keyring.retiredKeys() {
            do {
                try open(key, content, keyring, flags)
            } catch let error as KeyError where error.code == .wrongKey || error.code == .otherMACKey {
                continue
            }
            guard configuration.acceptsOldCopies, let salt = verifiedKey?.key.salt else {
                throw KeyringError(.oldDatabase, path: keyring.keyring.path, retired: day)
            }
            return try keyring.withLock { try $0.adopt(key, salt: salt) }
        }
        throw KeyringError(.otherDatabase, path: keyring.keyring.path)
    }
}
