internal import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Which generation is restored.
public enum GenerationChoice: Sendable, Equatable {
    /// The one with the highest number.
    case newest
    /// The one with this number.
    case number(UInt64)
    /// The newest of those that were made at this time or before.
    case at(Date)
}

extension BackupRepository {
    /// Throws where no whole manifest that `counts` has this number or a higher one.
    func checkNewest(
        _ names: [String],
        _ marker: RepositoryMarker,
        atLeast expected: UInt64,
        _ counts: (StoredManifest) -> Bool
    ) throws {
        var newest: UInt64 = 0
        for name in names.reversed() {
            // A file of such a name alone says nothing.
            guard let stored = try? StoredManifest(name, storage, marker), counts(stored) else { continue }
            newest = stored.manifest.number
            break
        }
        guard newest >= expected else { throw BackupError(.outdated, newest: newest, expected: expected) }
    }

    /// The number of the newest generation whose manifest a key proves.
    func newestProved(by key: BackupKey) throws -> UInt64? {
        let marker = try marker()
        for name in try manifestNames().reversed() {
            guard let stored = try? StoredManifest(name, storage, marker), (try? stored.authenticate(key)) != nil
            else { continue }
            return stored.manifest.number
        }
        return nil
    }

    /// - Parameter expected: The number that the newest generation has at least.
    func manifest(_ choice: GenerationChoice, atLeast expected: UInt64?) throws -> StoredManifest {
        let marker = try marker()
        let names = try manifestNames()
        if let expected { try checkNewest(names, marker, atLeast: expected) { _ in true } }
        for name in names.reversed() {
            switch choice {
            case .newest: return try StoredManifest(name, storage, marker)
            case .number(let number):
                if StoredManifest.number(inName: name) == number { return try StoredManifest(name, storage, marker) }
            case .at(let time):
                let stored = try StoredManifest(name, storage, marker)
                if Double(stored.manifest.time) <= time.timeIntervalSince1970 { return stored }
            }
        }
        throw BackupError(.noGeneration, path: storage.description)
    }
}
