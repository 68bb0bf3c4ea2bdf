#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// How dates are stored as text, instead of as a number of seconds since 1970.
public struct DateFormat: Sendable {
    /// The text for a date.
    let string: @Sendable (Date) -> String
    /// The date that a text stands for; nil for a text that is no date.
    let date: @Sendable (String) -> Date?

    /// A format by two functions, each the reverse of the other.
    public init(string: @escaping @Sendable (Date) -> String, date: @escaping @Sendable (String) -> Date?) {
        self.string = string
        self.date = date
    }

    /// `2009-02-13 23:31:30.500` in UTC, which SQLite's own date functions write and read. Kept to the millisecond.
    public static let sqlite = DateFormat(spaced: true)

    /// `2009-02-13T23:31:30.500Z` (ISO 8601, in UTC). Kept to the millisecond.
    public static let iso8601 = DateFormat(spaced: false)

    private init(spaced: Bool) {
        func style(fraction: Bool) -> Date.ISO8601FormatStyle {
            var style = Date.ISO8601FormatStyle()
                .year().month().day().time(includingFractionalSeconds: fraction)
            if spaced { style = style.dateTimeSeparator(.space) } else { style = style.timeZone(separator: .omitted) }
            return style
        }
        let whole = style(fraction: false)
        let fractional = style(fraction: true)
        self.init(
            string: { fractional.format($0) },
            date: { (try? fractional.parse($0)) ?? (try? whole.parse($0)) }
        )
    }
}
