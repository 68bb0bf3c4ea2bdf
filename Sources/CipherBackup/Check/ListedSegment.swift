/// A segment, as the manifests of a repository list it.
struct ListedSegment {
    let identifier: SegmentIdentifier
    /// What manifests say of it: one thing, unless somebody has changed one.
    private(set) var summaries: Set<SegmentSummary>
    /// The first manifest that lists it, the last one, by their places, and how many there are.
    private var generations: ClosedRange<Int>
    private var count = 1
    /// In the list of the first one.
    private let position: Int

    private init(_ summary: SegmentSummary, generation: Int, position: Int) {
        identifier = summary.identifier
        summaries = [summary]
        generations = generation...generation
        self.position = position
    }

    /// The first and the last generation that list it.
    var range: ClosedRange<UInt32> { UInt32(generations.lowerBound)...UInt32(generations.upperBound) }

    /// Whether each of `generations` lists it. It may say no where there are others between them that do not.
    func isListed(by generations: ClosedRange<UInt32>) -> Bool {
        count == self.generations.count && self.generations.contains(Int(generations.lowerBound))
            && self.generations.contains(Int(generations.upperBound))
    }

    /// The segments of a repository, the newest first: nodes refer to their own segment and older ones.
    static func all(in manifests: [StoredManifest]) -> [ListedSegment] {
        var all: [SegmentIdentifier: ListedSegment] = [:]
        for (generation, stored) in manifests.enumerated() {
            for (position, summary) in stored.manifest.segments.enumerated() {
                guard all[summary.identifier] != nil else {
                    all[summary.identifier] = ListedSegment(summary, generation: generation, position: position)
                    continue
                }
                all[summary.identifier]?.add(summary, generation)
            }
        }
        // A manifest lists them in the order in which they were made.
        return all.values.sorted {
            ($0.generations.lowerBound, $0.position) > ($1.generations.lowerBound, $1.position)
        }
    }

    private mutating func add(_ summary: SegmentSummary, _ generation: Int) {
        summaries.insert(summary)
        guard generation > generations.upperBound else { return }
        generations = generations.lowerBound...generation
        count += 1
    }
}
