internal import CipherKeys
internal import SQLiteFormat

/// What a check of all objects of a repository found.
public struct RepositoryCheck: Sendable, Equatable {
    /// The numbers of the generations whose blocks all are what was written, ascending.
    public internal(set) var sound: [UInt64] = []
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
        try storage.locked(exclusively: false) {
            let marker = try marker()
            var check = RepositoryCheck()
            var manifests: [StoredManifest] = []
            for name in try manifestNames() {
                check.noting { manifests.append(try StoredManifest(name, storage, marker)) }
            }
            if let expected, manifests.last?.manifest.number ?? 0 < expected {
                let newest = manifests.last?.manifest.number ?? 0
                check.problems.append(BackupError.outdated(newest: newest, expected: expected).description)
            }
            try checkChain(manifests, marker, &check)
            let damaged = try checkSegments(manifests, marker, &check, progress)
            var known: Set<BlockReference> = []
            for stored in manifests {
                let isSound = check.noting { try checkTree(stored.manifest, damaged, &known) }
                if isSound { check.sound.append(stored.manifest.number) }
            }
            return check
        }
    }

    /// Each manifest has the digest of the one before; what is missing must have been removed by a prune.
    private func checkChain(_ manifests: [StoredManifest], _ marker: RepositoryMarker, _ check: inout RepositoryCheck)
        throws
    {
        var records: [PruneRecord] = []
        for name in try storage.names(in: PruneRecord.directory) {
            check.noting { records.append(try pruneRecord(name, marker)) }
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
        let missing = (1...max(1, byNumber.keys.max() ?? 1)).filter { number in
            byNumber[number] == nil && !records.contains { $0.contains(number) }
        }
        if !missing.isEmpty, !manifests.isEmpty {
            check.problems.append(
                "missing, and not pruned: generation" + PageNumbers(missing.map(Int.init)).description.dropFirst(4)
            )
        }
    }

    /// Compares each segment with its digest, and returns those that differ.
    private func checkSegments(
        _ manifests: [StoredManifest],
        _ marker: RepositoryMarker,
        _ check: inout RepositoryCheck,
        _ progress: (Int64, Int64) throws -> Void
    ) throws -> Set<SegmentIdentifier> {
        let segments = Set(manifests.flatMap(\.manifest.segments))
        let all = segments.reduce(0) { $0 + Int64($1.size) }
        var damaged: Set<SegmentIdentifier> = []
        for segment in segments.sorted(by: { $0.identifier < $1.identifier }) {
            let isWhole = check.noting {
                guard try isSound(segment, marker) else { throw BackupError.damagedObject(segment.identifier.name) }
            }
            if !isWhole { damaged.insert(segment.identifier) }
            check.size += Int64(segment.size)
            try progress(check.size, all)
        }
        return damaged
    }

    private func isSound(_ segment: SegmentSummary, _ marker: RepositoryMarker) throws -> Bool {
        let source = try storage.open(segment.identifier.name, from: 0)
        let header = SegmentHeader.bytes(marker.identifier, segment.identifier)
        guard try source.size() == Int64(segment.size), try source.read(header.count, at: 0) == header else {
            return false
        }
        let hash = try OpenSSL.SHA256()
        for offset in stride(from: 0, to: Int64(segment.size), by: 1 << 20) {
            try source.read(1 << 20, at: offset).withUnsafeBytes { try hash.update($0) }
        }
        return try hash.finish() == segment.digest
    }

    /// - Parameter known: What was compared with its digest already, for another generation.
    private func checkTree(
        _ manifest: Manifest,
        _ damaged: Set<SegmentIdentifier>,
        _ known: inout Set<BlockReference>
    ) throws {
        if let segment = manifest.segments.first(where: { damaged.contains($0.identifier) }) {
            throw GenerationUnusable(number: manifest.number, segment: segment.identifier.name)
        }
        let reader = try SegmentReader(storage, manifest, nodesOnly: false)
        let tree = try reader.tree(manifest)
        for (index, block) in tree.blocks.enumerated() where block != .zeros && !known.contains(block) {
            let start = Int64(index) * Int64(BlockTree.blockSize)
            _ = try reader.bytes(block, count: Int(min(Int64(BlockTree.blockSize), manifest.databaseSize - start)))
            known.insert(block)
        }
    }

    private struct GenerationUnusable: Error, CustomStringConvertible {
        let number: UInt64
        let segment: String
        var description: String { "generation \(number) cannot be restored: it needs \(segment)" }
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
