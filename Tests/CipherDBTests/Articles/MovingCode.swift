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
        var later: Data?
        let third = try storedKey(read: { later }, store: { _ in later = kept })
        #expect(try third == first, "another process was quicker")
    }

    @Test func plaintextIsEncryptedOnce() throws {
        let directory = try TemporaryDirectory()
        let (path, key) = (directory.file("notes.db"), try DatabaseKey.random())
        let plaintext = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try plaintext.inDatabase {
            try $0.executeStatements("CREATE TABLE notes (text); INSERT INTO notes VALUES ('milk')")
        }
        try plaintext.close()
        let copy = path + ".rekey-0123456789abcdef"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        let old = try Data(contentsOf: URL(fileURLWithPath: path))
        for _ in 1...3 {
            let pool = try openEncrypted(path, key)
            #expect(try pool.read { try $0.string(forQuery: "SELECT text FROM notes") } == "milk")
            #expect(!FileManager.default.fileExists(atPath: copy))
            try pool.close()
            // As a run leaves it that is killed when it has replaced the file.
            try old.write(to: URL(fileURLWithPath: copy))
        }
        let pool = try openEncrypted(path, key)
        try old.write(to: URL(fileURLWithPath: copy))
        try LockWait.limiting(to: LockWait(limit: .milliseconds(100))) { try openEncrypted(path, key).close() }
        #expect(FileManager.default.fileExists(atPath: copy), "another connection has the file")
        try pool.close()
        #expect(try DatabaseFile(path: path).inspect().kind == .encrypted)
    }

    /// As GRDB opens it in an app group, by SQLCipher's own pragmas.
    @Test(.enabled(if: StockShell.ofThisFormat?.format == 4, "no shell of SQLCipher 4 and its engine"))
    func fileOfAppGroupIsOpened() throws {
        let shell = try #require(StockShell.ofThisFormat)
        let directory = try TemporaryDirectory()
        let path = directory.file("shared.db")
        let bytes = (0..<48).map { _ in UInt8.random(in: 0...255) }
        let digits = bytes.map { String(format: "%02x", $0) }.joined()
        try shell.run(
            path,
            key: "key = \"x'\(digits)'\"",
            settings: ["cipher_plaintext_header_size = 32", "journal_mode = WAL"],
            """
            CREATE TABLE player (id INTEGER PRIMARY KEY, at DATETIME);
            INSERT INTO player (at) VALUES ('2009-02-13 23:31:30.125');
            """
        )
        let header = try Data(contentsOf: URL(fileURLWithPath: path)).prefix(16)
        #expect(header.elementsEqual("SQLite format 3\0".utf8))
        let pool = try openShared(path, Data(bytes))
        let at = Date(timeIntervalSince1970: 1_234_567_890.125)
        #expect(try pool.read { try $0.count(in: "player", where: Column("at") == at) } == 1)
        try pool.close()
        #expect(throws: KeyError.self) { try openShared(path, Data(bytes.reversed())) }
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
    func openShared(_ path: String, _ keyAndSalt: Data) throws -> DatabasePool {
        let configuration = Configuration {
            $0.storage = .grdb
            $0.format = try? CipherFormat { $0.plaintextHeaderSize = 32 }
        }
        let key = try DatabaseKey.rawWithSalt(SecretBytes(copying: keyAndSalt))
        return try DatabasePool(path: path, key: key, configuration: configuration)
    }
    // end

    // begin
    func openEncrypted(_ path: String, _ key: DatabaseKey) throws -> DatabasePool {
        let file = DatabaseFile(path: path)
        if FileManager.default.fileExists(atPath: path) {
            if try file.inspect().kind == .plaintext {
                try file.encrypt(with: key) { progress in
                    try Task.checkCancellation()
                    print(progress.stage, progress.done, progress.all)
                }
            }
            // A run that was killed at its end left the plaintext beside the new file.
            do { _ = try file.cleanUp() } catch DatabaseError.busy {}
        }
        return try DatabasePool(path: path, key: key)
    }
    // end

    // begin
    func storedKey(read: () throws -> Data?, store: (Data) throws -> Void) throws -> DatabaseKey {
        if try read() == nil { try DatabaseKey.random().exported().withUnsafeBytes { try store(Data($0)) } }
        guard let stored = try read() else { throw CocoaError(.fileNoSuchFile) }
        return try .raw(hex: SecretBytes(copying: stored))
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
