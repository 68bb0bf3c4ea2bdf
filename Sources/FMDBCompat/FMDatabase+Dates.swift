internal import CipherDB
public import Foundation

extension FMDatabase {
    /// A formatter for ``setDateFormat(_:)``, in UTC whatever the user's settings.
    public class func storeableDateFormat(_ format: String) -> DateFormatter {
        let formatter = DateFormatter()
        formatter.dateFormat = format
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.locale = Locale(identifier: "en_US_POSIX")
        return formatter
    }

    /// Whether dates are stored as text.
    public func hasDateFormatter() -> Bool { inTurn(or: false) { dateFormatter != nil } }

    /// Stores dates as text of this format; nil stores seconds since 1970.
    public func setDateFormat(_ format: DateFormatter?) {
        guard let isOuter = turn.enterIfFree() else { return }
        defer { turn.leave(isOuter) }
        dateFormatter = format
        database.dateFormat =
            format.map { format in
                DateFormat(string: { format.string(from: $0) }, date: { format.date(from: $0) })
            } ?? .secondsSince1970
    }

    /// The date that a text stands for; nil without a formatter.
    public func date(from text: String) -> Date? { inTurn(or: nil) { dateFormatter?.date(from: text) } }

    /// The text for a date; nil without a formatter.
    public func string(from date: Date) -> String? { inTurn(or: nil) { dateFormatter?.string(from: date) } }
}
