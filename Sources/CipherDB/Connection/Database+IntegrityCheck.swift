internal import CipherKeys

extension Database {
    /// Checks the whole main database, as it is now: the MAC of every page, then SQLite's integrity check, then whether each full-text index
    /// is that of its table.
    ///
    /// It reads every page twice, and writers of a database without a WAL wait for it. Full-text indexes need the lock of a writer; on a
    /// connection that only reads, the numbers of their rows are compared with the table's, not their words.
    ///
    /// - Returns: What is found, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with `KeyError.damaged` where pages are not what was written; ``DatabaseError``, also where
    ///   nothing is found and the connection lacks a function, collation, module or tokenizer that the check needs.
    public func integrityCheck() throws -> [String] {
        let stay = try turn.enter()
        defer { turn.leave(stay) }
        // In one transaction, so that no page is written between the two.
        func check(_ undo: inout Bool) throws -> [String] {
            // SQLite 3.44 writes, to look at an index of FTS4; to observers it would be a change.
            undo = try fullTextIndexes().contains { $0.module != .fts5 }
            return try structureProblems()
        }
        let problems = try isInTransaction ? structureProblems() : inTransaction(.deferred) { try check(&$1) }
        // A transaction that has read cannot always get the lock of a writer.
        return try problems + takingLong(fullTextProblems)
    }

    private func structureProblems() throws -> [String] { try takingLong(findStructureProblems) }

    private func findStructureProblems() throws -> [String] {
        _ = try int(forQuery: "SELECT count(*) FROM sqlite_master")
        if let verifiedKey, verifiedKey.format.pageAuthentication != nil {
            let connection = try usableConnection()
            let damaged = try StoredPages(connection).damagedPages(verifiedKey)
            guard damaged.isEmpty else { throw damage(damaged, connection) }
        }
        let found = try checkStructure()
        guard found.problems.isEmpty, !found.unchecked.isEmpty else { return found.problems }
        throw DatabaseError(
            .error,
            "no damage was found, and not all could be checked: \(found.unchecked.joined(separator: "; ")); "
                + "make what is missing in Configuration.prepareDatabase"
        )
    }
}

extension DatabaseReader {
    /// Checks the whole main database, as it is now: the MAC of every page, SQLite's integrity check, and full-text indexes, whose words the
    /// writer compares with those of their tables; see ``Database/integrityCheck()``.
    ///
    /// - Returns: What is found, a line each; none for a sound database.
    /// - Throws: ``KeyError`` with `KeyError.damaged` where pages are not what was written; ``DatabaseError``.
    public func integrityCheck() throws -> [String] {
        let (problems, hasIndexes) = try read { (try $0.integrityCheck(), try $0.hasFullTextIndexes) }
        guard hasIndexes, let writer = self as? any DatabaseWriter else { return problems }
        return problems + (try writer.inDatabase { try $0.fullTextProblems() }).filter { !problems.contains($0) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError`.
    public func integrityCheck() async throws -> [String] {
        let (problems, hasIndexes) = try await read { (try $0.integrityCheck(), try $0.hasFullTextIndexes) }
        guard hasIndexes, let writer = self as? any DatabaseWriter else { return problems }
        return problems + (try await writer.inDatabase { try $0.fullTextProblems() }).filter { !problems.contains($0) }
    }
}

/// What SQLite's integrity check has found, and what it could not look at.
package struct StructureCheck {
    /// A line each; empty where nothing is wrong.
    package fileprivate(set) var problems: [String]
    /// What needs functions, collations, modules or tokenizers that the connection lacks, a line each. It is no damage.
    package fileprivate(set) var unchecked: [String] = []

    package init(problems: [String] = []) {
        self.problems = problems
    }
}

extension Database {
    /// Runs SQLite's integrity check over the main database.
    ///
    /// SQLite does not begin it where a table needs what only the program has. Then it is run for one table after the other, and what
    /// cannot be compared is named. On a connection that only reads, SQLite does not look at CHECK constraints at all.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    package func checkStructure() throws -> StructureCheck {
        let virtual = try missingInVirtualTables()
        var found = StructureCheck()
        let (problems, missing) = try checkedLines(of: nil, isPartial: !virtual.isEmpty)
        found.problems = problems
        if missing != nil, Engine.checksSingleTables {
            let tables = try fetchAll(String.self, "SELECT name FROM main.sqlite_master WHERE type = 'table'")
            for table in ["sqlite_master"] + tables where virtual[table] == nil {
                let (problems, missing) = try checkedLines(of: table, isPartial: false)
                found.problems += problems.filter { !found.problems.contains($0) }
                if let missing { found.unchecked.append("table \(table): \(missing)") }
            }
        } else if let missing {
            found.unchecked.append("entries of indexes: \(missing)")
        }
        found.unchecked += virtual.sorted { $0.key < $1.key }.map { "virtual table \($0.key): \($0.value)" }
        return found
    }

    /// What the check finds in a table, or in all of them, and what it lacked for more.
    ///
    /// - Parameter isPartial: Whether it is known that something is missing, so that any error of SQL counts as that: FTS5 does not say more.
    private func checkedLines(of table: String?, isPartial: Bool) throws -> (problems: [String], missing: String?) {
        let argument: SQL = table.map { "(\(identifier: $0))" } ?? ""
        var missing: String?
        for (pragma, ignoresConstraints): (SQL, Bool) in [
            ("integrity_check", false), ("integrity_check", true), ("quick_check", true),
        ] {
            do {
                let lines = try ignoringConstraints(ignoresConstraints) {
                    try fetchAll(String.self, "PRAGMA main.\(sql: pragma)\(sql: argument)")
                }
                return (lines == ["ok"] ? [] : lines.filter { !Database.saysIndexWasNotChecked($0) }, missing)
            } catch let error as DatabaseError where error.namesWhatIsMissing || isPartial && error.code == .error {
                if missing == nil { missing = error.message }
            }
        }
        return ([], missing)
    }

    /// SQLite 3.44 cannot look at an index of FTS4 on a connection that only reads; what CipherDB compares itself tells more.
    private static func saysIndexWasNotChecked(_ line: String) -> Bool {
        line.hasPrefix("unable to validate the inverted index for FTS")
            && line.hasSuffix(": attempt to write a readonly database")
    }

    private func ignoringConstraints<Result>(_ ignores: Bool, _ body: () throws -> Result) throws -> Result {
        guard ignores, try bool(forQuery: "PRAGMA ignore_check_constraints") == false else { return try body() }
        try executeStatements("PRAGMA ignore_check_constraints = ON")
        defer { try? executeStatements("PRAGMA ignore_check_constraints = OFF") }
        return try body()
    }

    /// The virtual tables that this connection cannot use, and why. SQLite's check passes over some of them in silence.
    private func missingInVirtualTables() throws -> [String: String] {
        var missing: [String: String] = [:]
        let names = try fetchAll(
            String.self,
            "SELECT name FROM main.sqlite_master WHERE type = 'table' AND rootpage = 0"
        )
        for name in names {
            let table = "main.\(quotedIdentifier(name))"
            // FTS5 looks for its tokenizer when it needs it.
            for condition in ["", " WHERE \(quotedIdentifier(name)) MATCH 'a'"] {
                do {
                    try executeOne("SELECT 1 FROM \(table)\(condition) LIMIT 1")
                } catch let error as DatabaseError where error.namesWhatIsMissing {
                    missing[name] = error.message
                } catch let error as DatabaseError where error.code.primary != .interrupted {
                    // What else is wrong is for the check to find.
                }
            }
        }
        return missing
    }
}

extension DatabaseError {
    /// Whether a statement failed because the connection lacks a function, collation, module or tokenizer.
    package var namesWhatIsMissing: Bool {
        code.primary == .error && DatabaseError.missing.contains { message.hasPrefix($0) }
    }

    private static let missing = [
        "no such function: ", "unknown function: ", "no such collation sequence: ", "no such module: ",
        "no such tokenizer: ", "unknown tokenizer: ",
    ]
}

extension Database {
    /// What an error of the engine really is: codes 11 and 26 do not say which pages are damaged, or that the key was
    /// changed by another connection.
    func explained(_ error: any Error) -> any Error {
        guard let failure = error as? DatabaseError,
            failure.code.primary == .corrupt || failure.code.primary == .notADatabase,
            case .keyed(let connection, let verifiedKey) = state
        else { return error }
        guard verifiedKey.format.pageAuthentication != nil else {
            return failure.code.primary == .notADatabase
                ? KeyError(.wrongKey, path: nameOfFile(connection)) : failure
        }
        // A failure of the scan itself leaves the engine's own error to be told.
        guard let scan = try? scanOnce(verifiedKey) else { return error }
        // Nothing is the matter with this file: the statement met another, which it attached.
        if scan.isEmpty { return failure }
        return damage(scan, connection)
    }

    /// What it means that these pages are damaged.
    func damage(_ pages: [Int], _ connection: Connection) -> KeyError {
        pages == [0] ? KeyError(.wrongKey, path: nameOfFile(connection)) : .damage(pages, of: nameOfFile(connection))
    }

    private func nameOfFile(_ connection: Connection) -> String {
        path.flatMap { flags.contains(.uri) ? nil : $0 } ?? connection.filename
    }

    /// The damaged pages; `[0]` where no page is authentic, which is a wrong key.
    private func scanOnce(_ verifiedKey: VerifiedKey) throws -> [Int] {
        if let knownDamage { return knownDamage }
        guard let connection else { return [] }
        let damaged = try StoredPages(connection).damagedPages(verifiedKey)
        knownDamage = damaged
        return damaged
    }
}
