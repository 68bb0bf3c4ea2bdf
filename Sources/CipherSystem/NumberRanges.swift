/// Numbers as ranges of consecutive ones, ascending and without overlap.
package struct NumberRanges<Number: FixedWidthInteger & Sendable>: Sendable where Number.Stride: SignedInteger {
    package private(set) var ranges: [ClosedRange<Number>] = []

    /// - Parameter ranges: In any order; they may overlap.
    package init(_ ranges: some Sequence<ClosedRange<Number>>) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = self.ranges.last,
                last.upperBound >= range.lowerBound || last.upperBound + 1 == range.lowerBound
            {
                self.ranges[self.ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                self.ranges.append(range)
            }
        }
    }

    /// - Parameter numbers: In any order.
    package init(_ numbers: some Sequence<Number>) {
        self.init(numbers.map { $0...$0 })
    }

    package func contains(_ number: Number) -> Bool { ranges.contains { $0.contains(number) } }

    /// What is missing between `first` and `last`.
    package func gaps(in all: ClosedRange<Number>) -> NumberRanges {
        var (gaps, next) = ([ClosedRange<Number>](), all.lowerBound)
        for range in ranges where range.upperBound >= next {
            guard range.lowerBound <= all.upperBound else { break }
            if range.lowerBound > next { gaps.append(next...(range.lowerBound - 1)) }
            guard range.upperBound < all.upperBound else { return NumberRanges(gaps) }
            next = range.upperBound + 1
        }
        return NumberRanges(gaps + [next...all.upperBound])
    }

    /// More are counted only.
    private static var mostRanges: Int { 20 }

    /// For people: `page 3`, `pages 3, 5 to 7 and 12 more`.
    ///
    /// - Parameter noun: What they number, one of it.
    package func text(of noun: String) -> String {
        func count(_ ranges: some Sequence<ClosedRange<Number>>) -> Number {
            ranges.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) + 1 }
        }
        let shown = ranges.prefix(NumberRanges.mostRanges)
        let texts = shown.map {
            $0.lowerBound == $0.upperBound ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)"
        }
        let all = count(ranges)
        let more = all - count(shown)
        return noun + (all == 1 ? "" : "s") + " " + texts.joined(separator: ", ")
            + (more > 0 ? " and \(more) more" : "")
    }
}

extension BinaryInteger {
    /// The number with what it counts, for people: `1 page`, `2 pages`.
    ///
    /// - Parameter noun: One of it.
    package func counted(_ noun: String) -> String { "\(self) \(noun)\(self == 1 ? "" : "s")" }
}
