public import CipherDB
internal import CipherKeys
internal import CipherPages

/// What a page of a database is.
public enum PageKind: String, Sendable, CaseIterable {
    /// Rows of tables.
    case tableLeaf
    /// The way to rows.
    case tableInterior
    /// Entries of indexes, and rows of tables without row identifiers.
    case indexLeaf
    /// The way to entries.
    case indexInterior
    /// What did not fit into a row's page, and the pointer map of `auto_vacuum`.
    case overflow
    /// Not used at present.
    case free
    /// Not what was written.
    case damaged

    init(_ kind: PageMap.Kind) {
        self =
            switch kind {
            case .tableLeaf: .tableLeaf
            case .tableInterior: .tableInterior
            case .indexLeaf: .indexLeaf
            case .indexInterior: .indexInterior
            case .overflow: .overflow
            case .free: .free
            case .damaged: .damaged
            }
    }
}

extension DatabaseFile {
    /// What each page of the file is, from page 1 on.
    ///
    /// - Parameters:
    ///   - key: The key that the file has.
    ///   - progress: Called about every mebibyte; what it throws ends it.
    /// - Throws: `KeyError` where the key or the file is wrong as a whole; ``FileProblem``; `DatabaseError`.
    public func map(
        key: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> [PageKind] {
        let database = try open()
        defer { database.close() }
        let fit = try fit(key, to: database)
        return try database.mapPages(fit.unlocked) {
            try progress(FileProgress(.checking, pages: $0, of: $1, size: fit.unlocked.format.pageSize))
        }.map { PageKind($0) }
    }
}
