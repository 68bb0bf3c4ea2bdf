internal import CSQLCipher

/// What a name stands for, without compiling a statement.
extension Connection {
    /// Whether it is a table, ordinary or virtual, and no view; by the schema that this connection read last.
    func isTable(_ table: TableName) -> Bool { hasColumn(nil, table) }

    /// Whether it is a table whose rows have rowids.
    func hasRowID(_ table: TableName) -> Bool {
        // One of these names may be that of a column.
        Database.rowIDNames.allSatisfy { hasColumn($0, table) }
    }

    private func hasColumn(_ column: String?, _ table: TableName) -> Bool {
        sqlite3_table_column_metadata(handle, table.schema, table.name, column, nil, nil, nil, nil, nil) == SQLITE_OK
    }
}

extension Database {
    /// The names of the rowid, as far as no column has them.
    package static let rowIDNames = ["rowid", "_rowid_", "oid"]
}

/// SQLite's defences against the schema of a hostile database (sqlite.org/security.html).
extension Connection {
    /// Views, triggers, defaults, checks and indexes use only what is marked as innocuous: `PRAGMA trusted_schema = OFF`.
    func distrustSchema() {
        guard Connection.canDistrustSchema else { return }
        _ = csqlcipher_configure(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    }

    /// Refuses SQL that can corrupt the file: writes to shadow tables and to the schema's own table.
    func setDefensive(_ isDefensive: Bool) {
        _ = csqlcipher_configure(handle, SQLITE_DBCONFIG_DEFENSIVE, isDefensive ? 1 : 0)
        // A table of this module gives and takes pages as they are, whatever its name. Engines before SQLite 3.30 do not take a module back,
        // and Debian's do not have it.
        if isDefensive, sqlite3_libversion_number() >= 3_030_000 {
            sqlite3_create_module_v2(handle, "sqlite_dbpage", nil, nil, nil)
        }
    }

    /// The flag that says whether a schema may call a function.
    static func schemaUse(_ isInnocuous: Bool) -> Int32 { isInnocuous ? SQLITE_INNOCUOUS : SQLITE_DIRECTONLY }

    /// Makes the flag of the function `name`, which is new, effective.
    ///
    /// SQLite checks it only where the function was known when the schema was read. An engine before SQLite 3.30 has no such
    /// flag: there the authorizer refuses calls from views and triggers.
    func enforceSchemaUse(of name: String, _ arguments: Int32, _ isInnocuous: Bool) throws(DatabaseError) {
        let hasFlag = sqlite3_libversion_number() >= 3_030_000
        authorizer.setDirectOnly(name, arguments, !isInnocuous && !hasFlag)
        guard !isInnocuous, hasFlag else { return }
        try unrestricted { () throws(DatabaseError) in try execute("PRAGMA writable_schema = RESET") }
    }

    /// False where the full-text indexes of the engine are not marked as innocuous, as before SQLite 3.41: without a trusted
    /// schema the triggers that keep such an index up to date would fail.
    private static let canDistrustSchema: Bool = {
        guard let connection = try? Connection(path: ":memory:", flags: [.readWrite, .create]),
            csqlcipher_configure(connection.handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0) == SQLITE_OK
        else { return false }
        guard (try? connection.execute("CREATE VIRTUAL TABLE f USING fts4(a)")) != nil else { return true }
        let trigger = "CREATE TRIGGER t_insert AFTER INSERT ON t BEGIN INSERT INTO f VALUES (new.a); END"
        return (try? connection.execute("CREATE TABLE t (a); \(trigger); INSERT INTO t VALUES ('a')")) != nil
    }()
}
