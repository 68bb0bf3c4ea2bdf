internal import CipherPages
internal import SQLiteFormat

/// Finds the rows of a damaged database on those of its pages that are authentic.
///
/// A tree is followed from its root. Where a page of it is lost, so are the ways to the pages below; those are found
/// afterwards, among the leaves that no tree led to.
final class RowSalvage {
    /// A row as it was stored.
    struct Row {
        /// Nil in WITHOUT ROWID tables.
        let rowID: Int64?
        let values: [StoredValue]
    }

    /// What a lost page held: the rows whose identifiers are above `low` and not above `high`; nil where there is no limit.
    struct Gap: Sendable {
        let low: Int64?
        let high: Int64?

        func contains(_ rowID: Int64) -> Bool {
            (low.map { rowID > $0 } ?? true) && (high.map { rowID <= $0 } ?? true)
        }
    }

    /// What following a tree came to.
    struct Outcome: Sendable {
        var rows = 0
        /// Rows that have a part on a page that is lost.
        var brokenRows = 0
        var gaps: [Gap] = []
    }

    private let pages: AuthenticPages
    private let kinds: [PageKind]
    /// Which walk came by a page last; 0 for none.
    private var walks: [UInt32]
    private var walk: UInt32 = 0

    init(_ pages: AuthenticPages, kinds: [PageKind]) {
        self.pages = pages
        self.kinds = kinds
        walks = Array(repeating: 0, count: kinds.count + 1)
    }

    /// Calls `body` with each row of the tree that has its root on page `root`.
    func follow(_ root: Int, isTable: Bool, _ body: (Row) throws -> Void) throws -> Outcome {
        walk += 1
        var outcome = Outcome()
        try follow(root, isTable, Gap(low: nil, high: nil), depth: 0, &outcome, body)
        return outcome
    }

    /// > The depth of a b-tree is limited to 20.
    private static let mostDepth = 20

    private func follow(
        _ number: Int,
        _ isTable: Bool,
        _ range: Gap,
        depth: Int,
        _ outcome: inout Outcome,
        _ body: (Row) throws -> Void
    ) throws {
        guard depth <= RowSalvage.mostDepth, walks.indices.contains(number), walks[number] != walk,
            let page = try pages.treePage(number), page.kind.isTable == isTable
        else {
            outcome.gaps.append(range)
            return
        }
        walks[number] = walk
        var low = range.low
        for index in 0..<page.cellCount {
            guard let cell = page.cell(index) else {
                if page.kind.isLeaf { outcome.brokenRows += 1 } else { outcome.gaps.append(range) }
                continue
            }
            if let child = cell.leftChild {
                let part = Gap(low: low, high: cell.rowID ?? range.high)
                try follow(child, isTable, part, depth: depth + 1, &outcome, body)
                low = cell.rowID ?? low
            }
            try deliver(cell, &outcome, body)
        }
        if let child = page.rightChild {
            try follow(child, isTable, Gap(low: low, high: range.high), depth: depth + 1, &outcome, body)
        }
    }

    private func deliver(_ cell: BTreePage.Cell, _ outcome: inout Outcome, _ body: (Row) throws -> Void) throws {
        guard let payload = cell.payload else { return }
        guard let values = try pages.values(payload) else {
            outcome.brokenRows += 1
            return
        }
        outcome.rows += 1
        try body(Row(rowID: cell.rowID, values: values))
    }

    /// The pages with rows that no tree led to, and that are not free: leaves of tables, or of indexes and WITHOUT ROWID tables.
    func strays(ofTables: Bool) -> [Int] {
        kinds.indices.map { $0 + 1 }.filter { number in
            guard walks[number] == 0 else { return false }
            return switch kinds[number - 1] {
            case .tableLeaf: ofTables
            case .indexLeaf, .indexInterior: !ofTables
            default: false
            }
        }
    }

    /// The rows that stand on one page, and how many of them have a part that is lost.
    func rows(on number: Int) throws -> (rows: [Row], brokenRows: Int) {
        guard let page = try pages.treePage(number) else { return ([], 0) }
        var outcome = Outcome()
        var rows: [Row] = []
        for index in 0..<page.cellCount {
            guard let cell = page.cell(index) else {
                outcome.brokenRows += 1
                continue
            }
            try deliver(cell, &outcome) { rows.append($0) }
        }
        return (rows, outcome.brokenRows)
    }

    /// False where the page is known, and is none of such a tree.
    func mayBeRoot(_ number: Int, isTable: Bool) -> Bool {
        guard kinds.indices.contains(number - 1) else { return true }
        return switch kinds[number - 1] {
        case .damaged: true
        case .tableLeaf, .tableInterior: isTable
        case .indexLeaf, .indexInterior: !isTable
        case .overflow, .free: false
        }
    }

    /// Takes a page for found, so that it is no stray any more.
    func claim(_ number: Int) {
        walks[number] = max(walk, 1)
    }
}
