/// A day of the Gregorian calendar, also before it was introduced.
struct CivilDate: CustomStringConvertible {
    /// Days since 1970-01-01.
    let day: Int64
    private let year: Int64
    private let month: Int64
    private let dayOfMonth: Int64

    private static let daysInEra: Int64 = 146_097
    /// From 0000-03-01, where a year that ends with its leap day begins, to 1970-01-01.
    private static let daysBefore1970: Int64 = 719_468

    init(day: Int64) {
        self.day = day
        let (era, dayOfEra) = (day + CivilDate.daysBefore1970).quotientAndRemainder(flooringBy: CivilDate.daysInEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Nil for a day that the calendar does not have.
    private init?(year: Int64, month: Int64, dayOfMonth: Int64) {
        guard (1...12).contains(month), (1...31).contains(dayOfMonth), abs(year) < 1_000_000_000 else { return nil }
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(flooringBy: 400)
        let monthFromMarch = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + dayOfMonth - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        self.init(day: era * CivilDate.daysInEra + dayOfEra - CivilDate.daysBefore1970)
        guard self.month == month, self.dayOfMonth == dayOfMonth else { return nil }
    }

    /// Reads `2026-11-24` or `20261124`; a year of more than four digits has a sign.
    init?(_ text: inout ArraySlice<UInt8>) {
        let sign = text.popFirst(ifAny: [UInt8(ascii: "+"), UInt8(ascii: "-")])
        let digits = text.prefix { (0x30...0x39).contains($0) }.count
        let hasDashes = sign != nil || digits != 8
        guard digits == 4 || !hasDashes || sign != nil && (4...9).contains(digits),
            let year = text.number(digits: hasDashes ? digits : 4),
            !hasDashes || text.popFirst(ifAny: [UInt8(ascii: "-")]) != nil, let month = text.number(digits: 2),
            !hasDashes || text.popFirst(ifAny: [UInt8(ascii: "-")]) != nil, let dayOfMonth = text.number(digits: 2)
        else { return nil }
        self.init(year: sign == UInt8(ascii: "-") ? -year : year, month: month, dayOfMonth: dayOfMonth)
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
