import ArgumentParser
import CipherDB
internal import CipherSystem
import Rekeying

/// `rekey recover FILE DESTINATION`
struct Recover: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy what is readable of a damaged database to a new file.",
        discussion: """
            Reads every page whose MAC is valid and leaves the damaged file unchanged. Reports missing pages, \
            missing rows and the rowids that they may have had. Rows of unknown tables go to the table \
            `lost_and_found` of the new file; damaged full-text indexes are rebuilt. Keeps the key unless a new one is given.
            """
    )

    @OptionGroup var options: NewFileOptions

    func run() throws {
        try options.run { database, key, newKey, progress in
            let found = try database.recover(key: key, to: options.destination, newKey: newKey, progress: progress.show)
            OldFormatNote.tell(options.destination, found.file)
            return Report.Result(
                RecoveryObject(found),
                lines: RecoveryObject.lines(found),
                status: found.isComplete ? .done : .damaged
            )
        }
    }
}

/// A recovery as the command prints it.
private struct RecoveryObject: Encodable {
    let format: Int?
    let pageSize: Int
    let pages: Int
    let damagedPages: [Int]
    let missingPages: Int?
    let tables: [Table]
    let schemaWhole: Bool
    let unassignedRows: Int
    let unassignedTable: String?
    let madeAgain: [MadeAgain]
    let notMade: [String]
    let problems: [String]
    let notChecked: [String]?
    let ok: Bool

    struct MadeAgain: Encodable {
        let name: String
        let empty: Bool
    }

    struct Table: Encodable {
        let name: String
        let rows: Int
        let brokenRows: Int
        let refusedRows: Int
        let lostPages: Int
        let missing: [[Int64]]
    }

    init(_ found: Recovery) {
        format = found.file.format?.version
        pageSize = found.file.pageSize
        pages = found.file.pages
        damagedPages = found.damagedPages
        missingPages = found.missingPages.isEmpty ? nil : found.missingPages.count
        tables = found.tables.map { table in
            Table(
                name: table.name,
                rows: table.rows,
                brokenRows: table.brokenRows,
                refusedRows: table.refusedRows,
                lostPages: table.lostPages,
                missing: table.missingRowIDs.map { [$0.lowerBound, $0.upperBound] }
            )
        }
        schemaWhole = found.isSchemaWhole
        unassignedRows = found.unassignedRows?.rows ?? 0
        unassignedTable = found.unassignedRows?.name
        madeAgain = found.remadeTables.map { MadeAgain(name: $0.name, empty: $0.isEmpty) }
        notMade = found.failures.map(\.name)
        problems = found.problems
        notChecked = UncheckedLines.object(found.file.unchecked)
        ok = found.isComplete
    }

    static func lines(_ found: Recovery) -> [(String, String)] {
        var lines = ReplacementObject.lines(found.file)
        lines += DamageLines.of(damaged: found.damagedPages, missing: found.missingPages)
        lines += found.tables.map { ("table \($0.name)", text($0)) }
        lines.append(
            ("schema", found.isSchemaWhole ? "whole" : "incomplete: tables, columns or indexes may be missing")
        )
        if let unassigned = found.unassignedRows {
            lines.append(("not assigned", "\(unassigned.rows.counted("row")), in the table \(unassigned.name)"))
        }
        lines += found.remadeTables.map {
            (
                "made again",
                $0.isEmpty ? "\($0.name), empty: its content is lost" : "\($0.name), from the rows that were saved"
            )
        }
        lines += found.failures.map { ("not made", "\($0.name): \($0.reason)") }
        lines += found.problems.map { ("problem", $0) }
        lines.append(("result", found.isComplete ? "nothing is missing" : "something is missing"))
        return lines
    }

    private static func text(_ table: SalvagedTable) -> String {
        var parts = [table.rows.counted("row")]
        if table.lostPages > 0 { parts.append("\(table.lostPages.counted("page")) lost") }
        if table.brokenRows > 0 { parts.append("\(table.brokenRows.counted("row")) incomplete") }
        if table.refusedRows > 0 { parts.append("\(table.refusedRows.counted("row")) refused") }
        if !table.missingRowIDs.isEmpty {
            let ranges = table.missingRowIDs.prefix(5).map { range in
                switch (range.lowerBound, range.upperBound) {
                case (.min, .max): "with any rowid"
                case (.min, let last): "up to \(last)"
                case (let first, .max): "from \(first)"
                case (let first, let last): "\(first) to \(last)"
                }
            }
            let more =
                table.missingRowIDs.count > 5 ? " and \((table.missingRowIDs.count - 5).counted("more range"))" : ""
            parts.append("may lack rows \(ranges.joined(separator: ", "))\(more)")
        }
        return parts.joined(separator: "; ")
    }
}
