import CipherDB
import Foundation
import Rekeying

/// A process of WALResetLoadTests: `CheckpointLoad PATH ROLE NUMBER` writes or checkpoints until the file `PATH.stop` exists, and prints how
/// many rows it committed. `create` makes the database; `check` prints how many rows can be read, and whether the database is sound.
@main
struct CheckpointLoad {
    let path: String
    let number: Int
    private static let digits = String(repeating: "a1", count: 32)
    private static let settings: SQL = "PRAGMA wal_autocheckpoint = 20; PRAGMA synchronous = OFF"

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let number = Int(arguments[3]) else { exit(64) }
        let load = CheckpointLoad(path: arguments[1], number: number)
        switch arguments[2] {
        case "create": try load.queue().inDatabase { try $0.executeStatements("CREATE TABLE t (number, pad)") }
        case "check": load.check()
        case let role: print(try load.run(role))
        }
    }

    private func check() {
        var rows = 0
        let isSound = try? queue().inDatabase { database in
            let all = try database.executeQuery("SELECT pad FROM t")
            while try all.next() { rows += 1 }
            return try database.string(forQuery: "PRAGMA integrity_check") == "ok"
        }
        print(rows, isSound == true ? "sound" : "damaged")
    }

    private func key() throws -> DatabaseKey { try .raw(hex: Self.digits) }

    private func queue(_ path: String? = nil) throws -> DatabaseQueue {
        try DatabaseQueue(path: path ?? self.path, key: key(), configuration: configuration)
    }

    private var configuration: Configuration {
        Configuration {
            $0.journalMode = .wal
            $0.busyTimeout = .seconds(20)
            // The WAL is copied and restarted often.
            $0.prepareDatabase = { try $0.executeStatements(Self.settings) }
        }
    }

    private func stock() throws -> StockConnection {
        let connection = try StockConnection(path, key: "x'\(Self.digits)'")
        try connection.execute("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 20; PRAGMA synchronous = OFF")
        return connection
    }

    private func run(_ role: String) throws -> Int {
        let insertion = "INSERT INTO t VALUES (\(number), randomblob(1500))"
        switch role {
        case "stock":
            let connection = try stock()
            return try repeated { try connection.execute(insertion) }
        case "stock-passive":
            let connection = try stock()
            return try repeated { try connection.checkpoint() }
        case "stock-both": return try run("stock", beside: "stock-passive")
        case "pool":
            let pool = try DatabasePool(path: path, key: key(), configuration: configuration)
            return try repeated { try pool.write { try $0.executeUpdate(SQL(unsafe: insertion)) } }
        case "follower":
            let pool = try DatabasePool(path: path, key: key(), configuration: configuration)
            let repository = BackupRepository("\(path)-\(number)")
            let backup = ContinuousBackup(of: pool, to: repository, every: .milliseconds(10))
            let following = Task { try await backup.run() }
            defer { following.cancel() }
            return try repeated { try pool.write { try $0.executeUpdate(SQL(unsafe: insertion)) } }
        case "queue":
            let queue = try queue()
            return try repeated { try queue.write { try $0.executeUpdate(SQL(unsafe: insertion)) } }
        case "closing":
            return try repeated {
                let queue = try queue()
                try queue.write { try $0.executeUpdate(SQL(unsafe: insertion)) }
                try queue.close()
            }
        case "both": return try run("queue", beside: "passive")
        case "sql":
            let queue = try queue()
            return try repeated { _ = try queue.inDatabase { try $0.string(forQuery: "PRAGMA wal_checkpoint") } }
        case "vacuum":
            let queue = try queue()
            return try repeated { try queue.vacuum() }
        case "attached":
            let queue = try queue("\(path)-\(number)")
            try queue.inDatabase { try $0.attach(path, as: "other", key: key()) }
            return try repeated { _ = try queue.inDatabase { try $0.checkpoint(.passive, name: "other") } }
        default:
            let modes: [String: CheckpointMode] = [
                "passive": .passive, "full": .full, "restart": .restart, "truncate": .truncate,
            ]
            guard let mode = modes[role] else { exit(64) }
            let queue = try queue()
            return try repeated { _ = try queue.checkpoint(mode) }
        }
    }

    /// Two connections of one process.
    private func run(_ role: String, beside other: String) throws -> Int {
        let ended = DispatchSemaphore(value: 0)
        Thread {
            do { _ = try run(other) } catch { fatalError("\(error)") }
            ended.signal()
        }.start()
        defer { ended.wait() }
        return try run(role)
    }

    private var isOver: Bool { FileManager.default.fileExists(atPath: path + ".stop") }

    /// How often it was done until the end of the run.
    private func repeated(_ body: () throws -> Void) throws -> Int {
        var count = 0
        while !isOver || count == 0 {
            do {
                try body()
                count += 1
            } catch DatabaseError.busy {
            } catch let failure as StockConnection.Failure where failure.isBusy {
            } catch let failure as StockConnection.Failure {
                // What it lost is seen at the end.
                FileHandle.standardError.write(Data("\(failure)\n".utf8))
                return count
            }
            // Others get their turns.
            usleep(200)
        }
        return count
    }
}
