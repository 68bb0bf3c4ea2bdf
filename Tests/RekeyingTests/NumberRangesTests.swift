import CipherSystem
import Testing

@Suite struct NumberRangesTests {
    @Test func consecutiveNumbersAreOneRange() {
        let ranges = NumberRanges([7, 1, 2, 5, 6, 2])
        #expect(ranges.ranges == [1...2, 5...7])
        #expect(ranges.contains(6) && !ranges.contains(3))
        #expect(ranges.text(of: "page") == "pages 1 to 2, 5 to 7")
        #expect(NumberRanges([3]).text(of: "page") == "page 3")
        #expect(NumberRanges((0..<25).map { 2 * $0 }).text(of: "page").hasSuffix(", 36, 38 and 5 more"))
    }

    @Test func overlappingRangesAreMerged() {
        #expect(
            NumberRanges([5...9, 1...3, 2...4, 8...8, UInt64.max...(.max)]).ranges == [1...9, UInt64.max...(.max)]
        )
    }

    @Test func gapsAreWhatIsBetween() {
        #expect(NumberRanges([3, 4, 9]).gaps(in: 1...9).ranges == [1...2, 5...8])
        #expect(NumberRanges([0, 1, 2, 20]).gaps(in: 1...5).ranges == [3...5])
        #expect(NumberRanges<UInt64>([1...(.max)]).gaps(in: 1...(.max)).ranges == [])
        #expect(NumberRanges<UInt64>([UInt64]()).gaps(in: 2...2).ranges == [2...2])
    }
}
