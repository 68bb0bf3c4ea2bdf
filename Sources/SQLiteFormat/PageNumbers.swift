/// Numbers of pages for people: `page 3`, `pages 3, 5 to 7 and 12 more`.
package struct PageNumbers: CustomStringConvertible {
    private let ranges: [ClosedRange<Int>]
    private let count: Int

    /// - Parameter numbers: Ascending.
    package init(_ numbers: some Sequence<Int>) {
        var (ranges, count) = ([ClosedRange<Int>](), 0)
        for number in numbers {
            count += 1
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
        self.ranges = ranges
        self.count = count
    }

    /// - Parameters:
    ///   - numbers: Ascending.
    ///   - range: What follows them.
    package init(_ numbers: some Sequence<Int>, _ range: Range<Int>) {
        let numbers = PageNumbers(numbers)
        ranges = numbers.ranges + (range.isEmpty ? [] : [ClosedRange(range)])
        count = numbers.count + range.count
    }

    /// More are counted only.
    private static let mostRanges = 20

    package var description: String {
        let shown = ranges.prefix(PageNumbers.mostRanges)
        let texts = shown.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
        let more = count - shown.reduce(0) { $0 + $1.count }
        return "page\(count == 1 ? "" : "s") " + texts.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
    }
}
