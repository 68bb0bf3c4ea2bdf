import CipherDB
import Foundation

/// One instance of a service: it writes and reads until the file `stop` exists.
struct Instance {
    let scene: ServiceScene
    let number: Int
    let keyring: UnlockedKeyring
    let database: SharedDatabase
    private let watching: Task<Void, any Error>
    private var tally: [String: Int] = [:]

    init(_ scene: ServiceScene, _ number: Int) async throws {
        let (path, secret) = (scene.path, try scene.secret())
        self.scene = scene
        self.number = number
        let keyring = try await Keyring(besideDatabase: path).unlock(secret)
        if scene.mode == .wal {
            // begin
            let database = SharedDatabase(path: path) { try await DatabasePool(path: path, key: keyring) }
            let watching = Task { try await database.watch() }
            // end
            (self.keyring, self.database, self.watching) = (keyring, database, watching)
        } else {
            // begin
            let database = SharedDatabase(path: path) { try await DatabaseQueue(path: path, key: keyring) }
            // end
            (self.keyring, self.database) = (keyring, database)
            watching = Task { try await database.watch() }
        }
    }

    mutating func run() async throws {
        // A byte for each write that was acknowledged.
        let file = scene.directory + "/acknowledged-\(number)"
        _ = FileManager.default.createFile(atPath: file, contents: nil)
        let acknowledgements = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        var written = 0
        while !scene.has("stop"), ServiceProcess.hasTest {
            do {
                if number == 0, scene.has("rotate") { try await rotate() }
                try await write(written)
                written += 1
                try acknowledgements.write(contentsOf: [1])
                try await read(written)
                tally["reads", default: 0] += 1
            } catch is SharedDatabase.Unavailable {
                tally["unavailable", default: 0] += 1
            } catch DatabaseError.busy {
                tally["busy", default: 0] += 1
            } catch {
                tally["\(written) writes, then \(error)", default: 0] += 1
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        watching.cancel()
        _ = await watching.result
        try? await database.end()
        try scene.tell("tally-\(number)", String(decoding: JSONEncoder().encode(tally), as: UTF8.self))
    }

    /// A write that failed is tried again with its number: if it was committed after all, the primary key refuses it.
    private func write(_ next: Int) async throws {
        let number = number
        // begin
        try await database.use { database in
            try await database.write { try $0.executeUpdate("INSERT INTO visits VALUES (?, ?)", number, next) }
        }
        // end
    }

    struct WrongAnswer: Error {
        let visits: [Int?]
        let filling: String?
    }

    /// What was acknowledged is there, and both tables are of the same moment: a trigger writes the second.
    private func read(_ written: Int) async throws {
        let number = number
        let (visits, filling) = try await database.use { database in
            try await database.read { database in
                (
                    [
                        try database.int(forQuery: "SELECT count(*) FROM visits WHERE instance = ?", number),
                        try database.int(forQuery: "SELECT count(*) FROM copies WHERE instance = ?", number),
                        try database.int(forQuery: "SELECT (SELECT count(*) FROM visits) - count(*) FROM copies"),
                    ],
                    written % 8 == 0
                        ? try database.string(
                            forQuery: "SELECT count(*) || '|' || sum(length(a)) FROM filling"
                        ) : nil
                )
            }
        }
        guard visits == [written, written, 0], filling ?? "1500|3000000" == "1500|3000000" else {
            throw WrongAnswer(visits: visits, filling: filling)
        }
    }

    private func rotate() async throws {
        try await Instance.rotate(database, keyring, scene.mode)
        try scene.forget("rotate")
        try scene.tell("rotated")
    }

    static func rotate(_ database: SharedDatabase, _ keyring: UnlockedKeyring, _ mode: JournalMode) async throws {
        if mode == .wal {
            // begin
            try await database.rotate(keyring)
            // end
        } else {
            // begin
            try await database.use { queue in try await queue.rotateKey(of: keyring) }
            // end
        }
    }
}
