/// What a statement reads and writes, as the engine tells while it compiles it.
struct TableAccess {
    /// The schemas that it reads, but for that of temporary tables.
    var schemas: [String] = []
    /// Whether it reads those of all databases that are attached when it runs.
    var readsAllSchemas = false
    /// Whether it reads what is stored in a table, other than the schema.
    var readsRows = false
    /// The schemas that it writes, that of temporary tables too.
    var writtenSchemas: [String] = []
    /// The tables that it writes, also by triggers and foreign keys.
    var writes: [TableName] = []
    /// Whether it makes, changes or drops one, or sets a number of the file's header, which is reported in the same way.
    var changesSchema = false
    /// Whether it deletes: SQLite 3.15 does not count the rows of a WITHOUT ROWID table that is emptied.
    var deletes = false

    var isEmpty: Bool { !reads && writes.isEmpty && !changesSchema }

    /// Whether it reads pages of a database.
    var reads: Bool { readsAllSchemas || !schemas.isEmpty }

    /// Whether it attaches a temporary database, as VACUUM does, which copies the database into that and back.
    var isVacuum = false
    /// Whether it attaches a file.
    var attaches = false

    mutating func read(_ schema: String) {
        if schema != "temp", !schemas.contains(schema) { schemas.append(schema) }
    }

    /// Whether it writes into one schema what it read in another: the commit of the one would not see damage of the other.
    var copiesBetweenSchemas: Bool {
        !isVacuum && writtenSchemas.contains { written in schemas.contains { $0 != written } }
    }

    mutating func write(_ table: TableName) {
        if let schema = table.schema, !writtenSchemas.contains(schema) { writtenSchemas.append(schema) }
        if table.isSchemaTable {
            changesSchema = true
        } else if !writes.contains(table) {
            writes.append(table)
        }
    }

    mutating func formUnion(_ other: TableAccess) {
        for schema in other.schemas { read(schema) }
        for table in other.writes { write(table) }
        changesSchema = changesSchema || other.changesSchema
        deletes = deletes || other.deletes
        readsRows = readsRows || other.readsRows
        readsAllSchemas = readsAllSchemas || other.readsAllSchemas
    }
}

extension TableName {
    /// Whether it holds the schema.
    var isSchemaTable: Bool {
        ["sqlite_master", "sqlite_temp_master", "sqlite_schema", "sqlite_temp_schema"].contains(name)
    }
}
