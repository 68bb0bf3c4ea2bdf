import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// `rekey verify FILE…`
struct Verify: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check the MAC of every page, then run SQLite's integrity check.",
        discussion: "Does not change the file, except that SQLite rolls back a hot journal first."
    )

    @Argument(help: "The database files.", completion: .file())
    var files: [String]
    @Flag(help: "Skip SQLite's integrity check (several times slower than the page check).")
    var pagesOnly = false
    @Flag(help: "Print a map of the file's pages before the result.")
    var map = false
    @Option(
        help: ArgumentHelp("Write a map of the file's pages to a new SVG file.", valueName: "path"),
        completion: .file()
    )
    var mapSvg: String?
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    func validate() throws {
        if mapSvg != nil, files.count > 1 { throw ValidationError("--map-svg needs exactly one database file.") }
        if mapSvg.map(OutputFile.isTaken) == true {
            throw ValidationError("--map-svg: the file exists already; give another name.")
        }
        if map, report.json { throw ValidationError("--map and --json exclude each other.") }
    }

    func run() throws {
        let keys = FileKeys(key)
        try report.run(files) { file, progress in
            let (found, secret, retired) = try keys.verify(
                file,
                checksStructure: !pagesOnly,
                progress: progress.show
            )
            try draw(file, found, secret, progress)
            let isOld = try keys.unlockedKeyring().map { try key.database(file).hasUsedNewer(than: $0, under: secret) }
            return VerificationObject.result(found, keyRetired: retired, isKeyringOld: isOld == true)
        }
    }

    private func draw(_ file: String, _ found: Verification, _ secret: DatabaseKey, _ progress: Progress) throws {
        guard map || mapSvg != nil else { return }
        // A part of a page at the end of the file counts as missing.
        let kinds = try key.database(file).map(key: secret, progress: progress.show).prefix(found.pages)
        let missing = found.missingPages.count
        if map {
            let isTerminal = isatty(STDOUT_FILENO) == 1
            try Output.write(
                PagePicture(Array(kinds), missing: missing, cells: 64 * 32).text(width: 64, coloured: isTerminal)
                    + "\n\n"
            )
        }
        if let mapSvg {
            try OutputFile.write(PagePicture(Array(kinds), missing: missing, cells: 128 * 128).svg(), to: mapSvg)
        }
    }
}

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
