internal import CipherKeys
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A repository of backups of one database: Documentation/Backup.md.
public struct BackupRepository: Sendable {
    let storage: any BackupStorage

    /// - Parameter location: A directory, or `rclone:REMOTE:PATH` for what the program rclone reaches. Nothing is opened yet.
    public init(_ location: String) {
        storage = RcloneStorage(location: location) ?? DirectoryStorage(path: location)
    }

    init(storage: any BackupStorage) {
        self.storage = storage
    }

    /// The generations, the oldest first.
    ///
    /// - Throws: ``BackupError``.
    public func generations() throws -> [Generation] {
        try storage.locked(exclusively: false) {
            try manifests().map { Generation($0.manifest) }
        }
    }

    /// The generations whose manifest can be read, the oldest first.
    ///
    /// - Parameter damaged: Called with the error of each other one.
    package func generations(damaged: (BackupError) -> Void) throws -> [Generation] {
        try storage.locked(exclusively: false) {
            let identifier = try identifier()
            return try manifestNames().compactMap { name in
                do {
                    return try Generation(StoredManifest(name, storage, identifier).manifest)
                } catch let error as BackupError where error.code == .damagedObject {
                    damaged(error)
                    return nil
                }
            }
        }
    }

    /// Keeps others from removing objects while `body` runs.
    package func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try storage.locked(exclusively: false, body)
    }

    /// Tells this repository from others, 16 bytes. Where the marker is missing, the newest manifest that is whole says it.
    package func identifier() throws -> [UInt8] {
        do {
            return try storedMarker().identifier
        } catch BackupError.missingObject {
            for name in (try? manifestNames())?.reversed() ?? [] {
                if let stored = try? StoredManifest(name, storage, nil) { return stored.manifest.repository }
            }
            throw BackupError(.notARepository, path: storage.description)
        }
    }

    // MARK: Objects

    func marker() throws -> RepositoryMarker {
        do {
            return try storedMarker()
        } catch BackupError.missingObject {
            throw BackupError(.notARepository, path: storage.description)
        }
    }

    private func storedMarker() throws -> RepositoryMarker {
        try RepositoryMarker(storage.bytes(RepositoryMarker.name, most: 1 << 10), location: storage.description)
    }

    /// Makes the repository unless there is one.
    func prepare() throws {
        try storage.prepare()
        do {
            _ = try marker()
        } catch BackupError.notARepository {
            guard try storage.names(in: StoredManifest.directory).isEmpty else {
                throw BackupError(.notARepository, path: storage.description)
            }
            let marker = try RepositoryMarker(created: BackupRepository.now)
            // Another process may have made it meanwhile.
            do {
                try storage.add(RepositoryMarker.name, marker.file())
            } catch {
                if (try? self.marker()) == nil { throw error }
            }
        }
    }

    /// Seconds since 1970.
    package static var now: UInt64 { UInt64(max(0, Date().timeIntervalSince1970)) }

    /// The names of all manifests, the oldest first. The last of several of one number counts, which two writers can only make where
    /// locks do not work.
    func manifestNames() throws -> [String] {
        try storage.names(in: StoredManifest.directory)
            .compactMap { name in StoredManifest.number(inName: name).map { ($0, name) } }
            .sorted { $0 < $1 }.map(\.1)
    }

    /// All manifests, the oldest first.
    func manifests() throws -> [StoredManifest] {
        let identifier = try identifier()
        return try manifestNames().map { try StoredManifest($0, storage, identifier) }
    }
}
