/// Full-text indexes by typed calls.
extension Database {
    /// Makes an FTS5 index over columns of a table, which keeps the text: the index follows each change of the table, and begins with the
    /// rows that are there.
    ///
    /// ```swift
    /// try database.createFullTextIndex("found", on: "notes", columns: ["title", "text"])
    /// guard let pattern = FTS5Pattern(matchingAllTokensIn: "buy stamps") else { return }
    /// let ids = try database.fetchAll(Int.self, "SELECT rowid FROM found WHERE found MATCH \(pattern) ORDER BY rank")
    /// ```
    ///
    /// Its rows have the table's `rowid`, which must be an `INTEGER PRIMARY KEY`: any other one changes with ``vacuum()``. Three triggers,
    /// `found_insert`, `found_update` and `found_delete`, keep it. SQLite runs none for a row that `INSERT OR REPLACE` replaces: use
    /// ``upsert(into:_:onConflict:)``.
    ///
    /// - Parameters:
    ///   - index: Its name; it stands in the database of the table.
    ///   - table: The table, which is no view.
    ///   - columns: The columns that are searched.
    ///   - tokenizer: How text is divided, such as `porter unicode61`; of ``makeTokenizer(named:_:)``, or nil for FTS5's default.
    /// - Throws: ``DatabaseError``, also where the table has no `INTEGER PRIMARY KEY`, and where the engine has no FTS5; ``KeyError``.
    ///   Nothing is made then.
    public func createFullTextIndex(
        _ index: String,
        on table: TableName,
        columns: [String],
        tokenizer: String? = nil
    ) throws {
        // It would be taken for the number of the row.
        guard try !names(of: table).contains(where: { $0.lowercased() == "rowid" }), index.lowercased() != "rowid"
        else {
            throw DatabaseError(
                .misuse,
                "the name rowid is reserved in \(table) and its index: rename the column or the index"
            )
        }
        guard try hasStableRowID(table) else {
            throw DatabaseError(
                .misuse,
                "\(table) has no column that is an INTEGER PRIMARY KEY, and VACUUM gives its rows other numbers than the index has: "
                    + "make the table with id INTEGER PRIMARY KEY"
            )
        }
        // FTS5 would miss a column when its table is made already, and leave the transaction that undoes this without a commit.
        try executeQuery(
            "SELECT \(raw: columns.map(quotedColumn).joined(separator: ", ")) FROM \(raw: table.quoted) LIMIT 0"
        ).close()
        let schema = table.schemaPrefix
        var arguments = columns.map(quotedIdentifier)
        arguments.append("content=\(try DatabaseValue.text(table.name).literal)")
        if let tokenizer { arguments.append("tokenize=\(try DatabaseValue.text(tokenizer).literal)") }
        let list = arguments.joined(separator: ", ")
        let name = quotedIdentifier(index)
        let names = columns.map(quotedIdentifier).joined(separator: ", ")
        let old = (["old.rowid"] + columns.map { "old." + quotedIdentifier($0) }).joined(separator: ", ")
        let new = (["new.rowid"] + columns.map { "new." + quotedIdentifier($0) }).joined(separator: ", ")
        let add = "INSERT INTO \(name)(rowid, \(names)) VALUES (\(new));"
        let remove = "INSERT INTO \(name)(\(name), rowid, \(names)) VALUES ('delete', \(old));"
        // Not of other columns: a trigger of the program may set those of a new row before it is in the index.
        let read = try columns + primaryKey(of: table).map(\.name) + ["rowid", "oid", "_rowid_"]
        let update = "UPDATE OF \(read.map(quotedIdentifier).joined(separator: ", "))"
        try inSavePoint { _ in
            try executeUpdate("CREATE VIRTUAL TABLE \(raw: schema + name) USING fts5(\(raw: list))")
            for (kind, event, body) in [
                ("insert", "INSERT", add), ("update", update, remove + " " + add), ("delete", "DELETE", remove),
            ] {
                let trigger = schema + quotedIdentifier("\(index)_\(kind)")
                try executeUpdate(
                    "CREATE TRIGGER \(raw: trigger) AFTER \(raw: event) ON \(identifier: table.name) BEGIN \(raw: body) END"
                )
            }
            try executeUpdate("INSERT INTO \(raw: schema + name)(\(raw: name)) VALUES ('rebuild')")
        }
    }

    /// Whether a column is the rowid, so that the rows keep theirs.
    private func hasStableRowID(_ table: TableName) throws -> Bool {
        let key = try primaryKey(of: table)
        guard !key.isEmpty else { return try names(of: table).isEmpty }
        guard key.count == 1, key[0].type.lowercased() == "integer" else { return false }
        // A key that is not the rowid has an index, such as one declared DESC.
        let indexes = try executeQuery("PRAGMA \(raw: table.schemaPrefix)index_list(\(identifier: table.name))")
        defer { indexes.close() }
        while try indexes.next() { if try indexes["origin"] == "pk" { return false } }
        return true
    }

    /// Removes an index that ``createFullTextIndex(_:on:columns:tokenizer:)`` or GRDB made, and its triggers.
    ///
    /// - Throws: ``DatabaseError``, also where there is none; ``KeyError``.
    public func dropFullTextIndex(_ index: TableName) throws {
        let catalogue = quotedIdentifier(index.schema ?? "main") + ".sqlite_master"
        let declaration = "CREATE VIRTUAL TABLE \(quotedIdentifier(index.name)) USING fts5("
        let isIndex: SQL =
            "SELECT substr(sql, 1, length(\(declaration))) = \(declaration) FROM \(raw: catalogue) WHERE name = \(index.name)"
        guard try bool(forQuery: isIndex) == true else {
            throw DatabaseError(.error, "\(index) is not an index made by createFullTextIndex")
        }
        // GRDB's, too, which a file that it made has.
        let names =
            ["insert", "update", "delete"].map { "\(index.name)_\($0)" }
            + ["ai", "au", "ad"].map { "__\(index.name)_\($0)" }
        let body = "INSERT INTO \(quotedIdentifier(index.name))("
        let triggers: SQL = """
            SELECT name FROM \(raw: catalogue) WHERE type = 'trigger' AND name IN (\(list: names)) AND instr(sql, \(body))
            """
        try inSavePoint { _ in
            for trigger in try fetchAll(String.self, triggers) {
                try executeUpdate("DROP TRIGGER \(raw: index.schemaPrefix)\(identifier: trigger)")
            }
            try executeUpdate("DROP TABLE \(raw: index.quoted)")
        }
    }
}

/// A full-text index of the main database, also one that the program made by SQL.
struct FullTextIndex {
    /// The modules, by the texts in a definition.
    enum Module: String, CaseIterable {
        case fts5, fts4, fts3
    }

    let name: String
    let module: Module

    /// The tables whose content an index reads, by its declaration.
    static func contents(ofDeclaration sql: String) -> [String] {
        sql.matches(of: /(?i)[(,]\s*content\s*=\s*["'`\[]?([^"'`\],)]+)/).map { String($0.output.1) }
    }

    private var table: String { "main." + quotedIdentifier(name) }
    private var command: String { "INSERT INTO \(table)(\(quotedIdentifier(name))" }

    /// The insertion by which the engine compares it with its text, in a table of the program's too. It writes nothing.
    var check: String {
        command + (module == .fts5 ? ", rank) VALUES ('integrity-check', 1)" : ") VALUES ('integrity-check')")
    }

    /// Whether it has the numbers of other rows than the table.
    var hasOtherRows: String {
        let known = "SELECT \(module == .fts5 ? "id" : "docid") FROM main.\(quotedIdentifier(name + "_docsize"))"
        let present = "SELECT rowid FROM \(table)"
        return "SELECT EXISTS (\(known) EXCEPT \(present)) OR EXISTS (\(present) EXCEPT \(known))"
    }

    /// What is to be said where it is not that of its table.
    var problem: String {
        "the full-text index \(name) is not that of its table's rows; "
            + "make it again by INSERT INTO \(quotedIdentifier(name))(\(quotedIdentifier(name))) VALUES ('rebuild')"
    }
}

extension Database {
    /// What is wrong with the full-text indexes of the main database, a line each.
    ///
    /// The engine compares the words of an index and of its text by a statement that writes nothing, and yet needs the lock of a writer. A
    /// connection that only reads compares the numbers of the rows.
    func fullTextProblems() throws -> [String] {
        let indexes = try fullTextIndexes()
        guard !indexes.isEmpty else { return [] }
        let connection = try usableConnection()
        if try connection.isReadOnly || connection.authorizer.isReader || value(forQuery: "PRAGMA query_only") ?? false
        {
            return try indexes.filter { try hasOtherRows($0) }.map(\.problem)
        }
        func check(_ undo: inout Bool) throws -> [String] {
            // To observers it would be a change of the index.
            undo = true
            return try indexes.filter { try hasOtherWords($0) }.map(\.problem)
        }
        return try isInTransaction
            ? inSavePoint { try check(&$1) } : inTransaction(.immediate) { try check(&$1) }
    }

    var hasFullTextIndexes: Bool {
        get throws { try !fullTextIndexes().isEmpty }
    }

    /// Those whose modules and tokenizers this connection has.
    func fullTextIndexes() throws -> [FullTextIndex] {
        let tables = try executeQuery(
            "SELECT name, lower(sql) FROM main.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts%'"
        )
        defer { tables.close() }
        var indexes: [FullTextIndex] = []
        while try tables.next() {
            let (name, definition): (String, String) = try (tables[0], tables[1])
            for module in FullTextIndex.Module.allCases where definition.contains(module.rawValue) {
                let index = FullTextIndex(name: name, module: module)
                // Other modules have no such columns.
                guard try compiles(index.check) else { continue }
                indexes.append(index)
                break
            }
        }
        return indexes
    }

    private func hasOtherWords(_ index: FullTextIndex) throws -> Bool {
        do {
            guard let (statement, _) = try usableConnection().prepare(index.check) else { return false }
            defer { statement.finalize() }
            return try statement.step()
        } catch let error as DatabaseError where error.code.primary == .corrupt {
            return true
        } catch let error as DatabaseError where error.code.primary == .error {
            // It has no text to be compared with.
            return false
        }
    }

    private func hasOtherRows(_ index: FullTextIndex) throws -> Bool {
        // One that keeps no sizes of its rows cannot be asked.
        guard try compiles(index.hasOtherRows) else { return false }
        do {
            return try usableConnection().text(index.hasOtherRows) == "1"
        } catch let error as DatabaseError where error.code.primary == .error {
            return false
        }
    }
}
