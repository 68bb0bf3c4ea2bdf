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
                return (lines == ["ok"] ? [] : lines, missing)
            } catch let error as DatabaseError where error.namesWhatIsMissing || isPartial && error.code == .error {
                if missing == nil { missing = error.message }
            }
        }
        return ([], missing)
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
