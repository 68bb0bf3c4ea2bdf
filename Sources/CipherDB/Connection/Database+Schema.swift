extension Database {
    /// Whether a table, ordinary or virtual, has this name in the main database; the case of its letters does not matter.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func tableExists(_ name: String) throws -> Bool {
        try value(
            forQuery: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND lower(name) = lower(?)",
            name
        ) ?? false
    }

    /// Whether the table or view has a column of this name; the case of the letters does not matter.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``; a table that is not there has no columns.
    public func columnExists(_ column: String, inTableWithName table: String) throws -> Bool {
        let columns = try tableSchema(table)
        defer { columns.close() }
        while try columns.next() {
            if try columns.string(forColumn: "name")?.lowercased() == column.lowercased() { return true }
        }
        return false
    }

    /// What `sqlite_master` and its temporary twin hold, without SQLite's own objects: type, name, tbl_name, rootpage, sql.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func schema() throws -> ResultSet {
        try executeQuery(
            """
            SELECT type, name, tbl_name, rootpage, sql
            FROM (SELECT * FROM sqlite_master UNION ALL SELECT * FROM sqlite_temp_master)
            WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY tbl_name, type DESC, name
            """
        )
    }

    /// The columns of a table, a row each: cid, name, type, notnull, dflt_value, pk. No row where there is no such table.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public func tableSchema(_ table: String) throws -> ResultSet {
        try tableSchema(of: TableName(table))
    }

    func tableSchema(of table: TableName) throws -> ResultSet {
        // As a function the pragma takes a bound value, but not in SQLite 3.15.
        try executeQuery("PRAGMA \(raw: table.schemaPrefix)table_info(\(identifier: table.name))")
    }

    /// The number that applications keep in the file as the version of their schema.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public var userVersion: Int32 {
        get throws { try value(forQuery: "PRAGMA user_version") ?? 0 }
    }

    /// Sets ``userVersion``.
    ///
    /// - Throws: ``DatabaseError``, also where the file is open for reading only; ``KeyError``.
    public func setUserVersion(_ version: Int32) throws {
        try executeStatements("PRAGMA user_version = \(raw: String(version))")
    }

    /// The number that says which application's file this is.
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public var applicationID: Int32 {
        get throws { try value(forQuery: "PRAGMA application_id") ?? 0 }
    }

    /// Sets ``applicationID``.
    ///
    /// - Throws: ``DatabaseError``, also where the file is open for reading only; ``KeyError``.
    public func setApplicationID(_ id: Int32) throws {
        try executeStatements("PRAGMA application_id = \(raw: String(id))")
    }

    /// Compiles a statement without running it.
    ///
    /// - Throws: ``DatabaseError`` with the error; ``KeyError``.
    public func validateSQL(_ sql: SQL) throws {
        try inTurn { try prepare(sql).prepared.finalize() }
    }
}

extension TableName {
    /// The database as it stands in SQL before the name, with its dot; empty for whichever has the table.
    var schemaPrefix: String { schema.map { quotedIdentifier($0) + "." } ?? "" }
}
