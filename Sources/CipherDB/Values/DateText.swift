#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A date as text in UTC, by the Gregorian calendar: with as many digits of the second, three at least, as bring the same date back.
///
/// Of two such texts with years of four digits, the one of the earlier date sorts first.
struct DateText {
    /// Between the day and the time.
    let separator: UInt8
    /// Behind the time.
    let zone: String

    /// A `Date` counts seconds from here, 2001-01-01, as a floating-point number; others would cost its last bits.
    private static let referenceDay: Int64 = 11323
    /// The seconds that a `Double` has whole.
    private static let mostSeconds = 9e15

    /// Nil for a date that is no point in time, such as infinity.
    func string(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) < DateText.mostSeconds else { return nil }
        var whole = Int64(abs(seconds))
        var fraction = Fraction(of: abs(seconds), whole: whole)
        if seconds < 0 {
            whole = -whole
            if fraction.number > 0 {
                whole -= 1
                fraction.number = fraction.unit - fraction.number
            }
        }
        let (day, second) = whole.quotientAndRemainder(flooringBy: 86400)
        let date = CivilDate(day: day + DateText.referenceDay)
        var text = date.description
        text.unicodeScalars.append(Unicode.Scalar(separator))
        text += "\((second / 3600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))"
        return text + ".\(Int64(fraction.number).padded(fraction.digits))\(zone)"
    }

    /// The date that a text stands for: a day, alone or with hours and minutes, seconds, digits of the second, and a zone. It is read in all
    /// the forms in which SQLite's date functions read a day and a time (sqlite.org/lang_datefunc.html), and in those of ISO 8601 for a day
    /// of a month, with and without dashes and colons.
    static func date(_ text: String) -> Date? {
        var text = ArraySlice(text.utf8)
        guard let date = CivilDate(&text) else { return nil }
        var seconds = (date.day - referenceDay) * 86400
        let isSeparate = text.dropAny(of: " Tt")
        guard isSeparate, !text.isEmpty else {
            return text.isEmpty ? Date(timeIntervalSinceReferenceDate: Double(seconds)) : nil
        }
        // A day ends at 24:00.
        guard let hour = text.number(digits: 2), hour <= 24 else { return nil }
        let hasColon = text.popFirst(ifAny: [UInt8(ascii: ":")]) != nil
        guard let minute = text.number(digits: 2), minute < 60 else { return nil }
        seconds += hour * 3600 + minute * 60
        var fraction = Fraction.zero
        if hasColon ? text.popFirst(ifAny: [UInt8(ascii: ":")]) != nil : text.first.map(isDigit) ?? false {
            guard let second = text.number(digits: 2), second < 60 else { return nil }
            seconds += second
            if text.popFirst(ifAny: [UInt8(ascii: "."), UInt8(ascii: ",")]) != nil {
                guard let found = Fraction(&text) else { return nil }
                fraction = found
            }
        }
        text.dropAny(of: " ")
        if text.popFirst(ifAny: [UInt8(ascii: "Z"), UInt8(ascii: "z")]) == nil,
            let sign = text.popFirst(ifAny: [UInt8(ascii: "+"), UInt8(ascii: "-")])
        {
            guard let offset = offset(&text) else { return nil }
            seconds += sign == UInt8(ascii: "+") ? -offset : offset
        }
        text.dropAny(of: " ")
        guard text.isEmpty, abs(Double(seconds)) < mostSeconds else { return nil }
        // From zero outwards, as the date itself is a number with a sign: else its last bits are lost below zero.
        guard seconds < 0, fraction.number > 0 else {
            return Date(timeIntervalSinceReferenceDate: Double(seconds) + fraction.value)
        }
        fraction.number = fraction.unit - fraction.number
        return Date(timeIntervalSinceReferenceDate: Double(seconds + 1) - fraction.value)
    }

    /// The seconds of a zone: `01:30`, `0130` or `01`.
    private static func offset(_ text: inout ArraySlice<UInt8>) -> Int64? {
        guard let hour = text.number(digits: 2), hour < 24 else { return nil }
        guard text.popFirst(ifAny: [UInt8(ascii: ":")]) != nil || text.first.map(isDigit) ?? false else {
            return hour * 3600
        }
        guard let minute = text.number(digits: 2), minute < 60 else { return nil }
        return hour * 3600 + minute * 60
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// The part of a second, in decimal digits.
    private struct Fraction {
        var number: UInt64
        let digits: Int
        var unit: UInt64 { (0..<digits).reduce(1) { product, _ in product * 10 } }
        /// The nearest floating-point number: up to 15 digits both operands are exact.
        var value: Double {
            digits > 15 ? Double("0.\(Int64(number).padded(digits))") ?? 0 : Double(number) / Double(unit)
        }

        static let zero = Fraction(number: 0, digits: 0)

        private init(number: UInt64, digits: Int) {
            self.number = number
            self.digits = digits
        }

        /// The fewest digits that make `seconds` again with `whole`; 18 where none do.
        init(of seconds: Double, whole: Int64) {
            let part = seconds - Double(whole)
            for digits in [3, 6, 9, 12, 15] {
                self.init(number: 0, digits: digits)
                number = min(UInt64((part * Double(unit)).rounded()), unit - 1)
                if Double(whole) + value == seconds { return }
            }
            self.init(number: 0, digits: 18)
            number = min(UInt64((part * Double(unit)).rounded()), unit - 1)
        }

        /// Digits beyond the eighteenth are no part of any date.
        init?(_ text: inout ArraySlice<UInt8>) {
            let all = text.prefix { (0x30...0x39).contains($0) }
            guard !all.isEmpty else { return nil }
            text = text.dropFirst(all.count)
            let kept = all.prefix(18)
            self.init(number: kept.reduce(0) { $0 * 10 + UInt64($1 - 0x30) }, digits: kept.count)
        }
    }
}
