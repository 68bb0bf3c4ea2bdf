public import CipherDB
internal import CipherKeys
internal import CipherPages
public import CipherSalvage
internal import CipherSystem
internal import SQLiteFormat

/// What was saved of a damaged database, and what is missing.
public struct Recovery: Sendable, Equatable {
    /// The new file.
    public let file: RewriteResult
    /// The numbers of the pages of the old file that are not what was written, from 1. Of those that it does not have, the first thousand.
    public let damagedPages: [Int]
    /// Those of them that the file does not have, because it ends early: all that its header counts.
    public let missingPages: Range<Int>
    /// Each table with pages of its own, in the order of the schema; those of virtual tables are among them.
    public let tables: [SalvagedTable]
    /// Whether the definitions of all tables, indexes, views and triggers were found, and have all columns of the rows and all pages.
    public let isSchemaWhole: Bool
    /// The table `lost_and_found` of the rows whose table is not known, in the form of SQLite's own `.recover`: the page, the number of
    /// fields, the rowid, and the fields. Nil where there are none.
    public let unassignedRows: SalvagedTable?
    /// Virtual tables, such as full-text indexes, that were made again, because their own tables were damaged.
    public let remadeTables: [RemadeTable]
    /// What is defined in the schema and could not be made, such as a unique index on rows that are not unique any more.
    public let failures: [SkippedObject]
    /// What is wrong with the journal or log of the old file, and what SQLite's own integrity check finds in the new one, a
    /// line each.
    public let problems: [String]

    /// Whether nothing is missing.
    public var isComplete: Bool {
        isSchemaWhole && unassignedRows == nil && failures.isEmpty && problems.isEmpty
            && tables.allSatisfy(\.isComplete) && remadeTables.allSatisfy { !$0.isEmpty }
    }
}

extension DatabaseFile {
    /// Saves what can be read of a damaged database into a new encrypted file. The damaged one stays as it is.
    ///
    /// Rows are read from every page that is authentic, by this library and not by the engine, which gives up at the first
    /// that is not. Where the way to a page is lost, its rows are given to the one table that they can be of; else they
    /// are in a table `lost_and_found`. Indexes are rebuilt, each in memory, full-text indexes too where
    /// their content is there; one that takes more than the configuration's `statementMemoryLimit` is named as missing. A WAL is read
    /// as far as it goes, and a transaction that was cut off is left out. In format 1, which cannot tell damage, pages are taken as they are.
    ///
    /// The new file has a salt of its own, unless a raw key brings one, and is its owner's alone.
    ///
    /// - Parameters:
    ///   - key: The key of the database.
    ///   - destination: The path of the new file; no file may exist there.
    ///   - newKey: The key of the new file; nil for the same.
    ///   - progress: Called about every mebibyte, or thousand rows; what it throws ends it, and nothing is left of it.
    /// - Throws: `KeyError`, also `KeyError.wrongKey` where no page at all is authentic; ``FileError``;
    ///   `DatabaseError` with `busy` where somebody else uses the database.
    public func recover(
        key: DatabaseKey,
        to destination: String,
        newKey: DatabaseKey? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Recovery {
        try limitingWaits {
            try checkFree(destination)
            let file = try open()
            defer { file.close() }
            let found = try authenticate(key, file)
            let present = found.verifiedKey
            var errors: [String] = []
            var ignored: SideFile?
            switch found.damage {
            case .sideFiles(let found): errors = found
            case .sideFileUnderOtherKey(let side):
                ignored = side
                errors = ["\(file.underOtherKey(side).sentence)"]
            case .none, .firstPage, .header: break
            }
            // Who may not write here cannot lock, either; from a medium for reading only it is not needed.
            let lock = Platform.mayWrite(path) ? try lockExclusively() : nil
            defer { lock?.release() }
            let pages = try AuthenticPages(
                file.pages.newestAfterRecovery(
                    pageSize: present.format.pageSize,
                    log: errors.isEmpty ? .valid : .all,
                    ignoring: ignored
                ),
                key: present.key,
                format: present.format
            )
            let map = try PageMap(pages.source, key: present.key, format: present.format) {
                try progress(FileProgress(.checking, pages: $0, of: $1, size: present.format.pageSize))
            }
            let content = try SalvagedContent(pages, map)
            let newKey = newKey ?? key
            let next = try VerifiedKey(
                replacementUnder: newKey,
                format: try formatOfNewFile(present, newKey),
                like: present
            )
            let size = Int64(pages.count) * Int64(present.format.pageSize)
            let missing = try pages.missing()
            var problems = errors
            if case .header(let flaw) = found.damage { problems.append("page 1 is damaged: \(flaw)") }
            problems += try cutOffTransaction(pages)
            let made = try makeNew(at: destination, next, from: present, progress) { path in
                let target = try openNew(
                    path,
                    next,
                    pageSize: next.format.pageSize,
                    memoryLimit: configuration.statementMemoryLimit
                )
                try ContentCopy(source: content, target: target, pageSize: next.format.pageSize).run {
                    try progress(FileProgress(.writing, done: min($0, size), all: size))
                }
                target.close()
                var new = DatabaseFile(path: path)
                new.configuration = configuration
                try VirtualTableRepair(content) { [new] in try new.database(under: next, forWriting: true) }.run()
                if content.isLogged {
                    let database = try new.database(under: next, forWriting: true)
                    defer { database.close() }
                    try database.executeStatements("PRAGMA journal_mode = WAL")
                }
                let found = try checkNew(path, next, progress)
                problems += found.problems
                return found.unchecked
            }
            let lostPages = map.kinds.indices.filter { map.kinds[$0] == .damaged }.map { $0 + 1 }
            let damaged = try PageScan.listed(lostPages, in: pages.source)
            let whole = try Int(pages.source.size()) / present.format.pageSize
            let lost = PageScan.Result(pages: whole, damaged: damaged, missing: missing)
            return Recovery(
                file: made,
                damagedPages: lost.listed,
                missingPages: lost.absent,
                tables: content.tables,
                isSchemaWhole: content.isSchemaWhole,
                unassignedRows: content.unassignedRows,
                remadeTables: content.remadeTables,
                failures: content.failures,
                problems: problems
            )
        }
    }

    /// The same format, where the engine can write it; else the engine's own. A raw key could not be verified in a format without MACs.
    private func formatOfNewFile(_ present: VerifiedKey, _ newKey: DatabaseKey) throws -> CipherFormat {
        let canStay = newKey.isPassphrase || present.format.pageAuthentication != nil
        guard canStay, Engine.current.writes(present.format) else { return try Engine.current.ownFormat() }
        // SQLCipher 4 cannot run VACUUM in a file with such pages.
        return present.format.pageSize == 512 ? try present.format.changed { $0.pageSize = 1024 } : present.format
    }
}
