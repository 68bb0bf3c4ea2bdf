public import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

// The key of a database in a keyring. What `Database.rotateKey(of:)` is for a database in use, this is for a file at rest; and
// either ends what the other was killed at.
extension DatabaseFile {
    /// Gives the file a new random key, which the keyring holds for all its slots, by writing a new file beside the old one.
    ///
    /// Both keys stand in the keyring before a page is written, and the old one goes when the new file is on the disk: a kill
    /// at any moment leaves a file that opens with the keyring.
    ///
    /// - Parameters:
    ///   - keyring: The keyring, unlocked.
    ///   - progress: as of ``changeKey(from:to:keepingOldAs:progress:)``.
    /// - Throws: `KeyringError`, with `KeyringError.rotationPending` where an interrupted one is to be ended first;
    ///   else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func rotateKey(
        of keyring: UnlockedKeyring,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try limitingWaits {
            try keyring.withLock { locked in
                guard !locked.content.isRotationPending else { throw KeyringError(.rotationPending) }
                guard case .current = try position(locked) else { throw try whyNoKeyFits(keyring) }
                let file = try askingFirst(locked) { try $0.changeKey(from: locked.current, to: .random()) }
                return try KeyRotation(locked, file).run { try file.changeKey(from: $0, to: $1, progress: progress) }
            }
        }
    }

    /// Asks ``willRewrite`` before the keyring is written, which would have to be taken back: nothing is changed where it throws.
    ///
    /// - Parameters:
    ///   - locked: The keyring; nil where it does not exist yet.
    ///   - change: What rewrites the file, under any key.
    /// - Returns: The file, which asks no more.
    func askingFirst(
        _ locked: LockedKeyring?,
        _ change: (DatabaseFile) throws -> RewriteResult
    ) throws -> DatabaseFile {
        guard let ask = willRewrite else { return self }
        try locked?.checkMayWrite()
        var file = self
        file.willRewrite = {
            try ask($0)
            throw MayRewrite()
        }
        do {
            _ = try change(file)
        } catch is MayRewrite {
            file.willRewrite = nil
        }
        return file
    }

    /// Ends what would rewrite the file.
    private struct MayRewrite: Error {}

    /// Gives the file a new random key in place, by the engine; it keeps its salt. Every page is authenticated before and after.
    ///
    /// - Parameters:
    ///   - keyring: The keyring, unlocked.
    ///   - progress: as of ``changeKeyInPlace(from:to:progress:)``.
    /// - Throws: `KeyringError`; else as ``changeKeyInPlace(from:to:progress:)``.
    public func rotateKeyInPlace(
        of keyring: UnlockedKeyring,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Verification {
        try limitingWaits {
            try checkMayMakeJournal()
            let before = try verify(key: keyring.databaseKey(), progress: progress)
            if let damage = before.damage(of: path) { throw damage }
            let database = Database(
                path: path,
                configuration: Configuration {
                    $0.busyTimeout = configuration.busyTimeout
                    $0.format = before.format
                }
            )
            do {
                defer { database.close() }
                try database.open(key: keyring, flags: .readWrite)
                try database.rotateKey(of: keyring)
            }
            do {
                // It is too late to stop: what progress throws does not matter any more.
                return try verify(key: keyring.databaseKey()) { try? progress($0) }
            } catch {
                throw RekeyError(.newKeyInForce, path: path, cause: error)
            }
        }
    }

    /// Ends a change of key that was interrupted.
    ///
    /// - Returns: nil where the new key was in force already.
    /// - Throws: `KeyringError.noRotationPending`; else as ``rotateKey(of:progress:)``.
    @discardableResult
    public func resumeRotation(
        of keyring: UnlockedKeyring,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult? {
        try limitingWaits {
            try keyring.withLock { locked in
                guard locked.content.isRotationPending else { throw KeyringError(.noRotationPending) }
                // The process that wrote it may have been killed before it was synced.
                try locked.sync()
                switch try position(locked) {
                case .current:
                    return try KeyRotation(locked, self).resume { try changeKey(from: $0, to: $1, progress: progress) }
                case .next:
                    try KeyRotation(locked, self).resolve()
                    return nil
                case .older, .other: throw try whyNoKeyFits(keyring)
                }
            }
        }
    }

    /// Takes back a change of key that was interrupted, and removes what it left.
    ///
    /// - Throws: `KeyringError.noRotationPending`; `RekeyError.notStarted` where the new key is in force
    ///   already.
    public func cancelRotation(of keyring: UnlockedKeyring) throws {
        try limitingWaits {
            try keyring.withLock { locked in
                guard locked.content.isRotationPending else { throw KeyringError(.noRotationPending) }
                switch try position(locked) {
                case .current: try KeyRotation(locked, self).resolve()
                case .next:
                    throw RekeyError(
                        .notStarted,
                        path: path,
                        reason: "the new key is already in force; `resume` completes the rotation"
                    )
                case .older, .other: throw try whyNoKeyFits(keyring)
                }
            }
        }
    }
}

extension DatabaseFile: RotationTarget {
    /// True: a new file is only put in the place of the old one when it is complete.
    package func failedChangeLeft(_ key: DatabaseKey) -> Bool { true }

    package var rotatedPath: String? { path }

    package func settleKeyInForce(of keyring: LockedKeyring) throws -> KeyInForce {
        guard let found = try find(keyring) else { throw KeyringError(.otherDatabase) }
        let file = try lockAtRest(found.verifiedKey)
        defer { file.release() }
        try Leftovers(of: file.path).remove()
        try file.sync()
        // The name of the new file, or that of a journal which is gone.
        try FileError.naming(file.path, FileCalls.syncDirectory(of: file.path))
        return KeyInForce(isNext: found.position == .next, salt: found.verifiedKey.key.salt)
    }
}
