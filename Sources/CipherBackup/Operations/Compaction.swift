/// Which segments a new generation does without: their blocks are stored again, so that a restore does not need ever more objects.
struct Compaction {
    /// What is in these is stored again.
    let replaced: Set<SegmentIdentifier>

    /// Small segments come from small changes. Once there are so many, they are stored as one.
    static let mostSmall = 32
    static let smallSize = 16 << 20
    /// A segment of which less than one in so many bytes is needed is stored again.
    static let wasteFactor = 4

    static let none = Compaction(replaced: [])

    private init(replaced: Set<SegmentIdentifier>) {
        self.replaced = replaced
    }

    /// - Parameter needed: How many bytes of each segment the generation needs.
    init(_ manifest: Manifest, needed: [SegmentIdentifier: Int]) {
        var small: [SegmentIdentifier] = []
        var replaced: Set<SegmentIdentifier> = []
        for segment in manifest.segments {
            if segment.size < UInt64(Compaction.smallSize) {
                small.append(segment.identifier)
            } else if needed[segment.identifier, default: 0] < Int(segment.size) / Compaction.wasteFactor {
                replaced.insert(segment.identifier)
            }
        }
        if small.count > Compaction.mostSmall { replaced.formUnion(small) }
        self.init(replaced: replaced)
    }
}
