import CipherDB
internal import CipherSystem
import Rekeying

/// A verification as `verify` and `change` print it.
struct VerificationObject: Encodable {
    let format: Int
    let pageSize: Int
    let parameters: FormatObject
    let pages: Int
    let damagedPages: [Int]
    let missingPages: Int?
    let problems: [String]
    let notChecked: [String]?
    let ok: Bool
    let keyRetired: String?
    let isKeyringOld: Bool?

    init(_ found: Verification, keyRetired: String?, isKeyringOld: Bool = false) {
        format = found.format.version
        pageSize = found.format.pageSize
        parameters = FormatObject(found.format)
        pages = found.pages
        damagedPages = found.damagedPages
        missingPages = found.missingPages.isEmpty ? nil : found.missingPages.count
        problems = found.problems
        notChecked = UncheckedLines.object(found.unchecked)
        ok = found.isSound
        self.keyRetired = keyRetired
        self.isKeyringOld = isKeyringOld ? true : nil
    }

    /// - Parameters:
    ///   - keyRetired: The day on which the key of the keyring was retired that the file is under.
    ///   - isKeyringOld: Whether the database was used with a newer copy of the keyring.
    static func result(
        prefix: [(String, String)] = [],
        _ found: Verification,
        keyRetired: String? = nil,
        isKeyringOld: Bool = false
    ) -> Report.Result {
        let notes = [
            keyRetired.map { "under a retired key of the keyring, replaced on \($0): a copy from before a rotation" },
            isKeyringOld ? "the keyring is an old copy: the database was used with a newer one" : nil,
        ]
        return Report.Result(
            VerificationObject(found, keyRetired: keyRetired, isKeyringOld: isKeyringOld),
            lines: prefix + lines(found) + notes.compactMap { $0 }.map { ("note", $0) },
            status: found.isSound ? .done : .damaged
        )
    }

    private static func lines(_ found: Verification) -> [(String, String)] {
        var lines = [
            ("format", found.format.nameAndDifferences),
            ("pages", "\(found.pages) of \(found.format.pageSize) bytes"),
        ]
        lines += DamageLines.of(damaged: found.damagedPages, missing: found.missingPages)
        if found.format.pageAuthentication == nil { lines.append(FormatObject.noteOnMACs) }
        lines += found.problems.map { ("problem", $0) } + UncheckedLines.of(found.unchecked)
        lines.append(("sound", found.isSound ? "yes" : "no"))
        return lines
    }
}

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

/// What was not checked, because only the program has the functions, collations, modules or tokenizers for it.
enum UncheckedLines {
    static func of(_ unchecked: [String]) -> [(String, String)] { unchecked.map { ("not checked", $0) } }

    /// For JSON, which leaves an empty list out.
    static func object(_ unchecked: [String]) -> [String]? { unchecked.isEmpty ? nil : unchecked }
}
