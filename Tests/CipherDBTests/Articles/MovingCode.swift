import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// The code of the articles about moving.
@Suite struct MovingCode {
    @Test func keyIsFoundAgain() throws {
        var kept: Data?
        let first = try storedKey(read: { kept }, store: { kept = $0 })
        let second = try storedKey(read: { kept }, store: { _ in Issue.record("there is a key") })
        #expect(try first == second)
    }

    @Test func plaintextIsEncryptedOnce() throws {
        let directory = try TemporaryDirectory()
        let (path, key) = (directory.file("notes.db"), try DatabaseKey.random())
        let plaintext = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plaintext.inDatabase {
            try $0.executeStatements("CREATE TABLE notes (text); INSERT INTO notes VALUES ('milk')")
        }
        try plaintext.close()
        for _ in 1...2 {
            let pool = try openEncrypted(path, key)
            #expect(try pool.read { try $0.string(forQuery: "SELECT text FROM notes") } == "milk")
            try pool.close()
        }
        #expect(try DatabaseFile(path: path).inspect().kind == .encrypted)
    }

    func migrations(_ path: String, _ passphrase: String) throws {
        // begin
        let configuration = Configuration { $0.storage = .grdb }
        let pool = try DatabasePool(path: path, key: .passphrase(passphrase), configuration: configuration)
        try pool.migrate(
            [
                Migration("createPlayers") { database in
                    try database.executeStatements("CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
                },
                Migration("addScore") { database in
                    try database.addColumn(ColumnDefinition("score", .integer, .notNull, .default(0)), to: "player")
                },
            ],
            options: .grdb
        )
        // end
    }

    // begin
    func openEncrypted(_ path: String, _ key: DatabaseKey) throws -> DatabasePool {
        let file = DatabaseFile(path: path)
        if FileManager.default.fileExists(atPath: path), try file.inspect().kind == .plaintext {
            try file.encrypt(with: key) { progress in
                try Task.checkCancellation()
                print(progress.done, progress.all)
            }
        }
        return try DatabasePool(path: path, key: key)
    }
    // end

    // begin
    func storedKey(read: () throws -> Data?, store: (Data) throws -> Void) throws -> DatabaseKey {
        if let stored = try read() { return try .raw(hex: SecretBytes(copying: stored)) }
        let key = try DatabaseKey.random()
        try key.exported().withUnsafeBytes { try store(Data($0)) }
        return key
    }
    // end

    struct OldStore: Sendable {
        struct Incomplete: Error {}
        var count: Int { 0 }
        func batches(of size: Int) -> [[(id: Int64, text: String)]] { [] }
        func remove() throws {}
    }

    // begin
    func moved(_ old: OldStore, into pool: DatabasePool) throws {
        try pool.migrate([
            Migration("notes") { database in
                try database.executeStatements("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            },
            Migration("notes of the old store") { database in
                for batch in old.batches(of: 1000) {
                    for note in batch {
                        try database.executeUpdate("INSERT INTO notes (id, text) VALUES (\(note.id), \(note.text))")
                    }
                }
                guard try database.count(in: "notes") == old.count else { throw OldStore.Incomplete() }
            },
        ])
        try old.remove()
    }
    // end
}
