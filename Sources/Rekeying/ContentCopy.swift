internal import CipherDB

/// Copies all that a database holds into an empty one, through the engine: what page by page cannot be done, because the
/// pages of the two have another size, or another reserve.
///
/// It goes beyond `sqlcipher_export`: rows keep their row identifiers, also where no column shows them, and the text
/// encoding, `auto_vacuum`, `user_version`, `application_id` and the planner's statistics come along. Views, triggers and
/// virtual tables are copied as they stand in the schema, so that no module or function is needed for them; the tables in
/// which a virtual table keeps its content are copied like any other.
struct ContentCopy {
    let source: Database
    let target: Database
    /// Bytes of the source.
    let size: Int64
    /// Bytes in a page of the target.
    let pageSize: Int
    let progress: (FileProgress) throws -> Void

    /// An object of the schema that was made by SQL.
    private struct Object {
        let type: String
        let name: String
        let isVirtual: Bool
        let sql: String

        /// What SQLite makes and fills by itself, or by other statements than that of the schema.
        var isInternal: Bool { name.utf8.starts(with: "sqlite_".utf8) }
    }

    func run() throws {
        try prepareTarget()
        let objects = try objects()
        try target.executeStatements("BEGIN")
        let tables = objects.filter { $0.type == "table" && !$0.isVirtual && !$0.isInternal }
        for table in tables { try target.executeStatements(table.sql) }
        for table in tables { try copy(table.name) }
        try copySequence()
        for index in objects where index.type == "index" { try target.executeStatements(index.sql) }
        try copyStatistics(objects)
        try copySchema()
        for pragma in ["user_version", "application_id"] {
            let number = try source.int(forQuery: "PRAGMA \(pragma)") ?? 0
            try target.executeStatements("PRAGMA \(pragma) = \(number)")
        }
        try target.executeStatements("COMMIT")
    }

    /// Settings of an empty database that it keeps, then those of this connection.
    private func prepareTarget() throws {
        let encoding = try source.string(forQuery: "PRAGMA encoding") ?? "UTF-8"
        let autoVacuum = try source.int(forQuery: "PRAGMA auto_vacuum") ?? 0
        try target.executeStatements("PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = \(autoVacuum); VACUUM")
        // Nobody knows the file yet, and where this fails it is thrown away.
        try target.executeStatements(
            """
            PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
            PRAGMA ignore_check_constraints = ON;
            """
        )
    }

    private func objects() throws -> [Object] {
        var objects: [Object] = []
        let rows = try source.executeQuery(
            "SELECT type, name, rootpage, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
        )
        while try rows.next() {
            objects.append(
                Object(
                    type: try rows.string(forColumnIndex: 0) ?? "",
                    name: try rows.string(forColumnIndex: 1) ?? "",
                    isVirtual: try rows.int(forColumnIndex: 2) ?? 0 == 0,
                    sql: try rows.string(forColumnIndex: 3) ?? ""
                )
            )
        }
        return objects
    }

    private func copy(_ table: String) throws {
        let name = Database.quoted(table)
        var columns: [String] = []
        let rows = try source.executeQuery("PRAGMA table_info(\(name))")
        while try rows.next() { columns.append(try rows.string(forColumn: "name") ?? "") }
        // A table may have a column of one of these names, which then is no row identifier.
        let taken = Set(columns.map { $0.lowercased() })
        if let rowID = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }),
            try source.compiles("SELECT \(rowID) FROM \(name)")
        {
            columns.insert(rowID, at: 0)
        }
        let list = columns.map { Database.quoted($0) }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try target.copyRows(
            "INSERT INTO \(name) (\(list)) VALUES (\(places))",
            from: source,
            "SELECT \(list) FROM \(name)"
        ) {
            let written = Int64(try target.int(forQuery: "PRAGMA page_count") ?? 0) * Int64(pageSize)
            try progress(FileProgress(.writing, done: min(written, size), all: size))
        }
    }

    /// The highest identifiers that `AUTOINCREMENT` has given.
    private func copySequence() throws {
        guard try source.tableExists("sqlite_sequence"), try target.tableExists("sqlite_sequence") else { return }
        try target.executeStatements("DELETE FROM sqlite_sequence")
        try target.copyRows(
            "INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (?, ?, ?)",
            from: source,
            "SELECT rowid, name, seq FROM sqlite_sequence"
        ) {}
    }

    /// What `ANALYZE` has found. The engine makes its tables; of those that it does not have nothing is copied.
    private func copyStatistics(_ objects: [Object]) throws {
        let tables = objects.map(\.name).filter { $0.utf8.starts(with: "sqlite_stat".utf8) }
        guard !tables.isEmpty else { return }
        try target.executeStatements("ANALYZE sqlite_master")
        for table in tables where try target.tableExists(table) {
            try target.executeStatements("DELETE FROM \(table)")
            try copy(table)
        }
    }

    /// Views, triggers and virtual tables.
    private func copySchema() throws {
        try target.executeStatements("PRAGMA writable_schema = ON")
        try target.copyRows(
            "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, ?, ?)",
            from: source,
            """
            SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master
            WHERE type IN ('view', 'trigger') OR (type = 'table' AND rootpage = 0) ORDER BY rowid
            """
        ) {}
        try target.executeStatements("PRAGMA writable_schema = OFF")
    }
}
