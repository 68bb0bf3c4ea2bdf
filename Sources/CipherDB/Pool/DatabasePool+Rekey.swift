public import CipherKeys

extension DatabasePool {
    /// Changes the key, as ``Database/rekey(_:)-(DatabaseKey)`` does, while the pool lives.
    ///
    /// It waits for the writing blocks before it, then for the reading blocks that run, up to ``Configuration/readerWaitingLimit``. Blocks
    /// that come meanwhile wait, and go on with the new key; none of them is lost, and none sees a reader under the old key.
    ///
    /// - Throws: ``RekeyError``, with `RekeyError.notStarted` where a reading block did not end in time: nothing was
    ///   done then, and the pool goes on. ``DatabaseError`` with ``ResultCode/busy`` where a connection that is not the
    ///   pool's is in the way.
    public func rekey(_ newKey: DatabaseKey) throws {
        try checkNotReading()
        try writer.withDatabaseForRekey { [readers] _, change in
            try readers.withoutReaders(of: path, within: readers.waitingLimit) { try change(newKey) }
        }
    }

    /// Asynchronous version; does not block the calling thread. Once it began it cannot be cancelled.
    ///
    /// - Throws: as the synchronous version; `CancellationError` before it began.
    public func rekey(_ newKey: DatabaseKey) async throws {
        try await rekey(newKey, within: readers.waitingLimit)
    }

    func rekey(_ newKey: DatabaseKey, within limit: Duration) async throws {
        try await writer.withDatabaseForRekey { [readers] _, change in
            try readers.withoutReaders(of: self.path, within: limit) { try change(newKey) }
        }
    }

    /// Gives the database a new random key, as ``Database/rotateKey(of:)`` does, while the pool lives.
    ///
    /// - Throws: as `rekey(_:)`; ``KeyringError``.
    public func rotateKey(of keyring: UnlockedKeyring) throws {
        try checkNotReading()
        try writer.withDatabaseForRekey { [readers] database, change in
            try readers.withoutReaders(of: path, within: readers.waitingLimit) {
                try database.rotateKey(of: keyring, change)
            }
        }
    }

    /// Asynchronous version; does not block the calling thread. Once it began it cannot be cancelled.
    ///
    /// - Throws: as the synchronous version; `CancellationError` before it began.
    public func rotateKey(of keyring: UnlockedKeyring) async throws {
        try await writer.withDatabaseForRekey { [readers] database, change in
            try readers.withoutReaders(of: self.path, within: readers.waitingLimit) {
                try database.rotateKey(of: keyring, change)
            }
        }
    }
}
