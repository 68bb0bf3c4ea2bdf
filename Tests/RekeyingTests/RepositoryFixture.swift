import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

/// A database and a repository of its backups, in a directory of a test's own.
struct RepositoryFixture {
    let directory: TemporaryDirectory
    let path: String
    let repository: BackupRepository
    static let key = SampleKey.named("backup")
    static let pageSize = Engine.current.formats.first?.pageSize ?? 4096

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        repository = BackupRepository(directory.file("repository"))
    }

    var file: DatabaseFile { DatabaseFile(path: path) }

    /// A database with the sample rows, which stays open.
    func open(_ mode: JournalMode = .delete, format: CipherFormat? = nil, key: DatabaseKey = Self.key.key) throws
        -> DatabaseQueue
    {
        let queue = try DatabaseQueue(
            path: path,
            key: key,
            configuration: Configuration {
                $0.journalMode = mode
                $0.format = format
            }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        return queue
    }

    @discardableResult
    func backUp(_ key: DatabaseKey? = Self.key.key) throws -> BackupResult {
        try file.backUp(to: repository, key: key)
    }

    /// Restores a generation, with a proof, and returns what a query answers in the restored file.
    func answer(
        _ choice: GenerationChoice = .newest,
        _ query: SQL = SampleFile.question,
        key: DatabaseKey = Self.key.key,
        format: CipherFormat? = nil,
        acceptsUnauthenticated: Bool = false
    ) throws -> String? {
        let place = directory.file("restored.db")
        defer { try? FileManager.default.removeItem(atPath: place) }
        var restored = DatabaseFile(path: place)
        restored.format = format
        let done = try restored.restore(
            from: repository,
            choice,
            key: key,
            acceptsUnauthenticated: acceptsUnauthenticated
        )
        let proof = try #require(done.proof)
        #expect(proof.isManifestAuthenticated == !acceptsUnauthenticated)
        #expect(proof.isStructureChecked)
        let queue = try DatabaseQueue(
            path: place,
            key: key,
            configuration: Configuration { $0.format = format ?? .any }
        )
        defer { try? queue.close() }
        return try queue.inDatabase { try $0.string(forQuery: query) }
    }

    /// The names of the objects in a directory of the repository, sorted.
    func objects(_ name: String) -> [String] {
        let place = directory.file("repository/\(name)")
        return ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted()
    }

    func path(ofObject name: String) -> String { directory.file("repository/\(name)") }
}
