import CipherDB
import CipherKeys
import Foundation
import Rekeying
import TestSupport
import Testing

@testable import CipherBackup

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
        restored.configuration.format = format
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

    /// What the manifest that is forged says of its key.
    enum Forgery: CaseIterable {
        case withoutMAC, otherKey, wrongMAC
    }

    /// Adds a manifest that no key of the database has made.
    ///
    /// - Parameters:
    ///   - stored: What it says but for what is given.
    ///   - isLast: Whether its name is behind that of `stored`, where both have one number.
    @discardableResult
    func forge(
        _ number: UInt64,
        like stored: StoredManifest,
        _ forgery: Forgery = .withoutMAC,
        databaseSize: Int64? = nil,
        storedSize: Int64? = nil,
        isLast: Bool = false
    ) throws -> StoredManifest {
        let old = stored.manifest
        let other = try DatabaseKey.sample("other").derive(salt: Array(repeating: 1, count: 16), format: .v4)
        let key = try BackupKey(other, repository: old.repository)
        for time in old.time... {
            let manifest = Manifest(
                repository: old.repository,
                number: number,
                time: time,
                previous: old.previous,
                keyIdentifier: forgery == .withoutMAC ? nil : forgery == .otherKey ? key.identifier : old.keyIdentifier,
                databaseSize: databaseSize ?? old.databaseSize,
                storedSize: storedSize ?? old.storedSize,
                root: old.root,
                segments: old.segments
            )
            let forged = try StoredManifest(manifest, forgery == .withoutMAC ? nil : key)
            if isLast, objects("generations").contains(where: { $0 > forged.name }) { continue }
            _ = try directory.write(forged.file, to: "repository/generations/" + forged.name)
            return forged
        }
        throw BackupError(.noGeneration, path: "none")
    }
}
