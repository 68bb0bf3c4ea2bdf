internal import CipherDB
internal import Foundation

extension FMDatabase {
    func begin(_ kind: TransactionKind) -> Bool { attempt { try database.beginTransaction(kind) } }

    /// Runs `block` in a transaction, or in a savepoint of the one that is open already. It does not run where the
    /// transaction cannot be begun.
    func inTransaction(_ kind: TransactionKind, _ block: (UnsafeMutablePointer<ObjCBool>) -> Void) {
        guard let stay = turn.enterIfFree() else {
            _ = attempt {}
            return
        }
        defer { turn.leave(stay) }
        guard !isInTransaction else {
            _ = inSavePoint(block)
            return
        }
        _ = attempt {
            try database.inTransaction(kind) { _, rollback in rollback = FMDatabase.asksForRollback(block) }
        }
    }

    static func asksForRollback(_ block: (UnsafeMutablePointer<ObjCBool>) -> Void) -> Bool {
        var rollback: ObjCBool = false
        block(&rollback)
        return rollback.boolValue
    }
}

/// How much a checkpoint does.
public enum FMDBCheckpointMode: Int32, Sendable {
    /// What can be done without waiting.
    case passive = 0
    /// Everything, waiting for the writer.
    case full = 1
    /// Everything, and the WAL restarts.
    case restart = 2
    /// Everything, and the log is cut to no bytes.
    case truncate = 3
}

/// Runs blocks with a database: a queue or a pool.
public protocol FMDatabaseProvider {
    /// Runs `block` with a database; does not where there is none to be had.
    func inDatabase(_ block: (FMDatabase) -> Void)
}

extension FMDatabaseProvider {
    /// Runs `block` in a transaction.
    func run(_ kind: TransactionKind, _ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        inDatabase { database in database.inTransaction(kind) { block(database, $0) } }
    }
}
