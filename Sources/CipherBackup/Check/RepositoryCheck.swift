package import CipherKeys
internal import CipherSystem

/// What a check of all objects of a repository found.
public struct RepositoryCheck: Sendable, Equatable {
    /// The numbers of the generations whose blocks all are what was written, ascending.
    public internal(set) var sound: [UInt64] = []
    /// The numbers of those that a key has proved: the manifest and each page have the right MAC. Others were made without a key, or are
    /// under another one, such as that before a change of key.
    public internal(set) var proved: [UInt64] = []
    /// The numbers of those whose manifest alone was proved by a key: the format of the database has no MACs of pages.
    public internal(set) var provedByManifest: [UInt64] = []
    /// With keys, the numbers of those that are undamaged, but under none of these keys.
    public internal(set) var underOtherKeys: [UInt64] = []
    /// The numbers of those whose key is in a keyring that the repository stores: one of its secrets opens what is restored.
    public internal(set) var withKeyring: [UInt64] = []
    /// What is wrong, a sentence each; empty where all is well.
    public internal(set) var problems: [String] = []
    /// Bytes of the segments that were read.
    public internal(set) var size: Int64 = 0
}

extension BackupRepository {
    /// Reads all objects, and compares all with their digests.
    ///
    /// - Parameters:
    ///   - expected: The number that the newest generation has at least; nil for any.
    ///   - progress: Called for each segment with the bytes done and all; what it throws ends the check.
    /// - Throws: ``BackupError`` where there is no repository. What is wrong in it is returned.
    public func check(
        atLeast expected: UInt64? = nil,
        progress: (Int64, Int64) throws -> Void = { _, _ in }
    ) throws -> RepositoryCheck {
        try check(atLeast: expected, keyOf: nil, keyring: nil, progress: progress)
    }

    /// As ``check(atLeast:progress:)``; with keys, also proves manifests and pages by their MACs.
    ///
    /// - Parameters:
    ///   - keyOf: The key that opens a database whose first bytes these are; nil if there is none.
    ///   - keyring: Must have the keys of all generations, and be the newest that is stored.
    /// - Throws: `BackupError.otherKey` where no key opens the newest generation.
    package func check(
        atLeast expected: UInt64?,
        keyOf: (([UInt8]) throws -> PageKey?)?,
        keyring: UnlockedKeyring?,
        progress: (Int64, Int64) throws -> Void
    ) throws -> RepositoryCheck {
        try storage.locked(exclusively: false) {
            let identifier = try identifier()
            var check = RepositoryCheck()
            check.noting { _ = try self.marker() }
            var manifests: [StoredManifest] = []
            for name in try manifestNames() {
                check.noting { manifests.append(try StoredManifest(name, storage, identifier)) }
            }
            if manifests.isEmpty {
                check.problems.append(BackupError(.noGeneration, path: storage.description).description)
            }
            try checkChain(manifests, identifier, &check)
            let keyrings = try checkKeyrings(manifests, identifier, keyring)
            check.problems += keyrings.problems
            let keys = try keyOf.map { try GenerationKeys(storage, manifests, keyOf: $0) } ?? .none
            let proved = manifests.indices.last { place in
                keys[UInt32(place)].map { (try? manifests[place].authenticate($0.backupKey)) != nil } == true
            }
            let newestProved = proved.map { manifests[$0].manifest.number }
            let known = (keyOf == nil ? manifests.last?.manifest.number : newestProved) ?? 0
            if let expected, known < expected {
                check.problems.append(BackupError(.outdated, newest: known, expected: expected).description)
            }
            if keyOf != nil, let newest = manifests.last, keys[UInt32(manifests.count - 1)] == nil {
                if newest.manifest.keyIdentifier == nil {
                    let error = BackupError(.unauthenticated, path: newest.name, newestProved: newestProved)
                    check.problems.append(error.description)
                } else if GenerationKeys.Key.isReadable(storage, newest.manifest) {
                    throw BackupError(.otherKey, path: newest.name)
                }
            }
            var pass = try SegmentPass(storage, identifier, manifests, keys)
            try pass.run(&check, progress)
            let doubtful = pass.doubtful
            for (place, stored) in zip(UInt32(0)..., manifests) {
                let isSound = check.noting {
                    try checkGeneration(stored, pass.missing, isDoubtful: doubtful.contains(place), keys[place], keyOf)
                }
                if isSound {
                    check.sound.append(stored.manifest.number)
                    if stored.manifest.keyIdentifier.map(keyrings.identifiers.contains) == true {
                        check.withKeyring.append(stored.manifest.number)
                    }
                    switch keys[place]?.hasPageMACs {
                    case true?: check.proved.append(stored.manifest.number)
                    case false?: check.provedByManifest.append(stored.manifest.number)
                    case nil where keyOf != nil && stored.manifest.keyIdentifier != nil:
                        check.underOtherKeys.append(stored.manifest.number)
                    case nil: break
                    }
                }
            }
            if keyring != nil, !check.underOtherKeys.isEmpty {
                let numbers = NumberRanges(check.underOtherKeys).text(of: "generation")
                let isStored = Set(check.underOtherKeys).isSubset(of: check.withKeyring)
                check.problems.append(
                    "no key of the keyring opens \(numbers); needed: "
                        + (isStored ? "the keyring that is stored with them" : "the key or the keyring of that time")
                )
            }
            return check
        }
    }

    /// Returns the identifiers that keyrings have of the keys of generations.
    private func checkKeyrings(
        _ manifests: [StoredManifest],
        _ identifier: [UInt8],
        _ keyring: UnlockedKeyring?
    ) throws -> (identifiers: Set<[UInt8]>, problems: [String]) {
        let needed = Set(manifests.compactMap(\.manifest.keyIdentifier))
        var identifiers: Set<[UInt8]> = []
        var problems: [String] = []
        do {
            var isNewest = true
            for stored in try storedKeyrings(identifier, unreadable: { problems.append("\($0)") }) {
                defer { isNewest = false }
                if let keyring {
                    let name = "\(StoredKeyring.directory)/\(stored.name)"
                    if !keyring.proves(stored.keyring) {
                        if isNewest { problems.append("\(name): not the keyring that was given") }
                    } else if try !stored.hasItsIdentifiers(keyring, identifier) {
                        problems.append("\(name): it has been altered: it names other keys than it has")
                        continue
                    }
                }
                identifiers.formUnion(stored.identifiers.intersection(needed))
            }
        } catch {
            problems.append("\(error)")
        }
        try ChildInterruption.check()
        return (identifiers, problems)
    }

    private func checkGeneration(
        _ stored: StoredManifest,
        _ missing: Set<SegmentIdentifier>,
        isDoubtful: Bool,
        _ key: GenerationKeys.Key?,
        _ keyOf: (([UInt8]) throws -> PageKey?)?
    ) throws {
        try key.map { try stored.authenticate($0.backupKey) }
        let number = stored.manifest.number
        if let segment = stored.manifest.segments.map(\.identifier).first(where: missing.contains) {
            throw GenerationUnusable(number: number, reason: "it needs \(segment.name)")
        }
        guard isDoubtful else { return }
        do {
            // The salt or the format may be others than those of the newest generation under the key.
            let own = try key.map { key in
                try keyOf.flatMap { try GenerationKeys.Key(storage, stored.manifest, $0) } ?? key
            }
            try GenerationWalk(storage, stored.manifest).run(own)
        } catch {
            throw GenerationUnusable(number: number, reason: "\(error)")
        }
    }

    private struct GenerationUnusable: Error, CustomStringConvertible {
        let number: UInt64
        let reason: String
        var description: String { "generation \(number) cannot be restored: \(reason)" }
    }

    /// Each manifest has the digest of the one before; what is missing must have been removed by a prune.
    private func checkChain(_ manifests: [StoredManifest], _ identifier: [UInt8], _ check: inout RepositoryCheck)
        throws
    {
        var records: [PruneRecord] = []
        for name in try storage.names(in: PruneRecord.directory) {
            check.noting { records.append(try pruneRecord(name, identifier)) }
        }
        let byNumber = Dictionary(grouping: manifests, by: \.manifest.number)
        for (number, several) in byNumber.sorted(by: { $0.key < $1.key }) {
            if several.count > 1 {
                check.problems.append(
                    "generation \(number) exists \(several.count) times: two writers did not see each other"
                )
            }
            for stored in several where number > 1 {
                guard let before = byNumber[number - 1] else { continue }
                let digests = try before.map { try $0.digest }
                if !digests.contains(stored.manifest.previous) {
                    check.problems.append(
                        "generation \(number) does not follow generation \(number - 1): one of them was replaced"
                    )
                }
            }
        }
        guard let last = byNumber.keys.max() else { return }
        if records.contains(where: { ($0.ranges.ranges.last?.upperBound ?? 0) >= last }) {
            check.problems.append(
                "a record of prunes has generation \(last), the newest, or a later one, which no prune removes: it is forged, or newer generations were removed"
            )
        }
        let present = byNumber.keys.map { $0...$0 }
        let missing = NumberRanges(present + records.flatMap(\.ranges.ranges)).gaps(in: 1...last)
        if !missing.ranges.isEmpty {
            check.problems.append("missing, and not pruned: " + missing.text(of: "generation"))
        }
    }
}

extension RepositoryCheck {
    /// Makes an error of `body` a problem; returns whether there was none.
    @discardableResult
    mutating func noting(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            problems.append("\(error)")
            return false
        }
    }
}
