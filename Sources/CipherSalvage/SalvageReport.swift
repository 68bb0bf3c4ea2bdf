/// What was saved of one table of a damaged database.
public struct SalvagedTable: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// Rows in the new file.
    public internal(set) var rows = 0
    /// Rows that had a part on a lost page; they are not in the new file.
    public internal(set) var brokenRows = 0
    /// Rows that the table's constraints refused, because an older version of them was found too, or they are not what the
    /// table takes.
    public private(set) var refusedRows = 0
    /// Pages that are lost, with the rows on them or the numbers of other pages.
    public private(set) var lostPages = 0
    /// The rowids that may be missing, in tables that have them: those of the lost pages.
    public private(set) var missingRowIDs: [ClosedRange<Int64>] = []

    /// Whether nothing is missing.
    public var isComplete: Bool { brokenRows == 0 && refusedRows == 0 && lostPages == 0 }

    init(name: String) {
        self.name = name
    }

    mutating func count(_ wasInserted: Bool) {
        if wasInserted { rows += 1 } else { refusedRows += 1 }
    }

    mutating func note(_ outcome: RowSalvage.Outcome, hasRowIDs: Bool) {
        brokenRows += outcome.brokenRows
        lostPages += outcome.gaps.count
        guard hasRowIDs else { return }
        missingRowIDs = outcome.gaps.compactMap { gap in
            let first = gap.low.map { $0 == .max ? $0 : $0 + 1 } ?? .min
            let last = gap.high ?? .max
            return first <= last ? first...last : nil
        }
    }
}

/// A virtual table, such as a full-text index, whose own tables were damaged and that was made again.
public struct RemadeTable: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// Whether its content is lost; otherwise it was made from the rows that were saved.
    public let isEmpty: Bool
}

/// An object of the schema that is not in the new file.
public struct SkippedObject: Sendable, Equatable {
    /// Its name.
    public let name: String
    /// The engine's message.
    public let reason: String
}
