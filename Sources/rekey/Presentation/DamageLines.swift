import Rekeying

/// The damaged pages of a file as the commands print them for people: those that are there, and those that are not.
enum DamageLines {
    /// - Parameters:
    ///   - damaged: The numbers of the pages that are not what was written, ascending.
    ///   - missing: The pages that the file does not have; some of them may be among the others.
    static func of(damaged: [Int], missing: Range<Int>) -> [(String, String)] {
        let present = damaged.filter { !missing.contains($0) }
        let lines = [("damaged", present.isEmpty ? "none" : "\(PageNumbers(present))")]
        guard let first = missing.first else { return lines }
        return lines + [("missing", "\(PageNumbers([Int](), missing)); the file has \(first - 1) whole pages")]
    }
}
