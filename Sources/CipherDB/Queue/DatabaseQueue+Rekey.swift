public import CipherKeys

/// A change of key takes its turn among the blocks.
extension DatabaseQueue {
    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) throws {
        try withDatabaseForRekey { try $1(newKey) }
    }

    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key. Once it began it cannot be cancelled.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) async throws {
        try await withDatabaseForRekey { try $1(newKey) }
    }

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, when the blocks before are done; those after
    /// it wait, and go on with the new key.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try withDatabaseForRekey { try $0.rotateKey(of: keyring, $1) }
    }

    /// Asynchronous version; does not block the calling thread. Once it began it cannot be cancelled.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``; `CancellationError` before it began.
    public func rotateKey(of keyring: UnlockedKeyring) async throws {
        try await withDatabaseForRekey { try $0.rotateKey(of: keyring, $1) }
    }

    /// Calls `body` when the blocks before are done, with a function that changes the key.
    func withDatabaseForRekey(_ body: (Database, (DatabaseKey) throws -> Void) throws -> Void) throws {
        try inDatabase { database in
            try database.takingLong { try body(database) { try rekey(database, $0) } }
        }
    }

    /// Asynchronous version.
    func withDatabaseForRekey(
        _ body: @escaping @Sendable (Database, (DatabaseKey) throws -> Void) throws -> Void
    ) async throws {
        try await inDatabase { [self] database in
            try database.takingLong { try body(database) { try rekey(database, $0) } }
        }
    }

    private func rekey(_ database: Database, _ newKey: DatabaseKey) throws {
        // Reopened whatever the outcome.
        defer {
            interrupter.withLock { $0 = database.interrupter }
            latestKey.withLock { $0 = database.isOpen ? Access(key: database.verifiedKey) : nil }
        }
        try database.rekey(newKey)
    }
}
