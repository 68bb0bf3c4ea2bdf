public import CipherDB
internal import CipherKeys
internal import CipherPages

// The database's key in a keyring. What `Database.rotateKey(of:)` is for a database in use, this is for a file at rest; and
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
    /// - Throws: `KeyringError`, with `KeyringError/Problem/rotationPending` where an interrupted one is to be ended first;
    ///   else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func rotateKey(
        of keyring: UnlockedKeyring,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Rewritten {
        try keyring.withLock { locked in
            guard !locked.content.isRotationPending else { throw KeyringError.Problem.rotationPending }
            guard case .current = try position(locked) else { throw try whyNoKeyFits(keyring) }
            _ = try locked.beginRotation()
            return try rotate(locked, progress)
        }
    }

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
        let before = try verify(key: keyring.databaseKey(), progress: progress)
        guard before.damagedPages.isEmpty else { throw KeyError.damaged(pages: before.damagedPages) }
        let database = Database(
            path: path,
            configuration: Configuration {
                $0.busyTimeout = busyTimeout
                $0.format = before.format
            }
        )
        do {
            defer { database.close() }
            try database.open(keyring: keyring, flags: .readWrite)
            try database.rotateKey(of: keyring)
        }
        do {
            // It is too late to stop: what progress throws does not matter any more.
            return try verify(key: keyring.databaseKey()) { try? progress($0) }
        } catch {
            throw RekeyError.newKeyInForce(error)
        }
    }

    /// Ends a change of key that was interrupted.
    ///
    /// - Returns: nil where the new key was in force already.
    /// - Throws: `KeyringError/Problem/noRotationPending`; else as ``rotateKey(of:progress:)``.
    @discardableResult
    public func resumeRotation(
        of keyring: UnlockedKeyring,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Rewritten? {
        try keyring.withLock { locked in
            guard locked.content.isRotationPending else { throw KeyringError.Problem.noRotationPending }
            // Whoever wrote it may have been killed before it was on the disk.
            try locked.sync()
            switch try position(locked) {
            case .current: return try rotate(locked, progress)
            case .next:
                try settle(locked)
                return nil
            case .older, .other: throw try whyNoKeyFits(keyring)
            }
        }
    }

    /// Takes back a change of key that was interrupted, and removes what it left.
    ///
    /// - Throws: `KeyringError/Problem/noRotationPending`; `RekeyError/notStarted(_:)` where the new key is in force
    ///   already.
    public func cancelRotation(of keyring: UnlockedKeyring) throws {
        try keyring.withLock { locked in
            guard locked.content.isRotationPending else { throw KeyringError.Problem.noRotationPending }
            switch try position(locked) {
            case .current: try settle(locked)
            case .next: throw RekeyError.notStarted("the new key is in force already; `resume` ends the change")
            case .older, .other: throw try whyNoKeyFits(keyring)
            }
        }
    }

    private func rotate(_ locked: LockedKeyring, _ progress: (FileProgress) throws -> Void) throws -> Rewritten {
        guard let next = try locked.next else { throw KeyringError.Problem.noRotationPending }
        let result: Rewritten
        do {
            result = try changeKey(from: locked.current, to: next, progress: progress)
        } catch RekeyError.oldFileRemains(let path, let error) {
            try settle(locked)
            throw RekeyError.oldFileRemains(path: path, error)
        } catch {
            // The file is as it was, and no other was ever under the new key. Where this fails, too, both keys stay.
            try? locked.cancelRotation(wasUsed: false)
            throw error
        }
        try settle(locked)
        return result
    }

    /// Ends the change of key where the file is under the new one, and takes it back where it is under the old one.
    private func settle(_ locked: LockedKeyring) throws {
        guard locked.content.isRotationPending else { return }
        guard let found = try find(locked) else { throw KeyringError.Problem.otherDatabase }
        let file = try lockAtRest(found.unlocked)
        defer { file.release() }
        try Leftovers(of: file.path).remove()
        try file.sync()
        // The name of the new file, or that of a journal which is gone.
        try FileFailure.naming(file.path) { () throws(Errno) in try FileCalls.syncFolder(of: file.path) }
        if found.position == .next {
            try locked.finishRotation(salt: file.read(CipherFormat.saltSize, at: 0))
        } else {
            try locked.cancelRotation()
        }
    }
}
