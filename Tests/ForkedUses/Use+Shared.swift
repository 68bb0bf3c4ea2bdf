import CipherDB
import CipherKeys
import Dispatch
import Foundation
import Rekeying
import TestSupport

extension Use {
    static let ofQueues =
        shared("DatabaseQueue") { try $0.queue(.wal) } + [
            Use("DatabaseQueue.openConnection", .database) { scene in
                let queue = try scene.queue()
                return { _ = try queue.openConnection() }
            },
            Use("DatabaseQueue.inDatabase, while a block runs", .database) { scene in
                let queue = try scene.queue()
                occupy(queue)
                return { try queue.inDatabase { _ in } }
            },
            Use("DatabaseQueue.close, while a block runs", .returned) { scene in
                let queue = try scene.queue()
                occupy(queue)
                return { try queue.close() }
            },
        ]

    static let ofPools =
        shared("DatabasePool") { try $0.pool() } + [
            Use("DatabasePool.readerCounts, releaseReaders", .returned) { scene in
                let pool = try scene.pool()
                return {
                    guard pool.readerCounts == (0, 0, 0) else { throw Wrong() }
                    pool.releaseReaders()
                }
            },
            Use("DatabasePool.inDatabase, while a block runs", .database) { scene in
                let pool = try scene.pool()
                occupy(pool)
                return { try pool.inDatabase { _ in } }
            },
        ]

    /// Has a thread in a block for ever.
    private static func occupy(_ writer: any DatabaseWriter) {
        let began = DispatchSemaphore(value: 0)
        DispatchQueue(label: "occupied").async {
            try? writer.inDatabase { _ in
                began.signal()
                while true { sleep(60) }
            }
        }
        began.wait()
    }

    private static func shared(
        _ type: String,
        _ open: @escaping @Sendable (Scene) throws -> any DatabaseWriter
    ) -> [Use] {
        func use(
            _ name: String,
            _ answer: Answer,
            _ call: @escaping @Sendable (any DatabaseWriter, Scene) throws -> Void
        )
            -> Use
        {
            Use("\(type).\(name)", answer) { scene in
                let writer = try open(scene)
                return { try call(writer, scene) }
            }
        }
        return [
            use("inDatabase", .database) { writer, _ in try writer.inDatabase { _ in } },
            use("inTransaction", .database) { writer, _ in try writer.inTransaction { _ in } },
            use("write", .database) { writer, _ in try writer.write { try $0.executeUpdate("INSERT INTO t VALUES (4)") }
            },
            use("read", .database) { writer, _ in _ = try writer.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
            },
            use("rekey", .database) { writer, _ in try writer.rekey(Scene.key("child")) },
            use("rotateKey", .database) { writer, scene in
                try writer.rotateKey(of: scene.keyring.unlock(Scene.secret()))
            },
            use("checkpoint", .database) { writer, _ in try writer.checkpoint(.truncate) },
            use("backup", .database) { writer, scene in try writer.backup(to: scene.newPath) },
            use("migrate", .database) { writer, _ in try writer.migrate([Migration("child") { _ in }]) },
            use("vacuum", .database) { writer, _ in try writer.vacuum() },
            use("integrityCheck", .database) { writer, _ in _ = try writer.integrityCheck() },
            use("checkForForeignChanges", .database) { writer, _ in try writer.checkForForeignChanges() },
            use("tableChanges, commits, observe", .returned) { writer, _ in
                _ = writer.tableChanges()
                _ = writer.commits()
            },
            use("interrupt", .returned) { writer, _ in writer.interrupt() },
            use("close", .returned) { writer, _ in try writer.close() },
            Use("\(type).deinit", .returned) { scene in
                var writer: (any DatabaseWriter)? = try open(scene)
                return {
                    writer = nil
                    guard writer == nil else { throw Wrong() }
                }
            },
        ]
    }

    /// The asynchronous API, in a task whose thread forked.
    static let ofTasks =
        inTasks("DatabaseQueue") { try $0.queue(.wal) } + inTasks("DatabasePool") { try $0.pool() } + [
            Use(async: "ContinuousBackup.run", .database) { scene in
                let backup = ContinuousBackup(of: try scene.queue(.wal), to: scene.repository)
                return { try await backup.run() }
            },
            Use(async: "Keyring.unlock, in a task", .threads) { scene in
                let secret = try Scene.secret()
                return { _ = try await scene.keyring.unlock(secret) }
            },
            Use(async: "UnlockedKeyring.databaseKey, in a task", .threads) { scene in
                let keyring = try scene.keyring.unlock(Scene.secret())
                return { _ = try await keyring.databaseKey() }
            },
            Use(async: "DatabaseQueue(path:key:), in a task", .threads) { scene in
                let key = try Scene.key()
                return { _ = try await DatabaseQueue(path: scene.path, key: key) }
            },
        ]

    private static func inTasks(
        _ type: String,
        _ open: @escaping @Sendable (Scene) throws -> any DatabaseWriter
    ) -> [Use] {
        func use(
            _ name: String,
            _ answer: Answer,
            _ call: @escaping @Sendable (any DatabaseWriter, Scene) async throws -> Void
        ) -> Use {
            Use(async: "\(type).\(name), in a task", answer) { scene in
                let writer = try open(scene)
                return { try await call(writer, scene) }
            }
        }
        return [
            use("inDatabase", .database) { writer, _ in try await writer.inDatabase { _ in } },
            use("read", .database) { writer, _ in _ = try await writer.read { _ in } },
            use("write", .database) { writer, _ in try await writer.write { _ in } },
            use("rekey", .database) { writer, _ in try await writer.rekey(Scene.key("child")) },
            use("checkpoint", .database) { writer, _ in try await writer.checkpoint(.truncate) },
            use("backup", .database) { writer, scene in try await writer.backup(to: scene.newPath) },
            use("migrate", .database) { writer, _ in try await writer.migrate([Migration("child") { _ in }]) },
            use("checkForForeignChanges", .database) { writer, _ in try await writer.checkForForeignChanges() },
            use("observe", .database) { writer, _ in
                for try await _ in writer.observe({ try $0.int(forQuery: "SELECT count(*) FROM t") }) {}
            },
            use("commits, tableChanges", .returned) { writer, _ in
                for await _ in writer.commits() {}
                for await _ in writer.tableChanges() {}
            },
            use("close", .returned) { writer, _ in try await writer.close() },
        ]
    }
}
