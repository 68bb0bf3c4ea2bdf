internal import CipherSystem

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
            var pass = try SegmentPass(storage, marker, manifests)
            try pass.run(&check, progress)
            let doubtful = pass.doubtful
            for (place, stored) in zip(UInt32(0)..., manifests) {
                let number = stored.manifest.number
                let isSound = check.noting {
                    if let segment = stored.manifest.segments.first(where: pass.damaged.contains) {
                        throw GenerationUnusable(number: number, reason: "it needs \(segment.identifier.name)")
                    }
                    guard doubtful.contains(place) else { return }
                    do {
                        try GenerationWalk(storage, stored.manifest).run()
                    } catch {
                        throw GenerationUnusable(number: number, reason: "\(error)")
                    }
                }
                if isSound { check.sound.append(number) }
            }
            return check
        }
    }

    private struct GenerationUnusable: Error, CustomStringConvertible {
        let number: UInt64
        let reason: String
        var description: String { "generation \(number) cannot be restored: \(reason)" }
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
