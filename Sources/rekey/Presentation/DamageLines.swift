import Rekeying

/// The damaged pages of a file as the commands print them for people: those that are there, and those that are not.
enum DamageLines {
    /// - Parameters:
    ///   - damaged: The numbers of all pages that are not what was written, ascending.
    ///   - missing: Those of them that the file does not have, which are its last.
    static func of(damaged: [Int], missing: [Int]) -> [(String, String)] {
        let present = damaged.dropLast(missing.count)
        let lines = [("damaged", present.isEmpty ? "none" : "\(PageNumbers(present))")]
        guard let first = missing.first else { return lines }
        return lines + [("missing", "\(PageNumbers(missing)), the file ends at page \(first - 1)")]
    }
}
