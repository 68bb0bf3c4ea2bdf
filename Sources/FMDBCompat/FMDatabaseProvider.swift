internal import CipherDB
internal import Foundation

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
