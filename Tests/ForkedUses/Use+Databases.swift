import CipherDB
import CipherKeys
import FMDBCompat
import Foundation
import TestSupport

extension Use {
    /// Of a key from before the fork.
    static let ofOpenings = [
        Use("Database.open(key:)", .secret) { scene in
            let key = try Scene.key()
            return { try Database(path: scene.path).open(key: key) }
        },
        Use("Database.open(key:), of a new file", .secret) { scene in
            let key = try Scene.key()
            return { try Database(path: scene.newPath).open(key: key) }
        },
        Use("Database.setKey, a passphrase for a new file", .secret) { scene in
            let key = try DatabaseKey.passphrase("a passphrase of the parent's")
            return {
                let database = Database(path: scene.newPath)
                try database.open()
                try database.setKey(key)
            }
        },
        Use("DatabaseQueue(path:key:)", .secret) { scene in
            let key = try Scene.key()
            return { _ = try DatabaseQueue(path: scene.newPath, key: key) }
        },
        Use("DatabasePool(path:key:)", .secret) { scene in
            let key = try Scene.key()
            return { _ = try DatabasePool(path: scene.newPath, key: key) }
        },
        Use("DatabaseQueue(path:keyring:unlockedBy:)", .secret) { scene in
            let secret = try Scene.secret()
            return { _ = try DatabaseQueue(path: scene.keyedPath, key: .keyring(scene.keyring, unlockedBy: secret)) }
        },
        Use("DatabaseQueue(path:keyring:)", .secret) { scene in
            let keyring = try scene.keyring.unlock(Scene.secret())
            return { _ = try DatabaseQueue(path: scene.keyedPath, key: keyring) }
        },
        Use("Database.rekey, of the child's own", .secret) { scene in
            let key = try Scene.key("other")
            return { try scene.database().rekey(key) }
        },
        Use("DatabaseQueue.rekey, of the child's own", .secret) { scene in
            let key = try Scene.key("other")
            return { try scene.queue().rekey(key) }
        },
        Use("DatabaseQueue.rotateKey, of the child's own", .secret) { scene in
            let keyring = try scene.keyring.unlock(Scene.secret())
            return {
                try DatabaseQueue(path: scene.keyedPath, key: .keyring(scene.keyring, unlockedBy: Scene.secret()))
                    .rotateKey(of: keyring)
            }
        },
        Use("Database.attach, to the child's own", .secret) { scene in
            let key = try Scene.key()
            return { try scene.database().attach(scene.newPath, as: "other", key: key) }
        },
        Use("Database.backup, of the child's own", .secret) { scene in
            let key = try Scene.key()
            return { try scene.database().backup(to: scene.newPath, key: key) }
        },
        Use("Database.open(key:), of a file that the parent has open", .database) { scene in
            let pool = try scene.pool()
            return {
                defer { withExtendedLifetime(pool) {} }
                try Database(path: scene.path).open(key: Scene.key())
            }
        },
        Use("Database.open(key:), of a file that the parent has attached", .database) { scene in
            let database = Database(path: scene.newPath)
            try database.open(key: Scene.key())
            try database.attach(scene.path, as: "other", key: Scene.key())
            return {
                defer { withExtendedLifetime(database) {} }
                try Database(path: scene.path).open(key: Scene.key())
            }
        },
        Use("Database.open(key:), of a file that the parent has closed", .returned) { scene in
            try scene.pool().close()
            return {
                let pool = try scene.pool()
                guard try pool.read({ try $0.int(forQuery: "SELECT count(*) FROM t") }) == 3 else { throw Wrong() }
                try pool.close()
            }
        },
    ]

    static let ofConnections = [
        connection("executeUpdate") { try $0.executeUpdate("INSERT INTO t VALUES (4)") },
        connection("executeStatements") { try $0.executeStatements("INSERT INTO t VALUES (4)") },
        connection("int(forQuery:)") { _ = try $0.int(forQuery: "SELECT count(*) FROM t") },
        connection("executeQuery") { _ = try $0.executeQuery("SELECT a FROM t") },
        connection("prepare") { _ = try $0.prepare("SELECT a FROM t") },
        connection("inTransaction") { try $0.inTransaction { try $0.executeUpdate("INSERT INTO t VALUES (4)") } },
        connection("beginTransaction") { try $0.beginTransaction() },
        connection("integrityCheck") { _ = try $0.integrityCheck() },
        connection("vacuum") { try $0.vacuum() },
        connection("checkpoint") { _ = try $0.checkpoint(.truncate) },
        connection("rekey") { try $0.rekey(Scene.key("child")) },
        connection("migrate") { try $0.migrate([Migration("child") { try $0.executeUpdate("DROP TABLE t") }]) },
        connection("openBlob") { _ = try $0.openBlob(inTable: "t", column: "a", row: 3) },
        connection("withUnsafeHandle") { try $0.withUnsafeHandle { _ in } },
        Use("Row", .database) { scene in
            let row = try scene.pool().read { try $0.fetchOne(Row.self, "SELECT a FROM t") }
            return { _ = try row?[0] as Int? }
        },
        Use("Database.attach", .database) { scene in
            let database = try scene.database()
            return { try database.attach(scene.keyedPath, as: "other", key: Scene.key()) }
        },
        Use("Database.backup(to:)", .database) { scene in
            let database = try scene.database()
            return { try database.backup(to: scene.newPath) }
        },
        Use("Database.commit", .database) { scene in
            let database = try scene.databaseInTransaction()
            return { try database.commit() }
        },
        Use("Database.rollback", .database) { scene in
            let database = try scene.databaseInTransaction()
            return { try database.rollback() }
        },
        Use("Database.setKey", .database) { scene in
            let database = Database(path: scene.newPath)
            try database.open()
            return { try database.setKey(Scene.key()) }
        },
        Use("Database.close, of a new file", .returned) { scene in
            let database = Database(path: scene.newPath)
            try database.open()
            return { database.close() }
        },
        Use("Database.close, in a transaction", .returned) { scene in
            let database = try scene.databaseInTransaction()
            return { database.close() }
        },
        Use("Database.close, in a transaction with a WAL", .returned) { scene in
            let database = try scene.databaseInTransaction(.wal)
            return { database.close() }
        },
        Use("Database.deinit, in a transaction", .returned) { scene in
            var database: Database? = try scene.databaseInTransaction()
            return {
                database = nil
                guard database == nil else { throw Wrong() }
            }
        },
        Use("Database.interrupt, clearCachedStatements, closeOpenResultSets", .returned) { scene in
            let database = try scene.databaseInTransaction()
            return {
                database.interrupt()
                database.clearCachedStatements()
                database.closeOpenResultSets()
            }
        },
        Use("Statement.executeUpdate", .database) { scene in
            let database = try scene.database()
            let statement = try database.prepare("INSERT INTO t VALUES (4)")
            return { try statement.executeUpdate() }
        },
        Use("ResultSet.next", .database) { scene in
            let database = try scene.database()
            let rows = try database.executeQuery("SELECT a FROM t")
            _ = try rows.next()
            return { _ = try rows.next() }
        },
        Use("ResultSet.close, of a statement that writes", .returned) { scene in
            let database = try scene.database()
            let sql: SQL = Engine.current.has(.returning) ? "UPDATE t SET a = a RETURNING a" : "SELECT a FROM t"
            let rows = try database.executeQuery(sql)
            _ = try rows.next()
            return {
                rows.close()
                database.close()
            }
        },
        Use("Blob.read", .database) { scene in
            let database = try scene.database()
            let blob = try database.openBlob(inTable: "t", column: "a", row: 3)
            return { _ = try blob.read(at: 0, count: 3) }
        },
        Use("Blob.write", .database) { scene in
            let database = try scene.database()
            let blob = try database.openBlob(inTable: "t", column: "a", row: 3, writable: true)
            return { try blob.write(Data([1]), at: 0) }
        },
        Use("FMDatabase.executeUpdate", .returned) { scene in
            let database = FMDatabase(path: scene.newPath)
            database.logsErrors = false
            guard database.open(), database.setKey("owner") else { throw Wrong() }
            try database.executeUpdate("CREATE TABLE t (a)", values: nil)
            return {
                guard !database.executeStatements("INSERT INTO t VALUES (4)"), database.lastErrorCode() == 21 else {
                    throw Wrong()
                }
            }
        },
        Use("FMDatabaseQueue.inDatabase", .returned) { scene in
            let queue = FMDatabaseQueue(path: scene.newPath)
            queue?.inDatabase { _ = $0.setKey("owner") && $0.executeStatements("CREATE TABLE t (a)") }
            return {
                queue?.inDatabase { _ in exit(3) }
                queue?.interrupt()
                queue?.close()
            }
        },
        Use("FMDatabasePool.inDatabase", .returned) { scene in
            let pool = FMDatabasePool(path: scene.newPath)
            pool.inDatabase { _ = $0.setKey("owner") && $0.executeStatements("CREATE TABLE t (a)") }
            return {
                pool.inDatabase { _ in exit(3) }
                pool.releaseAllDatabases()
            }
        },
    ]

    private static func connection(_ name: String, _ call: @escaping @Sendable (Database) throws -> Void) -> Use {
        Use("Database.\(name)", .database) { scene in
            let database = try scene.database()
            _ = try database.int(forQuery: "SELECT count(*) FROM t")
            return { try call(database) }
        }
    }
}

extension Scene {
    /// With changes that are in the file or its log already.
    fileprivate func databaseInTransaction(_ mode: JournalMode = .delete) throws -> Database {
        let database = Database(
            path: path,
            configuration: Configuration {
                $0.journalMode = mode
                $0.pageCacheSize = 1
            }
        )
        try database.open(key: Scene.key())
        try database.beginTransaction()
        try database.executeStatements("CREATE TABLE u (a)")
        for _ in 0..<40 { try database.executeUpdate("INSERT INTO u VALUES (randomblob(9000))") }
        return database
    }
}
