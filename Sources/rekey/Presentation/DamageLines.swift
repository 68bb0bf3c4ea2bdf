internal import CipherSystem

/// The damaged pages of a file as the commands print them for people: those that are there, and those that are not.
enum DamageLines {
    /// - Parameters:
    ///   - damaged: The numbers of the pages that are not what was written, ascending.
    ///   - missing: The pages that the file does not have; some of them may be among the others.
    static func of(damaged: [Int], missing: Range<Int>) -> [(String, String)] {
        let present = damaged.filter { !missing.contains($0) }
        let lines = [("damaged", present.isEmpty ? "none" : NumberRanges(present).text(of: "page"))]
        guard let first = missing.first else { return lines }
        let pages = NumberRanges([ClosedRange(missing)]).text(of: "page")
        return lines + [("missing", "\(pages); the file has \((first - 1).counted("whole page"))")]
    }
}
