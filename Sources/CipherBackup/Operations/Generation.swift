package import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A generation that has the state of a database.
package struct StoredGeneration {
    package let generation: Generation
    /// Whether it was made now; false where nothing has changed since it was.
    package let isNew: Bool
    package let warnings: [BackupWarning]
}

/// One generation of a backup: the state of a database at one time.
public struct Generation: Sendable, Equatable {
    /// From 1; each generation has a higher number than those before.
    public let number: UInt64
    /// When the state was read, by the clock of the machine that did.
    public let time: Date
    /// Bytes of the database.
    public let databaseSize: Int64
    /// Bytes that were stored for this generation alone; the others are those of earlier generations.
    public let storedSize: Int64
    /// Whether the manifest has a MAC, by which the key of the database proves it.
    public let isAuthenticated: Bool
    /// How many segments a restore reads.
    public let segmentCount: Int

    init(_ manifest: Manifest) {
        number = manifest.number
        time = Date(timeIntervalSince1970: Double(manifest.time))
        databaseSize = manifest.databaseSize
        storedSize = manifest.storedSize
        isAuthenticated = manifest.keyIdentifier != nil
        segmentCount = manifest.segments.count
    }
}

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
        _ identifier: [UInt8],
        atLeast expected: UInt64,
        _ counts: (StoredManifest) -> Bool
    ) throws {
        var newest: UInt64 = 0
        for name in names.reversed() {
            guard let stored = try whole(name, identifier), counts(stored) else { continue }
            newest = stored.manifest.number
            break
        }
        guard newest >= expected else { throw BackupError(.outdated, newest: newest, expected: expected) }
    }

    /// The number of the newest generation whose manifest a key proves.
    func newestProved(by key: BackupKey) throws -> UInt64? {
        let identifier = try identifier()
        for name in try manifestNames().reversed() {
            guard let stored = try whole(name, identifier), (try? stored.authenticate(key)) != nil else { continue }
            return stored.manifest.number
        }
        return nil
    }

    /// The manifest; nil where the file is none, as its name alone says nothing. One that cannot be read may be one, and is thrown.
    private func whole(_ name: String, _ identifier: [UInt8]) throws -> StoredManifest? {
        do {
            return try StoredManifest(name, storage, identifier)
        } catch let error as BackupError where [.damagedObject, .missingObject].contains(error.code) {
            return nil
        }
    }

    /// - Parameter expected: The number that the newest generation has at least.
    func manifest(_ choice: GenerationChoice, atLeast expected: UInt64?) throws -> StoredManifest {
        let identifier = try identifier()
        let names = try manifestNames()
        if let expected { try checkNewest(names, identifier, atLeast: expected) { _ in true } }
        for name in names.reversed() {
            switch choice {
            case .newest: return try StoredManifest(name, storage, identifier)
            case .number(let number):
                if StoredManifest.number(inName: name) == number {
                    return try StoredManifest(name, storage, identifier)
                }
            case .at(let time):
                let stored = try StoredManifest(name, storage, identifier)
                if Double(stored.manifest.time) <= time.timeIntervalSince1970 { return stored }
            }
        }
        throw BackupError(.noGeneration, path: storage.description)
    }
}

/// What is known of a repository before a backup is stored in it, since later generations would hide that an old copy replaced it.
package struct ExpectedGeneration: Sendable {
    /// The number that the newest generation has at least; nil where only a keyring may have noted it, 0 where any is accepted.
    let number: UInt64?
    /// Whether an old copy is accepted, whatever a keyring has noted.
    package var isAny: Bool { number == 0 }
    /// With a key, it or one of these must prove that there is such a generation.
    let otherKeys: [DerivedKey]

    /// Nothing is known.
    package static let none = ExpectedGeneration(nil, derivedKeys: [])

    package init(_ number: UInt64?, derivedKeys: [DerivedKey]) {
        self.number = number
        otherKeys = derivedKeys
    }

    /// What authenticates manifests: the salt does not matter to it. Passphrases are left out.
    package static func keys(_ keys: [DatabaseKey]) throws -> [DerivedKey] {
        try keys.filter { !$0.isPassphrase }.map { key in
            try key.derive(salt: [UInt8](repeating: 0, count: CipherFormat.saltSize), format: .v4)
        }
    }

    /// Throws where the newest generation is older.
    ///
    /// - Parameters:
    ///   - noted: The number that a keyring has noted, where none is given.
    ///   - known: The generation that the caller has made, or found proved, last. Another one of its number counts if a key proves it.
    ///   - keys: Those that prove generations; none without a key.
    func check(
        _ names: [String],
        of repository: BackupRepository,
        _ identifier: [UInt8],
        noted: UInt64?,
        known: StoredManifest?,
        provedBy keys: [BackupKey]
    ) throws {
        if let number = number ?? noted, number > 0 {
            try repository.checkNewest(names, identifier, atLeast: number) { $0.counts(provedBy: keys) }
        }
        if let known {
            // Its key may be one that the database has no more.
            try repository.checkNewest(names, identifier, atLeast: known.manifest.number) {
                $0.file == known.file || $0.counts(provedBy: keys)
            }
        }
    }

    /// What is known of a repository whose generations any key of a keyring may prove.
    ///
    /// - Parameter number: In place of what the keyring has noted.
    package init(_ keyring: UnlockedKeyring?, atLeast number: UInt64?) throws {
        self.init(number, derivedKeys: try keyring.map { try ExpectedGeneration.keys($0.copy().keys) } ?? [])
    }
}
