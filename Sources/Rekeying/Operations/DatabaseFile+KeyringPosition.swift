public import CipherDB
internal import CipherKeys

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Which key of a keyring a file is under.
extension DatabaseFile {
    /// Which key of a keyring a file is under.
    public enum KeyringPosition: String, Sendable {
        /// The one that counts.
        case current
        /// The one that a change of key which was interrupted is to bring it under.
        case next
        /// A retired key: an old copy, unless the keyring is the old copy.
        case older
        /// None of them: it is not moved to the keyring yet, or another database.
        case other
    }

    /// Which key of the keyring the file is under.
    ///
    /// - Throws: `KeyringError`; `KeyError`, ``FileError``, `DatabaseError` where the file cannot be looked at.
    public func position(in keyring: UnlockedKeyring) throws -> KeyringPosition {
        try limitingWaits {
            try looking(in: keyring) { current, next in
                try find(current: current, next: next)?.position ?? olderKey(of: keyring).map { _ in .older }
            } ?? .other
        }
    }

    /// What `look` finds with the keyring's keys; it looks again where a rotation gave the keyring another meanwhile.
    func looking<Found>(
        in keyring: UnlockedKeyring,
        _ look: (_ current: DatabaseKey, _ next: DatabaseKey?) throws -> Found?
    ) throws -> Found? {
        while true {
            let keys = try keyring.databaseKeys()
            if let found = try look(keys.current, keys.next) { return found }
            guard try keyring.content().generation != keys.content.generation else { return nil }
        }
    }

    func position(_ locked: LockedKeyring) throws -> KeyringPosition {
        try find(locked)?.position ?? .other
    }

    /// Which of the two keys the file is under, and how it is under that; nil where neither fits.
    func find(_ locked: LockedKeyring) throws -> (position: KeyringPosition, verifiedKey: VerifiedKey)? {
        try find(current: locked.current, next: locked.next)
    }

    func find(
        current: DatabaseKey,
        next: DatabaseKey?
    ) throws -> (position: KeyringPosition, verifiedKey: VerifiedKey)? {
        let (found, damaged) = try tryKeys(current: current, next: next)
        // A change of key that was cut off leaves pages under both: which of them counts is not known.
        if found == nil, let damage = damaged.last?.error { throw damage }
        return found
    }

    /// Like ``find(current:next:)``, for callers that only read: a damaged file is under the one key that is right for some page.
    func findDespiteDamage(current: DatabaseKey, next: DatabaseKey?) throws -> KeyringPosition? {
        let (found, damaged) = try tryKeys(current: current, next: next)
        if let found { return found.position }
        if damaged.count > 1, let damage = damaged.last?.error { throw damage }
        return damaged.first?.position
    }

    /// The key that the file is proved to be under, and those that are right for pages of it, but the file is damaged.
    private func tryKeys(
        current: DatabaseKey,
        next: DatabaseKey?
    ) throws -> (
        found: (position: KeyringPosition, verifiedKey: VerifiedKey)?,
        damaged: [(position: KeyringPosition, error: any Error)]
    ) {
        var damaged: [(position: KeyringPosition, error: any Error)] = []
        for (key, position) in [(next, KeyringPosition.next), (current, .current)] {
            guard let key else { continue }
            do {
                return ((position, try proved(key)), damaged)
            } catch KeyError.wrongKey {
                continue
            } catch KeyError.notEncrypted {
                continue
            } catch let error as KeyError where error.isOfDamage {
                damaged.append((position, error))
            } catch let error as DatabaseError where error.code.primary == .corrupt {
                damaged.append((position, error))
            }
        }
        return (nil, damaged)
    }

    /// How the file is under `key`. A log may hold pages under a key to which it never came, so the engine has the last word.
    private func proved(_ key: DatabaseKey) throws -> VerifiedKey {
        let file = try open()
        let database = Database(file)
        defer { database.close() }
        let found = try authenticateUndamaged(key, file)
        if Engine.current.writes(found.format) { try database.unlock(found) }
        return found
    }

    /// What to say of a file that is under neither of the keys that count.
    func whyNoKeyFits(_ keyring: UnlockedKeyring) throws -> KeyringError {
        try olderKey(of: keyring).map { KeyringError(.oldDatabase, retired: $0.day) } ?? KeyringError(.otherDatabase)
    }

    /// The retired key that the file is under, with the day of its retirement.
    ///
    /// - Parameter despiteDamage: For callers that only read: where none is proved, the first that is right for some page.
    func olderKey(
        of keyring: UnlockedKeyring,
        despiteDamage: Bool = false
    ) throws -> (key: DatabaseKey, day: Date)? {
        var damaged: (key: DatabaseKey, day: Date)?
        for older in try keyring.retiredKeys() {
            do {
                _ = try proved(older.key)
                return older
            } catch let error as KeyError where [.wrongKey, .otherMACKey, .journalUnderOtherKey].contains(error.code) {
                continue
            } catch KeyError.damaged where despiteDamage {
                damaged = damaged ?? older
            } catch let error as DatabaseError where despiteDamage && error.code.primary == .corrupt {
                damaged = damaged ?? older
            }
        }
        return damaged
    }
}
