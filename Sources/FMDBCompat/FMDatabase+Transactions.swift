internal import CipherDB
public import Foundation

extension FMDatabase {
    /// Begins an exclusive transaction, as FMDB does.
    @discardableResult public func beginTransaction() -> Bool { begin(.exclusive) }

    /// Begins a transaction that takes its locks when it needs them.
    @discardableResult public func beginDeferredTransaction() -> Bool { begin(.deferred) }

    /// Begins a transaction that takes the lock for writing.
    @discardableResult public func beginImmediateTransaction() -> Bool { begin(.immediate) }

    /// Begins a transaction that takes every lock.
    @discardableResult public func beginExclusiveTransaction() -> Bool { begin(.exclusive) }

    /// Makes the changes of the open transaction last.
    @discardableResult public func commit() -> Bool { attempt { try database.commit() } }

    /// Undoes the changes of the open transaction.
    @discardableResult public func rollback() -> Bool { attempt { try database.rollback() } }

    /// Whether a transaction is open, by SQLite's own account.
    public var isInTransaction: Bool { database.isInTransaction }

    func begin(_ kind: TransactionKind) -> Bool { attempt { try database.beginTransaction(kind) } }

    /// Begins a savepoint.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func startSavePoint(withName name: String) throws {
        try rethrowing { try database.startSavePoint(withName: name) }
    }

    /// Keeps what was done since the savepoint began, and ends it.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func releaseSavePoint(withName name: String) throws {
        try rethrowing { try database.releaseSavePoint(withName: name) }
    }

    /// Undoes what was done since the savepoint began, and leaves it open.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func rollbackToSavePoint(withName name: String) throws {
        try rethrowing { try database.rollbackToSavePoint(withName: name) }
    }

    /// Runs `block` in a savepoint, whose changes are undone when it sets its argument. Returns what went wrong with it.
    public func inSavePoint(_ block: (UnsafeMutablePointer<ObjCBool>) -> Void) -> NSError? {
        do {
            try rethrowing {
                try database.inSavePoint { _, rollback in rollback = FMDatabase.asksForRollback(block) }
            }
            return nil
        } catch {
            return error as NSError
        }
    }

    /// Runs `block` in a transaction, or in a savepoint of the one that is open already. It does not run where the
    /// transaction cannot be begun.
    func inTransaction(_ kind: TransactionKind, _ block: (UnsafeMutablePointer<ObjCBool>) -> Void) {
        guard !isInTransaction else {
            _ = inSavePoint(block)
            return
        }
        _ = attempt {
            try database.inTransaction(kind) { _, rollback in rollback = FMDatabase.asksForRollback(block) }
        }
    }

    private static func asksForRollback(_ block: (UnsafeMutablePointer<ObjCBool>) -> Void) -> Bool {
        var rollback: ObjCBool = false
        block(&rollback)
        return rollback.boolValue
    }

    // MARK: The write-ahead log

    /// Copies pages from the write-ahead log, and says how many are in it and how many of them are in the file by now.
    ///
    /// - Throws: an `NSError` of the domain `FMDatabase`.
    public func checkpoint(
        _ mode: FMDBCheckpointMode,
        name: String? = nil,
        logFrameCount: UnsafeMutablePointer<Int32>? = nil,
        checkpointCount: UnsafeMutablePointer<Int32>? = nil
    ) throws {
        try rethrowing {
            let counts = try database.checkpoint(CheckpointMode(rawValue: mode.rawValue) ?? .passive, name: name)
            logFrameCount?.pointee = Int32(clamping: counts.logFrameCount)
            checkpointCount?.pointee = Int32(clamping: counts.checkpointCount)
        }
    }
}

/// How much a checkpoint does.
public enum FMDBCheckpointMode: Int32, Sendable {
    /// What can be done without waiting.
    case passive = 0
    /// Everything, waiting for the writer.
    case full = 1
    /// Everything, and the log begins anew.
    case restart = 2
    /// Everything, and the log is cut to no bytes.
    case truncate = 3
}
