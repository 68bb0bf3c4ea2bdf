import CipherDB
import CipherSystem
import Foundation
import Rekeying
import TestSupport

/// The files of one use, in a directory of their own.
final class Scene: Sendable {
    private let directory: TemporaryDirectory
    /// A database under the owner's key, open nowhere.
    var path: String { directory.file("a.db") }
    /// A database under the owner's keyring, open nowhere.
    var keyedPath: String { directory.file("k.db") }
    /// A path where nothing is.
    var newPath: String { directory.file("new.db") }
    var repository: BackupRepository { BackupRepository(directory.file("backups")) }
    var keyring: Keyring { Keyring(besideDatabase: keyedPath) }

    init() throws {
        directory = try TemporaryDirectory()
        let queue = try DatabaseQueue(path: path, key: try Scene.key())
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (zeroblob(9))")
        }
        try queue.close()
        try keyring.create(with: Scene.secret())
        let keyed = try DatabaseQueue(path: keyedPath, key: .keyring(keyring, unlockedBy: Scene.secret()))
        try keyed.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try keyed.close()
        // This one notes in the database what the first one changed in the keyring.
        try DatabaseQueue(path: keyedPath, key: .keyring(keyring, unlockedBy: Scene.secret())).close()
        _ = try DatabaseFile(path: path).backUp(to: repository, key: Scene.key())
    }

    static func key(_ name: String = "owner") throws -> DatabaseKey { try .sample(name) }
    static func secret(_ name: String = "owner") throws -> KeyringSecret { try .sample(name) }
    static func bytes() throws -> SecretBytes { try SecretBytes(copying: DatabaseKey.sampleBytes("owner")) }

    func database(_ mode: JournalMode = .delete) throws -> Database {
        let database = Database(path: path, configuration: Configuration { $0.journalMode = mode })
        try database.open(key: Scene.key())
        return database
    }

    func queue(_ mode: JournalMode = .delete) throws -> DatabaseQueue {
        try DatabaseQueue(path: path, key: Scene.key(), configuration: Configuration { $0.journalMode = mode })
    }

    func pool() throws -> DatabasePool {
        let pool = try DatabasePool(path: path, key: Scene.key())
        _ = try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
        return pool
    }

    /// The bytes of all files.
    func content() throws -> [String: Data] {
        var content: [String: Data] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: directory.path) ?? .init() {
            content[name] = FileManager.default.contents(atPath: directory.file(name))
        }
        return content
    }

    /// Throws where the owner's key and secret do not open all that they opened.
    func check() throws {
        let database = Database(path: path)
        try database.open(key: Scene.key(), flags: .readWrite)
        guard try database.integrityCheck().isEmpty, try database.int(forQuery: "SELECT count(*) FROM t") == 3 else {
            throw Changed()
        }
        database.close()
        let keyed = Database(path: keyedPath)
        try keyed.open(key: .keyring(keyring, unlockedBy: Scene.secret()), flags: .readWrite)
        guard try keyed.int(forQuery: "SELECT count(*) FROM t") == 1 else { throw Changed() }
        keyed.close()
    }

    private struct Changed: Error {}
}
