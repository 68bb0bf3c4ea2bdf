internal import CipherDB
public import Foundation

/// Runs blocks with a database: a queue or a pool.
public protocol FMDatabaseProvider {
    /// Runs `block` with a database; does not where there is none to be had.
    func inDatabase(_ block: (FMDatabase) -> Void)
}

extension FMDatabaseProvider {
    /// Runs `block` in an exclusive transaction, which is rolled back when it sets its second argument.
    ///
    /// Inside of another transaction of the same database it is a savepoint. Where the transaction cannot be begun the block
    /// does not run.
    public func inTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        inTransaction(.exclusive, block)
    }

    /// As ``inTransaction(_:)``.
    public func inExclusiveTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        inTransaction(.exclusive, block)
    }

    /// As ``inTransaction(_:)``, with locks when they are needed.
    public func inDeferredTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        inTransaction(.deferred, block)
    }

    /// As ``inTransaction(_:)``, with the lock for writing only.
    public func inImmediateTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        inTransaction(.immediate, block)
    }

    private func inTransaction(
        _ kind: TransactionKind,
        _ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void
    ) {
        inDatabase { database in database.inTransaction(kind) { block(database, $0) } }
    }
}
