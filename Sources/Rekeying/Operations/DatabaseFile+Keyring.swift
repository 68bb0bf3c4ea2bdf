public import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

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
    /// - Throws: `RekeyError.notNeeded` where they fit; `KeyringError`; `DatabaseError`.
    public func adopt(_ keyring: UnlockedKeyring) throws -> Adoption {
        try limitingWaits {
            let adoptsKey = try keyring.withLock { locked in
                guard try position(locked) == .other else { return false }
                guard let older = try olderKey(of: keyring) else { throw KeyringError(.otherDatabase) }
                try locked.adopt(older.key, salt: salt(older.key))
                return true
            }
            let repairsRecord = try repairRecord(of: keyring)
            guard adoptsKey || repairsRecord else {
                throw RekeyError(
                    .notNeeded,
                    path: path,
                    reason: "the file is under the current key of the keyring, and its record is valid"
                )
            }
            return Adoption(adoptsKey: adoptsKey, repairsRecord: repairsRecord)
        }
    }

    private func repairRecord(of keyring: UnlockedKeyring) throws -> Bool {
        let keys = try keyring.databaseKeys()
        guard let found = try find(current: keys.current, next: keys.next)?.verifiedKey,
            Engine.current.writes(found.format)
        else { return false }
        let database = try database(under: found, forWriting: true)
        defer { database.close() }
        return try database.repairRecord(of: keyring)
    }

    /// The key of the keyring's that the file is under, be it an older one.
    ///
    /// - Throws: `KeyringError.otherDatabase` where it is under none of them.
    public func key(in keyring: UnlockedKeyring) throws -> DatabaseKey { try keyAndRetirement(in: keyring).key }

    /// The key of the keyring's that the file is under, and for a retired one the day on which another took its place.
    package func keyAndRetirement(in keyring: UnlockedKeyring) throws -> (key: DatabaseKey, retired: String?) {
        try limitingWaits {
            let found = try looking(in: keyring) { current, next -> (DatabaseKey, String?)? in
                switch try findDespiteDamage(current: current, next: next) {
                case .next: (next ?? current, nil)
                case .current: (current, nil)
                case .older, .other, nil: try olderKey(of: keyring, despiteDamage: true).map { ($0.key, $0.day.day) }
                }
            }
            guard let found else { throw KeyringError(.otherDatabase, path: keyring.keyring.path) }
            return found
        }
    }

    /// As ``keyAndRetirement(in:)``, for callers that save what is in the file: where its salt is damaged, with the one that the keyring has.
    package func keyDespiteDamagedSalt(in keyring: UnlockedKeyring) throws -> (key: DatabaseKey, retired: String?) {
        try limitingWaits {
            let found = Result { try keyAndRetirement(in: keyring) }
            if let key = try? found.get().key, isRight(key) { return try found.get() }
            let keys = try keyring.databaseKeys()
            for key in [keys.next, keys.current].compactMap({ $0 }) {
                guard let salt = key.saltOfHeader, case let salted = try key.with(salt: salt), isRight(salted) else {
                    continue
                }
                return (salted, nil)
            }
            return try found.get()
        }
    }

    /// Whether the key is right for some page of the file.
    private func isRight(_ key: DatabaseKey) -> Bool {
        guard let file = try? open() else { return false }
        defer { file.close() }
        return (try? authenticate(key, file)) != nil
    }

    /// Whether the file was used with a newer copy of the keyring; false where it cannot be opened.
    package func hasUsedNewer(than keyring: UnlockedKeyring, under key: DatabaseKey) throws -> Bool {
        guard let (database, _) = try? database(under: key) else { return false }
        defer { database.close() }
        let noted = (try? database.notedGeneration(of: keyring)) ?? 0
        return try noted > keyring.content().generation
    }

    /// Puts a backup of the file's keyring in its place, where that is missing, damaged, has other slots, or does not open the file. One that
    /// is missing gets the owner, the group and the permissions of the file, as far as this process may give them, and none for others.
    ///
    /// - Returns: The path under which the replaced keyring is kept; nil where none stood there, or one with the same slots and keys.
    /// - Throws: `KeyringError`, with `KeyringError.otherDatabase` where the backup does not open the file, and with
    ///   `KeyringError.otherKeys` where the present keyring does, and has other keys.
    @discardableResult
    public func restoreKeyring(_ keyring: Keyring, from backup: UnlockedKeyring) throws -> String? {
        try limitingWaits {
            let keys = try backup.databaseKeys()
            let key: DatabaseKey? =
                switch try find(current: keys.current, next: keys.next)?.position {
                case .next: keys.next
                case .current: keys.current
                case .older, .other, nil: try olderKey(of: backup)?.key
                }
            guard let key else { throw KeyringError(.otherDatabase, path: backup.keyring.path) }
            // The database would call a keyring old that is not newer than what it noted.
            let noted = [keys.next, keys.current].lazy.compactMap { $0 }.compactMap { key -> UInt64? in
                guard let (database, _) = try? database(under: key) else { return nil }
                defer { database.close() }
                return try? database.notedGeneration(of: backup)
            }
            return try backup.restore(to: keyring, overtaking: noted.first ?? 0, opening: (path, key))
        }
    }

    /// Brings a file that has a key of its own, or is in plaintext, under the key of a keyring that no database has yet.
    ///
    /// A kill at any moment leaves a file that opens with the old key or with the keyring; then call this again.
    ///
    /// - Parameters:
    ///   - keyring: The keyring, unlocked.
    ///   - oldKey: The key that the file has; nil for plaintext.
    ///   - keptAs: A path on the same file system for a copy of the old file.
    ///   - progress: as of ``changeKey(from:to:keepingOldAs:progress:)``.
    /// - Throws: `KeyringError.inUse` where the keyring is another database's; `RekeyError.notNeeded` where the
    ///   file is under it already; else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func moveToKeyring(
        _ keyring: UnlockedKeyring,
        from oldKey: DatabaseKey?,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try limitingWaits {
            let place = try FileError.naming(path, Platform.resolved(path))
            return try keyring.withLock { locked in
                try locked.sync()
                var key = try locked.current
                // In the place of the salt the keyring may have a claim.
                if let salt = oldKey?.saltBesideFile { key.saltOfHeader = salt }
                if try find(current: key, next: locked.next)?.position == .current {
                    try locked.fulfil(claimFor: place, salt: salt(key))
                    throw RekeyError(.notNeeded, path: path, reason: "the file is under the current key of the keyring")
                }
                let isClaimed = try locked.content.isClaimed(for: place)
                guard isClaimed || !locked.content.isInUse, !locked.content.isRotationPending else {
                    throw KeyringError(.inUse)
                }
                let file = try askingFirst(locked) { try $0.move(from: oldKey, to: key, keptAs, progress) }
                // Before the file is exchanged: what cannot be noted afterwards must not be forgotten.
                if !isClaimed { try locked.claim(for: place) }
                let result: RewriteResult
                do {
                    result = try file.move(from: oldKey, to: key, keptAs, progress)
                } catch let error as RekeyError where error.code == .oldFileRemains {
                    try? locked.fulfil(claimFor: place, salt: salt(key))
                    throw error
                } catch {
                    try? locked.releaseClaim()
                    throw error
                }
                // The claim does as well.
                try? locked.fulfil(claimFor: place, salt: salt(key))
                return result
            }
        }
    }

    /// Asks ``willRewrite`` about ``moveToKeyring(_:from:keepingOldAs:progress:)`` before there is a keyring.
    ///
    /// - Throws: What it throws, and why the file could not be moved.
    package func askBeforeMove(from oldKey: DatabaseKey?, keepingOldAs keptAs: String?) throws {
        try limitingWaits { _ = try askingFirst(nil) { try $0.move(from: oldKey, to: .random(), keptAs) { _ in } } }
    }

    /// Throws where the file cannot be written, and for what is no file.
    package func checkMayWrite() throws { try FileError.check(path, forWriting: true) }

    private func move(
        from oldKey: DatabaseKey?,
        to key: DatabaseKey,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        guard let oldKey else { return try encrypt(with: key, keepingOldAs: keptAs, progress: progress) }
        return try change(oldKey, key, isOfKeyring: true, keptAs, progress)
    }

    /// The salt of the file, or the one beside it that comes with the key.
    private func salt(_ key: DatabaseKey) throws -> [UInt8] {
        let file = try open()
        defer { file.close() }
        if file.kind == .plaintextHeader, let salt = key.saltBesideFile { return salt }
        return try file.pages.read(CipherFormat.saltSize, at: 0)
    }
}
