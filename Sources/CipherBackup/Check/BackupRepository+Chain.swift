internal import CipherSystem

extension BackupRepository {
    /// Each manifest has the digest of the one before; what is missing must have been removed by a prune.
    func checkChain(_ manifests: [StoredManifest], _ marker: RepositoryMarker, _ check: inout RepositoryCheck)
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
