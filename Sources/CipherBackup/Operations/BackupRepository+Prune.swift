package import CipherKeys
internal import CipherSystem

/// Which generations a prune keeps: those that any of the rules names, and the newest. The rules are applied to all generations, and again to those
/// that have a MAC, so that generations without one take the place of none that the key proves.
public struct RetentionPolicy: Sendable, Equatable {
    /// So many of the newest.
    public var newest: Int?
    /// Those that are not older than this.
    public var age: Duration?
    /// The newest of each day, by UTC, for so many days that have one.
    public var days: Int?

    /// A policy that keeps the newest generation alone, until rules are set.
    public init(newest: Int? = nil, age: Duration? = nil, days: Int? = nil) {
        self.newest = newest
        self.age = age
        self.days = days
    }

    /// The numbers of the generations that are kept.
    func kept(_ generations: [(number: UInt64, time: UInt64, isAuthenticated: Bool)], now: UInt64) -> Set<UInt64> {
        let all = generations.map { ($0.number, $0.time) }
        let authenticated = generations.filter(\.isAuthenticated).map { ($0.number, $0.time) }
        return named(all, now: now).union(named(authenticated, now: now))
    }

    /// What the rules name.
    private func named(_ generations: [(number: UInt64, time: UInt64)], now: UInt64) -> Set<UInt64> {
        let ordered = generations.sorted { $0.number > $1.number }
        var kept = Set(ordered.prefix(max(1, newest ?? 1)).map(\.number))
        if let age {
            let seconds = UInt64(max(0, age.components.seconds))
            kept.formUnion(ordered.filter { $0.time >= now - min(now, seconds) }.map(\.number))
        }
        if let days {
            var seen: Set<UInt64> = []
            for generation in ordered where seen.count < days && seen.insert(generation.time / 86_400).inserted {
                kept.insert(generation.number)
            }
        }
        return kept
    }
}

/// What a prune did.
public struct PruneResult: Sendable, Equatable {
    /// The numbers of the generations that are kept, ascending.
    public let kept: [UInt64]
    /// The numbers of the generations that were removed, ascending.
    public let removed: [UInt64]
    /// How many segments were removed, which no generation needs any more.
    public let removedSegments: Int
    /// Bytes of the objects that were removed.
    public let removedSize: Int64
}

extension BackupRepository {
    /// Removes generations, and what no other generation needs. Without a key, whatever has a MAC counts as proved.
    ///
    /// - Parameter policy: Which generations are kept. The newest always is.
    /// - Throws: ``BackupError``; nothing is removed where a manifest cannot be read, or the newest generation needs a segment that is missing or cut.
    @discardableResult
    public func prune(keeping policy: RetentionPolicy) throws -> PruneResult {
        try prune(keeping: policy, provedBy: nil)
    }

    /// As ``prune(keeping:)``; generations that the key does not prove take the place of none that it proves.
    package func prune(keeping policy: RetentionPolicy, provedBy key: DerivedKey?) throws -> PruneResult {
        try storage.locked(exclusively: true) {
            let identifier = try marker().identifier
            let backupKey = try key.map { try BackupKey($0, repository: identifier) }
            let all = try manifests()
            func isProved(_ stored: StoredManifest) -> Bool {
                backupKey.map { (try? stored.authenticate($0)) != nil } ?? (stored.manifest.keyIdentifier != nil)
            }
            let sizes = try storage.sizes(in: SegmentIdentifier.directory)
            // Others may be all that is left of the database.
            for newest in [all.last, all.last(where: isProved)] {
                if let lost = newest?.lostSegments(sizes).first { throw BackupError(.missingObject, path: lost) }
            }
            func kept(_ generations: [StoredManifest]) -> Set<UInt64> {
                policy.kept(
                    generations.map { ($0.manifest.number, $0.manifest.time, isProved($0)) },
                    now: BackupRepository.now
                )
            }
            // One that cannot be restored takes the place of none that can.
            let numbers = kept(all).union(kept(all.filter { $0.lostSegments(sizes).isEmpty }))
            let kept = all.filter { numbers.contains($0.manifest.number) }
            let removed = all.filter { !numbers.contains($0.manifest.number) }
            // What was lost before the first one that is kept is missed no more.
            let lowest = kept.first?.manifest.number ?? 1
            if !removed.isEmpty || lowest > 1 {
                try addRecord(
                    identifier,
                    removed.map { $0.manifest.number...$0.manifest.number } + (lowest > 1 ? [1...(lowest - 1)] : [])
                )
                for manifest in removed { try storage.remove(StoredManifest.directory + "/" + manifest.name) }
            }
            let segments = try removeSegments(neededBy: kept, removed)
            return PruneResult(
                kept: kept.map(\.manifest.number),
                removed: removed.map(\.manifest.number),
                removedSegments: segments.count,
                removedSize: segments.reduce(removed.reduce(0) { $0 + Int64($1.file.count) }) {
                    $0 + max(0, sizes[$1.fileName] ?? 0)
                }
            )
        }
    }

    /// The new record has what the older ones have, which are removed then.
    private func addRecord(_ identifier: [UInt8], _ removed: [ClosedRange<UInt64>]) throws {
        let older = try storage.names(in: PruneRecord.directory)
        let ranges = try older.flatMap { try pruneRecord($0, identifier).ranges.ranges } + removed
        let file = try PruneRecord(repository: identifier, ranges: NumberRanges(ranges)).file()
        let name = try Cryptography.SHA256().digest(of: file).bytes.prefix(16).hexadecimal
        guard !older.contains(name) else { return }
        try storage.add(PruneRecord.directory + "/" + name, file)
        for name in older { try storage.remove(PruneRecord.directory + "/" + name) }
    }

    func pruneRecord(_ name: String, _ identifier: [UInt8]) throws -> PruneRecord {
        let path = PruneRecord.directory + "/" + name
        guard let record = try PruneRecord(storage.bytes(path, most: PruneRecord.mostBytes)),
            record.repository == identifier
        else {
            throw BackupError(.damagedObject, path: "\(storage.description)/\(path)")
        }
        return record
    }

    /// Removes the segments that are of no use: those of the generations that were removed, and of backups that were cut off.
    private func removeSegments(neededBy kept: [StoredManifest], _ removed: [StoredManifest]) throws
        -> Set<SegmentIdentifier>
    {
        let needed = Set(kept.flatMap { $0.manifest.segments.map(\.identifier) })
        let settled = try storage.settledNames(in: "segments").compactMap(SegmentIdentifier.init(fileName:))
        let useless = Set(settled + removed.flatMap { $0.manifest.segments.map(\.identifier) }).subtracting(needed)
        for segment in useless { try storage.remove(segment.name) }
        return useless
    }
}
