public import CipherKeys
internal import CipherSystem

/// What a key rotation is made on: a connection, or a file that nobody has open.
package protocol RotationTarget {
    /// The path for errors.
    var rotatedPath: String? { get }

    /// Finds which of the keyring's two keys is in force, and returns when everything is on the disk under it.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/busy`` where other connections are in the way.
    func settleKeyInForce(of keyring: LockedKeyring) throws -> KeyInForce

    /// Whether a change that failed left `key` in force.
    func failedChangeLeft(_ key: DatabaseKey) -> Bool
}

/// Which of two keys a database is under.
package struct KeyInForce {
    package let isNext: Bool
    /// Of the file.
    package let salt: [UInt8]

    package init(isNext: Bool, salt: [UInt8]) {
        self.isNext = isNext
        self.salt = salt
    }
}

/// Gives a database a new random key, which a keyring holds.
///
/// The keyring has both keys before a page is written, and retires one of them when the other is proved to be in force and on the
/// disk. So a kill at any moment leaves a database that opens with the keyring.
package struct KeyRotation<Target: RotationTarget> {
    private let keyring: LockedKeyring
    private let target: Target

    package init(_ keyring: LockedKeyring, _ target: Target) {
        self.keyring = keyring
        self.target = target
    }

    /// Begins a rotation and ends it.
    ///
    /// - Parameter change: Brings the database from one key under another.
    package func run<Result>(_ change: (_ old: DatabaseKey, _ new: DatabaseKey) throws -> Result) throws -> Result {
        try commit(keyring.current, keyring.beginRotation(), change)
    }

    /// Ends a rotation that was begun, of a database that is under the old key.
    package func resume<Result>(_ change: (_ old: DatabaseKey, _ new: DatabaseKey) throws -> Result) throws -> Result {
        guard let next = try keyring.next else { throw KeyringError(.noRotationPending) }
        return try commit(keyring.current, next, change)
    }

    private func commit<Result>(
        _ old: DatabaseKey,
        _ new: DatabaseKey,
        _ change: (_ old: DatabaseKey, _ new: DatabaseKey) throws -> Result
    ) throws -> Result {
        let result: Result
        do {
            result = try change(old, new)
        } catch {
            rollBack(old, error)
            throw error
        }
        let found: KeyInForce
        do {
            found = try target.settleKeyInForce(of: keyring)
        } catch let error as DatabaseError where error.code.primary == .busy {
            throw RekeyError(.checkpointPending, path: target.rotatedPath)
        } catch {
            throw RekeyError(.newKeyInForce, path: target.rotatedPath, cause: error)
        }
        try end(found, wasUsed: true)
        return result
    }

    /// Commits the rotation if the new key is in force, and rolls it back if the old one is.
    ///
    /// - Parameter wasUsed: Whether the new key may be that of a file: what the target has open may be a copy.
    package func resolve(wasUsed: Bool = true) throws {
        if keyring.content.isRotationPending { try end(target.settleKeyInForce(of: keyring), wasUsed: wasUsed) }
    }

    private func end(_ found: KeyInForce, wasUsed: Bool) throws {
        if found.isNext {
            try keyring.finishRotation(salt: found.salt)
        } else {
            try keyring.cancelRotation(wasUsed: wasUsed)
        }
    }

    /// After a change that failed. If the old key is not proved to be in force both stay, and the next opening finds out.
    private func rollBack(_ old: DatabaseKey, _ error: any Error) {
        switch error {
        case RekeyError.oldFileRemains: try? resolve()
        case RekeyError.newKeyInForce, RekeyError.undecided, RekeyError.checkpointPending: break
        case RekeyError.oldKeyInForce where target.failedChangeLeft(old): try? resolve(wasUsed: false)
        // It ended before a page was written under the new key.
        case _ where target.failedChangeLeft(old): try? keyring.cancelRotation(wasUsed: false)
        default: break
        }
    }
}

extension Database {
    /// Gives the database a new random key, which the keyring holds for all its slots, and re-encrypts the file in place.
    ///
    /// The conditions are those of ``rekey(_:)-(DatabaseKey)``. A kill at any moment leaves a database that opens with the
    /// keyring; the next opening ends the change or takes it back, as does the next rotation.
    ///
    /// - Throws: ``KeyringError``; else as ``rekey(_:)-(DatabaseKey)``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        let connection = try usableConnection()
        guard let present = verifiedKey else {
            throw RekeyError(.notStarted, path: path, reason: "the database is not encrypted")
        }
        try checkMayRekey(connection)
        try keyring.withLock { locked in
            let rotation = KeyRotation(locked, self)
            // One that others kept from ending, or that was killed.
            if let next = try locked.next, try present.isOpened(by: next) || present.isOpened(by: locked.current) {
                try connection.checkFile()
                do { try connection.testSelect() } catch { throw explained(error) }
                try rotation.resolve()
            }
            guard try present.isOpened(by: locked.current) else { throw KeyringError(.otherDatabase) }
            let origin = keyOrigin
            keyOrigin = .rotation
            defer { keyOrigin = origin }
            try rotation.run { _, next in try rekey(next) }
        }
        try? writeRecord(of: keyring)
    }
}

extension Database: RotationTarget {
    package func failedChangeLeft(_ key: DatabaseKey) -> Bool { (try? verifiedKey?.isOpened(by: key)) == true }

    package var rotatedPath: String? { path }

    package func settleKeyInForce(of keyring: LockedKeyring) throws -> KeyInForce {
        let connection = try usableConnection()
        guard let verifiedKey, let next = try keyring.next, !connection.isReadOnly else {
            throw KeyringError(.rotationPending)
        }
        let isNext = try verifiedKey.isOpened(by: next)
        // Pages under the old key may stand in the file still, and those under the new one in the WAL alone.
        try emptyLog(connection)
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
