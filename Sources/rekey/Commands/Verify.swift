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

/// A file as a picture: one cell for a page, or for as many as must share one.
struct PagePicture {
    private let kinds: [PageKind]
    private let missing: Int
    private let pagesPerCell: Int

    /// - Parameters:
    ///   - kinds: Of each page that the file has.
    ///   - missing: How many it does not have. They are counted only, because nobody knows what they were.
    ///   - cells: At most so many are drawn.
    init(_ kinds: [PageKind], missing: Int, cells: Int) {
        self.kinds = kinds
        self.missing = missing
        pagesPerCell = max(1, (kinds.count + cells - 1) / cells)
    }

    /// What stands for a kind: a letter where there are no colours, the colour of a terminal (of 256), and that of a drawing.
    private static func look(_ kind: PageKind) -> (letter: Character, terminal: Int, drawing: String, name: String) {
        switch kind {
        case .tableLeaf: ("T", 33, "#1f77b4", "rows")
        case .tableInterior: ("t", 24, "#0b3d61", "tables' inner pages")
        case .indexLeaf: ("I", 71, "#5aa84f", "index entries")
        case .indexInterior: ("i", 28, "#245c1d", "indexes' inner pages")
        case .overflow: ("o", 179, "#d6a84a", "overflow")
        case .free: (".", 250, "#cccccc", "free")
        case .damaged: ("X", 196, "#e5002b", "damaged")
        }
    }

    /// The kind that a cell shows: damage wherever there is any, else what most of its pages are.
    private var cells: [PageKind] {
        stride(from: 0, to: kinds.count, by: pagesPerCell).map { start in
            let part = kinds[start...].prefix(pagesPerCell)
            if part.contains(.damaged) { return .damaged }
            let counts = Dictionary(grouping: part) { $0 }.mapValues(\.count)
            return PageKind.allCases.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? .free
        }
    }

    private var legend: [(kind: PageKind, count: Int)] {
        PageKind.allCases.map { kind in (kind, kinds.count { $0 == kind }) }.filter { $0.count > 0 }
    }

    /// Lines for a terminal, coloured or in letters.
    func text(width: Int, coloured: Bool) -> String {
        func cell(_ kind: PageKind) -> String {
            let look = PagePicture.look(kind)
            return coloured ? "\u{1b}[38;5;\(look.terminal)m█\u{1b}[0m" : String(look.letter)
        }
        let cells = cells
        var lines = stride(from: 0, to: cells.count, by: width).map { start in
            cells[start...].prefix(width).map(cell).joined()
        }
        lines.append("")
        lines += legend.map { "\(cell($0.kind)) \(PagePicture.look($0.kind).name): \($0.count)" }
        if missing > 0 { lines.append("missing: \(missing), not drawn") }
        if pagesPerCell > 1 { lines.append("one place for \(pagesPerCell) pages; damage shows wherever there is any") }
        return lines.joined(separator: "\n")
    }

    /// A drawing, with each cell's pages in its title.
    func svg() -> String {
        let cells = cells
        let width = max(16, Int(Double(cells.count).squareRoot().rounded(.up)))
        let rows = (cells.count + width - 1) / width
        var lines = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" font-size=\"8\" "
                + "viewBox=\"0 0 \(width * 8) \(rows * 8 + 12 * (legend.count + (missing > 0 ? 1 : 0)) + 8)\">"
        ]
        for (index, kind) in cells.enumerated() {
            let first = index * pagesPerCell + 1
            let last = min(first + pagesPerCell - 1, kinds.count)
            let look = PagePicture.look(kind)
            lines.append(
                "<rect x=\"\(index % width * 8)\" y=\"\(index / width * 8)\" width=\"7\" height=\"7\" fill=\"\(look.drawing)\">"
                    + "<title>\(first == last ? "page \(first)" : "pages \(first) to \(last)"): \(look.name)</title></rect>"
            )
        }
        for (index, entry) in legend.enumerated() {
            let look = PagePicture.look(entry.kind)
            let top = rows * 8 + 8 + index * 12
            lines.append("<rect x=\"0\" y=\"\(top)\" width=\"7\" height=\"7\" fill=\"\(look.drawing)\"/>")
            lines.append("<text x=\"12\" y=\"\(top + 7)\">\(look.name): \(entry.count)</text>")
        }
        if missing > 0 {
            lines.append(
                "<text x=\"12\" y=\"\(rows * 8 + 15 + legend.count * 12)\">missing: \(missing), not drawn</text>"
            )
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }
}
