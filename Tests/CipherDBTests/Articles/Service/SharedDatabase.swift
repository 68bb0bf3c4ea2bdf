import CipherDB
import Foundation

// begin
/// The database of one instance of a service. It is closed while the file `PATH.maintenance` exists.
actor SharedDatabase {
    /// Not now: try again a moment later. An HTTP service answers 503.
    struct Unavailable: Error {}

    private let path: String
    private let marker: String
    private let open: @Sendable () async throws -> any DatabaseWriter
    private var opening: Task<any DatabaseWriter, any Error>?
    private var uses = 0

    init(path: String, open: @escaping @Sendable () async throws -> any DatabaseWriter) {
        self.path = path
        self.open = open
        marker = path + ".maintenance"
    }

    /// Runs `body` with the database, which is opened if it is not open.
    func use<Result: Sendable>(
        _ body: @Sendable (any DatabaseWriter) async throws -> Result
    ) async throws -> Result {
        guard !FileManager.default.fileExists(atPath: marker) else { throw Unavailable() }
        uses += 1
        defer { uses -= 1 }
        let task = opening ?? Task { try await open() }
        opening = task
        let database: any DatabaseWriter
        do {
            database = try await task.value
        } catch {
            if opening == task { opening = nil }
            throw error
        }
        do {
            return try await body(database)
        } catch KeyError.wrongKey {
            // In rollback mode another process can change the key of an open file. The next call opens it again.
            if opening == task { opening = nil }
            throw Unavailable()
        }
    }

    /// Closes the database when the file exists and no call runs. It has a task of its own, for as long as the instance runs.
    func watch() async throws {
        while true {
            try await Task.sleep(for: .milliseconds(100))
            guard uses == 0, let task = opening, FileManager.default.fileExists(atPath: marker) else { continue }
            opening = nil
            try await task.value.close()
        }
    }

    /// Rotates the key when every instance has closed the database.
    func rotate(_ keyring: UnlockedKeyring) async throws {
        try Data().write(to: URL(fileURLWithPath: marker), options: .withoutOverwriting)
        defer { try? FileManager.default.removeItem(atPath: marker) }
        let queue = try await DatabaseQueue(
            path: path,
            key: keyring,
            configuration: Configuration { $0.busyTimeout = .seconds(60) }
        )
        try await queue.rotateKey(of: keyring)
        try await queue.close()
    }
}
// end

extension SharedDatabase {
    /// Closes the database before the process ends: SQLCipher frees its memory at exit, also under a thread that is closing a connection.
    func end() async throws {
        let task = opening
        opening = nil
        try await task?.value.close()
    }
}
