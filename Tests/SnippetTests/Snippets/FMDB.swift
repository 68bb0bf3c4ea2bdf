// What programs of FMDB's have in them, with the import changed and no other; some import SQLite beside it. In Swift 5 mode, as they are.
import CSQLCipher
import FMDBCompat

/// Names of CipherDB's that a program has of its own.
struct Statement {}
struct ResultSet {}
struct Configuration {}
struct DatabaseError: Error {}
struct Migration {}

final class Store: FMDatabase {
    let name: String

    init(name: String, directory: URL) {
        self.name = name
        super.init(path: directory.appendingPathComponent(name).path)
    }

    override func executeUpdate(_ sql: String, withArgumentsIn arguments: [Any]) -> Bool {
        print(Statement(), ResultSet(), Configuration(), Migration())
        return super.executeUpdate(sql, withArgumentsIn: arguments)
    }

    override func open() -> Bool { open(withFlags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_FILEPROTECTION_NONE) }

    override func beginTransaction() -> Bool { beginDeferredTransaction() }

    override func lastErrorMessage() -> String { "\(name): \(super.lastErrorMessage())" }
}

final class StoreQueue: FMDatabaseQueue, @unchecked Sendable {
    override func inDatabase(_ block: (FMDatabase) -> Void) { super.inDatabase(block) }
    override func inTransaction(_ block: (FMDatabase, UnsafeMutablePointer<ObjCBool>) -> Void) {
        super.inTransaction(block)
    }
}

func use(_ db: FMDatabase, _ queue: FMDatabaseQueue) throws {
    let handler: FMDBExecuteStatementsCallbackBlock = { row in row.isEmpty ? 1 : 0 }
    db.executeStatements("SELECT 1", withResultBlock: handler)
    db.executeQuery("SELECT 1", withArgumentsIn: [])
    db.inSavePoint { _ in }
    queue.inSavePoint { _, rollback in rollback.pointee = true }
    db.tableExists("t")
    try db.executeQuery("SELECT ?", values: [CGFloat(1), Data(), Date(), NSNull()])
    let count: Int32? = db.intForQuery("SELECT count(*) FROM t WHERE a = ?", 1)
    let text = db.stringForQuery("SELECT a FROM t")
    print(count ?? 0, text ?? "", db.dateForQuery("SELECT 1") ?? Date())
    if db.lastErrorCode() == SQLITE_BUSY || db.lastErrorCode() == SQLITE_CONSTRAINT { print("try again") }
    let map: NSMutableDictionary = FMResultSet().columnNameToIndexMap
    print(map.allKeys)
    let memory = FMDatabaseQueue()
    memory.inDatabase { db in
        DispatchQueue.main.async { db.close() }
    }
    queue.inTransaction { db, rollback in
        do {
            try db.executeUpdate("INSERT INTO t VALUES (?, ?)", values: [1, "x"])
        } catch {
            rollback.pointee = true
        }
    }
}
