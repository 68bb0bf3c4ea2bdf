/// What generations need of segments that were not read yet: blocks, in the order in which nodes refer to them. A file has those that
/// do not fit into memory.
struct BlockUses {
    private struct Entry {
        let place: TreePiece.Place
        let use: TreePiece.Use
    }

    /// Entries of one segment that stand one behind the other in the file.
    private struct Run {
        let offset: Int64
        let count: Int
    }

    private var entries: [SegmentIdentifier: [Entry]] = [:]
    private var count = 0
    private var runs: [SegmentIdentifier: [Run]] = [:]
    private var file: ScratchFile?

    /// 16 MiB of them.
    static let mostInMemory = (16 << 20) / MemoryLayout<Entry>.stride
    /// 1 MiB of them.
    private static let step = (1 << 20) / MemoryLayout<Entry>.stride

    mutating func add(_ place: TreePiece.Place, _ use: TreePiece.Use, to segment: SegmentIdentifier) throws {
        if count >= BlockUses.mostInMemory { try flush() }
        entries[segment, default: []].append(Entry(place: place, use: use))
        count += 1
    }

    private mutating func flush() throws {
        let file = try self.file ?? ScratchFile()
        self.file = file
        var end = try file.size()
        for (segment, entries) in entries {
            try entries.withUnsafeBytes { try file.write($0, at: end) }
            runs[segment, default: []].append(Run(offset: end, count: entries.count))
            end += Int64(entries.count * MemoryLayout<Entry>.stride)
        }
        entries = [:]
        count = 0
    }

    /// Calls `body` with all that was added for a segment, and forgets it.
    mutating func take(
        _ segment: SegmentIdentifier,
        _ body: (TreePiece.Place, TreePiece.Use) -> Void
    ) throws {
        for run in runs.removeValue(forKey: segment) ?? [] {
            for first in stride(from: 0, to: run.count, by: BlockUses.step) {
                let offset = run.offset + Int64(first * MemoryLayout<Entry>.stride)
                for entry in try read(min(BlockUses.step, run.count - first), at: offset) {
                    body(entry.place, entry.use)
                }
            }
        }
        let rest = entries.removeValue(forKey: segment) ?? []
        count -= rest.count
        for entry in rest { body(entry.place, entry.use) }
    }

    private func read(_ count: Int, at offset: Int64) throws -> [Entry] {
        try [Entry](unsafeUninitializedCapacity: count) { buffer, initialized in
            // This process wrote them, and no other can: a file without a name.
            let bytes = UnsafeMutableRawBufferPointer(buffer)
            initialized = try (file?.read(into: bytes, at: offset) ?? 0) / MemoryLayout<Entry>.stride
        }
    }
}
