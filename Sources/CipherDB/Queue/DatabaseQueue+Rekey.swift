public import CipherKeys

/// A change of key takes its turn among the blocks.
extension DatabaseQueue {
    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) throws {
        try changeKey { try $0.rekey(newKey) }
    }

    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, when the blocks before are done; those after it
    /// wait, and go on with the new key. Once it has the file to itself it cannot be cancelled.
    ///
    /// - Throws: ``RekeyError``; ``DatabaseError`` with ``ResultCode/busy`` where another connection is in the way.
    public func rekey(_ newKey: DatabaseKey) async throws {
        try await changeKey { try $0.rekey(newKey) }
    }

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, when the blocks before are done; those after
    /// it wait, and go on with the new key.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try changeKey { try $0.rotateKey(of: keyring) }
    }

    /// Asynchronous version; does not block the calling thread. Once it has the file to itself it cannot be cancelled.
    ///
    /// - Throws: as ``Database/rotateKey(of:)``; `CancellationError` before it has the file to itself.
    public func rotateKey(of keyring: UnlockedKeyring) async throws {
        try await changeKey { try $0.rotateKey(of: keyring) }
    }

    /// Changes the key when the blocks before are done.
    ///
    /// - Parameter keepingOut: Runs what it is given while nobody else opens the file.
    func changeKey(
        keepingOut: @escaping (() throws -> Void) throws -> Void = { try $0() },
        _ change: @escaping (Database) throws -> Void
    ) throws {
        try inDatabase { database in
            try database.takingLong { try keepingOut { try changeKey(of: database, change) } }
        }
    }

    /// Asynchronous version.
    func changeKey(
        keepingOut: @escaping @Sendable (() throws -> Void) throws -> Void = { try $0() },
        _ change: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        try await inDatabase { [self] database in
            try database.takingLong { try keepingOut { try changeKey(of: database, change) } }
        }
    }

    private func changeKey(of database: Database, _ change: (Database) throws -> Void) throws {
        // Reopened whatever the outcome. Before a rotation is over, a backup that used the new key would keep it from ending.
        defer {
            interrupter.withLock { $0 = database.interrupter }
            latestKey.withLock { $0 = database.isOpen ? Access(key: database.verifiedKey) : nil }
        }
        try change(database)
    }
}
