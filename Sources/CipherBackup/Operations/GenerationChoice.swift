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
    /// - Parameter expected: The number that the newest generation has at least.
    func manifest(_ choice: GenerationChoice, atLeast expected: UInt64?) throws -> StoredManifest {
        let marker = try marker()
        let names = try manifestNames()
        let newest = names.last.flatMap(StoredManifest.number) ?? 0
        if let expected, newest < expected { throw BackupError.outdated(newest: newest, expected: expected) }
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
        throw BackupError.noGeneration(location: storage.description)
    }
}
