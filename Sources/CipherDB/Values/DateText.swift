#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A date as text in UTC, by the Gregorian calendar unless set: with as many digits of the second, three at least, as bring the same date back.
///
/// Of two such texts with years of four digits, the one of the earlier date sorts first.
struct DateText {
    /// Between the day and the time.
    let separator: UInt8
    /// Behind the time.
    let zone: String
    /// Of the second.
    var mostDigits = 18
    var calendar = CivilDate.Calendar.gregorian

    /// A `Date` counts seconds from here, 2001-01-01, as a floating-point number; others would cost its last bits.
    private static let referenceDay: Int64 = 11323
    /// The seconds that a `Double` has whole.
    private static let mostSeconds = 9e15

    /// Nil for a date that is no point in time, such as infinity.
    func string(_ date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        guard abs(seconds) < DateText.mostSeconds else { return nil }
        var whole = Int64(abs(seconds))
        var fraction = Fraction(of: abs(seconds), whole: whole, most: mostDigits)
        if seconds < 0 {
            whole = -whole
            if fraction.number > 0 {
                whole -= 1
                fraction.number = fraction.unit - fraction.number
            }
        }
        let (day, second) = whole.quotientAndRemainder(flooringBy: 86400)
        let date = CivilDate(day: day + DateText.referenceDay, in: calendar)
        var text = date.description
        text.unicodeScalars.append(Unicode.Scalar(separator))
        text += "\((second / 3600).padded(2)):\((second / 60 % 60).padded(2)):\((second % 60).padded(2))"
        return text + ".\(Int64(fraction.number).padded(fraction.digits))\(zone)"
    }

    /// The date that a text stands for: a day, alone or with hours and minutes, seconds, digits of the second, and a zone. It is read in all
    /// the forms in which SQLite's date functions read a day and a time (sqlite.org/lang_datefunc.html), and in those of ISO 8601 for a day
    /// of a month, with and without dashes and colons.
    static func date(_ text: String, in calendar: CivilDate.Calendar = .gregorian) -> Date? {
        var text = ArraySlice(text.utf8)
        guard let date = CivilDate(&text, in: calendar) else { return nil }
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

        /// The fewest digits that make `seconds` again with `whole`; the most where none do.
        init(of seconds: Double, whole: Int64, most: Int) {
            let part = seconds - Double(whole)
            for digits in [3, 6, 9, 12, 15] where digits < most {
                self.init(number: 0, digits: digits)
                number = min(UInt64((part * Double(unit)).rounded()), unit - 1)
                if Double(whole) + value == seconds { return }
            }
            self.init(number: 0, digits: most)
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

/// A day of a calendar.
struct CivilDate: CustomStringConvertible {
    enum Calendar {
        /// Also before it was introduced, as SQLite has it.
        case gregorian
        /// The Julian one before 1582-10-15, as Foundation's formatters have it.
        case gregorianSince1582
    }

    /// How years follow each other: a year that ends with its leap day begins on a 1st of March.
    private struct Years {
        let daysInEra: Int64
        let yearsInEra: Int64
        /// From 0000-03-01 to 1970-01-01.
        let daysBefore1970: Int64

        static let gregorian = Years(daysInEra: 146_097, yearsInEra: 400, daysBefore1970: 719_468)
        static let julian = Years(daysInEra: 1461, yearsInEra: 4, daysBefore1970: 719_470)
    }

    /// Days since 1970-01-01.
    let day: Int64
    private let year: Int64
    private let month: Int64
    private let dayOfMonth: Int64

    /// 1582-10-15.
    private static let firstGregorianDay: Int64 = -141_427

    init(day: Int64, in calendar: Calendar) {
        let isJulian = calendar == .gregorianSince1582 && day < CivilDate.firstGregorianDay
        self.init(day: day, isJulian ? .julian : .gregorian)
    }

    private init(day: Int64, _ years: Years) {
        self.day = day
        let (era, dayOfEra) = (day + years.daysBefore1970).quotientAndRemainder(flooringBy: years.daysInEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * years.yearsInEra + (month <= 2 ? 1 : 0)
    }

    /// Nil for a day that the calendar does not have.
    private init?(year: Int64, month: Int64, dayOfMonth: Int64, in calendar: Calendar) {
        guard (1...12).contains(month), (1...31).contains(dayOfMonth), abs(year) < 1_000_000_000 else { return nil }
        let isJulian = calendar == .gregorianSince1582 && (year, month, dayOfMonth) < (1582, 10, 15)
        let years = isJulian ? Years.julian : .gregorian
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: years.yearsInEra)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + dayOfMonth - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.init(day: era * years.daysInEra + dayOfEra - years.daysBefore1970, years)
        guard self.month == month, self.dayOfMonth == dayOfMonth else { return nil }
    }

    /// Reads `2026-11-24` or `20261124`; a year of more than four digits has a sign.
    init?(_ text: inout ArraySlice<UInt8>, in calendar: Calendar) {
        let sign = text.popFirst(ifAny: [UInt8(ascii: "+"), UInt8(ascii: "-")])
        let digits = text.prefix { (0x30...0x39).contains($0) }.count
        let hasDashes = sign != nil || digits != 8
        guard digits == 4 || !hasDashes || sign != nil && (4...9).contains(digits),
            let year = text.number(digits: hasDashes ? digits : 4),
            !hasDashes || text.popFirst(ifAny: [UInt8(ascii: "-")]) != nil, let month = text.number(digits: 2),
            !hasDashes || text.popFirst(ifAny: [UInt8(ascii: "-")]) != nil, let dayOfMonth = text.number(digits: 2)
        else { return nil }
        self.init(year: sign == UInt8(ascii: "-") ? -year : year, month: month, dayOfMonth: dayOfMonth, in: calendar)
    }

    var description: String {
        let sign = year < 0 ? "-" : year > 9999 ? "+" : ""
        return "\(sign)\(abs(year).padded(4))-\(month.padded(2))-\(dayOfMonth.padded(2))"
    }
}

extension Int64 {
    /// With zeros before it, up to this many digits.
    func padded(_ digits: Int) -> String {
        let text = String(self)
        return String(repeating: "0", count: Swift.max(0, digits - text.count)) + text
    }

    /// The remainder is never below zero.
    func quotientAndRemainder(flooringBy divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension ArraySlice<UInt8> {
    /// Takes the first byte if it is one of these.
    mutating func popFirst(ifAny bytes: [UInt8]) -> UInt8? {
        guard let first, bytes.contains(first) else { return nil }
        return popFirst()
    }

    /// Takes any number of these characters, and says whether there were any.
    @discardableResult
    mutating func dropAny(of characters: StaticString) -> Bool {
        let count = count
        let characters = UnsafeBufferPointer(start: characters.utf8Start, count: characters.utf8CodeUnitCount)
        self = drop(while: characters.contains)
        return self.count < count
    }

    /// Takes a number of this many digits.
    mutating func number(digits: Int) -> Int64? {
        let text = prefix(digits)
        guard text.count == digits, text.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self = dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
    }
}
