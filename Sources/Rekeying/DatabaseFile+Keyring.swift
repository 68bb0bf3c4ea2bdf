public import CipherDB
internal import CipherKeys
internal import CipherPages

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension DatabaseFile {
    /// What ``adopt(_:)`` changed.
    public struct Adoption: Sendable, Equatable {
        /// Whether a retired key of the keyring, which the file is under, is its current key now.
        public let adoptsKey: Bool
        /// Whether the file's record of the keyring, which another program had altered, was written again.
        public let repairsRecord: Bool
    }

    /// Makes the file and the keyring fit each other, where that is meant: the retired key that a copy of the database is under
    /// becomes the current key, and a record of the keyring in the database that another program has altered is written again.
    ///
    /// - Throws: `RekeyError/notNeeded(_:)` where they fit; `KeyringError`; `DatabaseError`.
    public func adopt(_ keyring: UnlockedKeyring) throws -> Adoption {
        let adoptsKey = try keyring.withLock { locked in
            guard try position(locked) == .other else { return false }
            guard let older = try olderKey(of: keyring) else { throw KeyringError.Problem.otherDatabase }
            try locked.adopt(older.key, salt: salt())
            return true
        }
        let repairsRecord = try repairRecord(of: keyring)
        guard adoptsKey || repairsRecord else {
            throw RekeyError.notNeeded("the file is under the keyring's key, and its record of the keyring is sound")
        }
        return Adoption(adoptsKey: adoptsKey, repairsRecord: repairsRecord)
    }

    private func repairRecord(of keyring: UnlockedKeyring) throws -> Bool {
        let keys = try keyring.databaseKeys()
        guard let found = try find(current: keys.current, next: keys.next)?.unlocked,
            Engine.current.formats.contains(where: { $0.version == found.format.version })
        else { return false }
        let database = try open(forWriting: true)
        defer { database.close() }
        try database.unlock(.unlocked(found))
        return try database.repairRecord(of: keyring)
    }

    /// The key of the keyring's that the file is under, be it an older one.
    ///
    /// - Throws: `KeyringError/Problem/otherDatabase` where it is under none of them.
    public func key(in keyring: UnlockedKeyring) throws -> DatabaseKey {
        let keys = try keyring.databaseKeys()
        switch try findDespiteDamage(current: keys.current, next: keys.next) {
        case .next: return keys.next ?? keys.current
        case .current: return keys.current
        case .older, .other, nil:
            guard let older = try olderKey(of: keyring) else {
                throw KeyringError(path: keyring.keyring.path, problem: .otherDatabase)
            }
            return older.key
        }
    }

    /// What to say of a file that is under neither of the keys that count.
    func whyNoKeyFits(_ keyring: UnlockedKeyring) throws -> KeyringError.Problem {
        try olderKey(of: keyring).map { .oldDatabase(retired: $0.day) } ?? .otherDatabase
    }

    /// The key that the keyring gave up and the file is under, with the day.
    private func olderKey(of keyring: UnlockedKeyring) throws -> (key: DatabaseKey, day: Date)? {
        try keyring.retiredKeys().first { older in
            do {
                _ = try proved(older.key)
                return true
            } catch KeyError.wrongKey {
                return false
            }
        }
    }

    /// Puts a backup of the file's keyring in its place, where that is missing, damaged, or has other slots.
    ///
    /// - Throws: `KeyringError`, with `KeyringError/Problem/otherDatabase` where the backup does not open the file;
    ///   else as `UnlockedKeyring/restore(to:overtaking:)`.
    public func restoreKeyring(_ keyring: Keyring, from backup: UnlockedKeyring) throws {
        let keys = try backup.databaseKeys()
        guard try position(in: backup) != .other else {
            throw KeyringError(path: backup.keyring.path, problem: .otherDatabase)
        }
        // The database would call a keyring old that is not newer than what it noted.
        let noted = [keys.next, keys.current].lazy.compactMap { $0 }.compactMap { key -> UInt64? in
            guard let database = try? open() else { return nil }
            defer { database.close() }
            guard let fit = try? fit(key, to: database), (try? unlock(database, fit)) != nil else { return nil }
            return try? database.notedGeneration(of: backup)
        }
        try backup.restore(to: keyring, overtaking: noted.first ?? 0)
    }

    /// Brings a file that has a key of its own, or is in plaintext, under the key of a keyring that no database has yet.
    ///
    /// A kill at any moment leaves a file that opens with the old key or with the keyring; then call this again.
    ///
    /// - Parameters:
    ///   - keyring: The keyring, unlocked.
    ///   - oldKey: The key that the file has; nil for plaintext.
    ///   - keptAs: A path on the same disk where a copy of the old file shall stay.
    ///   - progress: as of ``changeKey(from:to:keepingOldAs:progress:)``.
    /// - Throws: `KeyringError/Problem/inUse` where the keyring is another database's; `RekeyError/notNeeded(_:)` where the
    ///   file is under it already; else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func moveToKeyring(
        _ keyring: UnlockedKeyring,
        from oldKey: DatabaseKey?,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Rewritten {
        try keyring.withLock { locked in
            try locked.sync()
            if case .current = try position(locked) {
                try locked.note(salt: salt())
                throw RekeyError.notNeeded("the file is under the keyring's key")
            }
            guard !locked.content.isInUse, !locked.content.isRotationPending else { throw KeyringError.Problem.inUse }
            let key = try locked.current
            let result: Rewritten
            do {
                result =
                    if let oldKey {
                        try changeKey(from: oldKey, to: key, keepingOldAs: keptAs, progress: progress)
                    } else {
                        try encrypt(with: key, keepingOldAs: keptAs, progress: progress)
                    }
            } catch RekeyError.oldFileRemains(let path, let error) {
                try? locked.note(salt: salt())
                throw RekeyError.oldFileRemains(path: path, error)
            }
            try locked.note(salt: salt())
            return result
        }
    }

    /// Which of a keyring's keys a file is under.
    public enum KeyringPosition: String, Sendable {
        /// The one that counts.
        case current
        /// The one that a change of key which was interrupted is to bring it under.
        case next
        /// One that the keyring gave up: an old copy, unless it was that which was changed.
        case older
        /// None of them: it is not moved to the keyring yet, or another database.
        case other
    }

    /// Which of the keyring's keys the file is under.
    ///
    /// - Throws: `KeyringError`; `KeyError`, ``FileProblem``, `DatabaseError` where the file cannot be looked at.
    public func position(in keyring: UnlockedKeyring) throws -> KeyringPosition {
        let keys = try keyring.databaseKeys()
        if let found = try find(current: keys.current, next: keys.next) { return found.position }
        return try olderKey(of: keyring) == nil ? .other : .older
    }

    func position(_ locked: LockedKeyring) throws -> KeyringPosition {
        try find(locked)?.position ?? .other
    }

    /// Which of the two keys the file is under, and how it is under that; nil where neither fits.
    func find(_ locked: LockedKeyring) throws -> (position: KeyringPosition, unlocked: Unlocked)? {
        try find(current: locked.current, next: locked.next)
    }

    private func find(
        current: DatabaseKey,
        next: DatabaseKey?
    ) throws -> (position: KeyringPosition, unlocked: Unlocked)? {
        let (found, damaged) = try tryKeys(current: current, next: next)
        // A change of key that was cut off leaves pages under both: which of them counts is not known.
        if found == nil, let damage = damaged.last?.error { throw damage }
        return found
    }

    /// Like ``find(current:next:)``, for callers that only read: a damaged file is under the one key that is right for some page.
    private func findDespiteDamage(current: DatabaseKey, next: DatabaseKey?) throws -> KeyringPosition? {
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
        found: (position: KeyringPosition, unlocked: Unlocked)?,
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
            } catch let error as KeyError where error.isDamage {
                damaged.append((position, error))
            } catch let error as DatabaseError where error.code.primary == .corrupt {
                damaged.append((position, error))
            }
        }
        return (nil, damaged)
    }

    /// How the file is under `key`. A log may hold pages under a key to which it never came, so the engine has the last word.
    private func proved(_ key: DatabaseKey) throws -> Unlocked {
        let database = try open()
        defer { database.close() }
        let fit = try fit(key, to: database)
        try check(fit)
        if Engine.current.formats.contains(where: { $0.version == fit.unlocked.format.version }) {
            try database.unlock(.unlocked(fit.unlocked))
        }
        return fit.unlocked
    }

    private func salt() throws -> [UInt8] {
        let database = try open()
        defer { database.close() }
        return try database.firstPage(CipherFormat.saltSize)
    }
}
