/// The kinds of pages of a database (sqlite.org/fileformat.html, section 1.2).
public enum PageKind: String, Sendable, CaseIterable {
    /// Rows of tables.
    case tableLeaf
    /// The way to rows.
    case tableInterior
    /// Entries of indexes, and rows of WITHOUT ROWID tables.
    case indexLeaf
    /// The way to entries.
    case indexInterior
    /// What did not fit into a row's page, and the pointer map of `auto_vacuum`.
    case overflow
    /// Not used at present.
    case free
    /// Not what was written.
    case damaged
}

extension PageKind {
    /// The kind of a page of a b-tree; nil for another flag.
    ///
    /// > The one-byte flag at offset 0 indicating the b-tree page type; on page 1 behind the header of 100 bytes.
    package init?(bTreeFlag: UInt8) {
        switch bTreeFlag {
        case 0x02: self = .indexInterior
        case 0x05: self = .tableInterior
        case 0x0a: self = .indexLeaf
        case 0x0d: self = .tableLeaf
        default: return nil
        }
    }

    package var isTable: Bool { self == .tableInterior || self == .tableLeaf }
    package var isLeaf: Bool { self == .tableLeaf || self == .indexLeaf }
}
