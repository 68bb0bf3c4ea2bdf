import CipherDB
import CipherKeys
import Foundation

/// Ends by `exit` while its threads open, read, write, derive and close.
@main
struct EndingProcess {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let milliseconds = Double(arguments[2]) else { exit(64) }
        let path = arguments[1]
        let key = try DatabaseKey.raw(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        let pool = try DatabasePool(path: path, key: key)
        try pool.write { try $0.executeStatements("CREATE TABLE IF NOT EXISTS t (a)") }
        endlessly {
            try pool.write { database in
                try database.executeUpdate("INSERT INTO t VALUES (?)", String(repeating: "x", count: 3000))
                try database.executeUpdate("DELETE FROM t WHERE rowid < (SELECT max(rowid) - 100 FROM t)")
            }
        }
        for _ in 0..<2 {
            endlessly { _ = try pool.read { try $0.int(forQuery: "SELECT sum(length(a)) FROM t") } }
        }
        for _ in 0..<4 {
            endlessly {
                let queue = try DatabaseQueue(path: path, key: key)
                try queue.inDatabase { database in
                    // Each read decrypts.
                    try database.executeStatements("PRAGMA cache_size = 5")
                    for _ in 0..<5 { _ = try database.int(forQuery: "SELECT sum(length(a)) FROM t") }
                }
                try queue.close()
            }
        }
        endlessly {
            _ = try KeyDerivation.pbkdf2(
                .sha512,
                password: SecretBytes(utf8: "a"),
                salt: [UInt8](repeating: 1, count: 16),
                iterations: 1000,
                count: 32
            )
        }
        Thread.sleep(forTimeInterval: milliseconds / 1000)
        exit(0)
    }

    /// Runs `body` on a thread until the process ends; it may fail, as what is interrupted does.
    private static func endlessly(_ body: @escaping @Sendable () throws -> Void) {
        Thread.detachNewThread {
            while true { try? body() }
        }
    }
}
