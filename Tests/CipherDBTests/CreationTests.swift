import CipherDB
import CipherKeys
import Foundation
import TestSupport
import Testing

/// Several processes that make one database at the same moment.
@Suite struct CreationTests {
    private let directory: TemporaryDirectory
    private let key: DatabaseKey
    private let secret: KeyringSecret

    init() throws {
        directory = try TemporaryDirectory()
        let bytes = try SecretBytes(copying: (0..<32).map { UInt8($0) })
        key = try .raw(bytes)
        secret = try .keyFile(bytes)
    }

    @Test(arguments: ["open", "queue", "asyncQueue", "pool", "asyncPool", "keyring", "keyringPool"])
    func oneOfSixCreatesAndFiveOpen(_ kind: String) async throws {
        for round in 0..<(Extent.isAnEndOfTheMatrix ? 5 : 2) {
            let path = directory.file("\(kind)-\(round).db")
            let errors = try directory.write([], to: "errors-\(kind)-\(round)")
            let processes = try (0..<6).map { _ in
                try StartedProgram(Program.built("OpeningProcess"), [kind, path], errors: .file(errors))
            }
            // They all look for the file by now.
            try await Task.sleep(for: .milliseconds(150))
            _ = try directory.write([], to: "\(kind)-\(round).db.go")
            while processes.contains(where: \.isRunning) { try await Task.sleep(for: .milliseconds(2)) }
            let said = try String(contentsOfFile: errors, encoding: .utf8)
            #expect(try processes.allSatisfy { try $0.wait() == 0 }, "\(said)")
            let queue =
                kind.hasPrefix("keyring")
                ? try await DatabaseQueue(path: path, key: .keyring(Keyring(besideDatabase: path), unlockedBy: secret))
                : try await DatabaseQueue(path: path, key: key)
            #expect(try await queue.read { try $0.int(forQuery: "SELECT count(*) FROM processes") } == 6)
            #expect(try await queue.integrityCheck() == [])
            try await queue.close()
            #expect(!directory.names.contains { $0.contains(".new-") })
        }
    }

    /// SQLite does not wait for a writer that has its lock and has not committed.
    @Test func openingWaitsToSetJournalMode() async throws {
        let path = directory.file("vault.db")
        let queue = try await DatabaseQueue(path: path, key: key)
        try await queue.inDatabase { try $0.executeUpdate("CREATE TABLE notes (text)") }
        let writing = try await HeldBlock { hold in
            try? queue.inTransaction(.immediate) { _ in hold() }
        }
        let patient = Configuration { $0.busyTimeout = .seconds(600) }
        let opening = Task { [path, key] in try await DatabasePool(path: path, key: key, configuration: patient) }
        try await Task.sleep(for: .milliseconds(200))
        try await writing.end()
        let pool = try await opening.value
        #expect(try await pool.read { try $0.string(forQuery: "PRAGMA journal_mode") } == "wal")
    }
}
