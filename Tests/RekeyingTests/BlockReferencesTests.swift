import CipherKeys
import TestSupport
import Testing

@testable import CipherBackup

@Suite(.atTheEnds) struct BlockReferencesTests {
    private func reference(_ number: Int) throws -> BlockReference {
        BlockReference(
            segment: try SegmentIdentifier.random(),
            offset: UInt64(number),
            digest: try Cryptography.SHA256().digest(of: Array("\(number)".utf8))
        )
    }

    private func all(_ references: BlockReferences) throws -> [BlockReference] {
        try (0..<references.nodeCount).flatMap(references.node)
    }

    /// More nodes than fit into memory, changed at random, through states that grow and shrink: an array has the same.
    @Test(arguments: 1...4) func holdsWhatWasSet(seed: UInt64) throws {
        var random = SplitMix(seed)
        let most = (BlockReferences.mostChanged + 300) * BlockTree.fanOut
        var count = most
        var state = BlockReferences(count: count)
        var expected = [BlockReference](repeating: .zeros, count: count)
        for step in 0..<8 {
            if step > 0 {
                // As the next generation, of which the one before stays what it is.
                let before = state
                let old = expected
                count = step % 3 == 0 ? count : Int.random(in: 1...most, using: &random)
                state = try BlockReferences(count: count, keeping: before)
                expected = expected.prefix(count) + Array(repeating: .zeros, count: max(0, count - expected.count))
                try change(&state, &expected, &random)
                #expect(try all(before) == old)
            } else {
                try change(&state, &expected, &random)
            }
            #expect(try all(state) == expected)
            var cursor = ReferenceCursor(state)
            #expect(try cursor.reference(count - 1) == expected.last && cursor.reference(count) == nil)
        }
    }

    private func change(
        _ state: inout BlockReferences,
        _ expected: inout [BlockReference],
        _ random: inout SplitMix
    ) throws {
        let changed = try reference(Int.random(in: 0..<1000, using: &random))
        for _ in 0..<3000 {
            let index = Int.random(in: 0..<expected.count, using: &random)
            try state.set(changed, at: index)
            expected[index] = changed
        }
    }

    @Test func nodesThatNobodyChangedNeedNoReading() throws {
        let count = (BlockReferences.mostChanged + 2) * BlockTree.fanOut
        var first = BlockReferences(count: count)
        let some = try reference(1)
        for index in stride(from: 0, to: count, by: BlockTree.fanOut) { try first.set(some, at: index) }
        var second = try BlockReferences(count: count, keeping: first)
        try second.set(.zeros, at: 5)
        #expect(!second.isKnownToShare(0, with: first) && second.isKnownToShare(1, with: first))
        let shorter = try BlockReferences(count: count / 2 + 1, keeping: first)
        #expect(!shorter.isKnownToShare(shorter.nodeCount - 1, with: first))
    }

    @Test func nodeIsReadBack() throws {
        let references = try (0..<5).map(reference)
        #expect(BlockReference.all(in: BlockReference.node(of: references)) == references)
    }

    @Test func usesOfBlocksComeBack() throws {
        var uses = BlockUses()
        let segments = try (0..<3).map { _ in try SegmentIdentifier.random() }
        let count = 2 * BlockUses.mostInMemory + 5
        for number in 0..<count {
            let use = TreePiece.Use(start: Int64(number), size: 4096, generations: 1...UInt32(1 + number % 7))
            try uses.add(TreePiece.Place(offset: UInt64(number), digest: Digest()), use, to: segments[number % 3])
        }
        for (part, segment) in segments.enumerated() {
            var next = part
            try uses.take(segment) { place, use in
                #expect(place.offset == UInt64(next) && use.start == Int64(next))
                #expect(use.generations == 1...UInt32(1 + next % 7))
                next += 3
            }
            #expect(next >= count)
            try uses.take(segment) { _, _ in Issue.record("it was taken") }
        }
    }
}
