import CipherDB

/// The demo's table, and its full-text index in whichever version the engine has.
enum PackageTable {
    static func load(_ packages: [Package], into database: Database) throws {
        let index: SQL = Engine.current.has(.fts5) ? "fts5" : "fts4"
        try database.executeStatements(
            """
            CREATE TABLE IF NOT EXISTS packages (
                id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT NOT NULL, section TEXT, size INTEGER, summary TEXT
            );
            CREATE VIRTUAL TABLE IF NOT EXISTS words USING \(sql: index)(name, summary);
            """
        )
        let insert = try database.prepare(
            "INSERT INTO packages (name, version, section, size, summary) VALUES (?, ?, ?, ?, ?)"
        )
        let addWords = try database.prepare("INSERT INTO words (rowid, name, summary) VALUES (?, ?, ?)")
        for package in packages {
            try insert.executeUpdate(
                package.name,
                package.version,
                package.section,
                package.installedSize,
                package.summary
            )
            try addWords.executeUpdate(database.lastInsertRowID, package.name, package.summary)
        }
    }

    static func search(_ word: String, in database: Database) throws -> [Package] {
        let rows = try database.executeQuery(
            """
            SELECT name, version, section, size, summary FROM packages
            WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?) ORDER BY name
            """,
            word
        )
        var found: [Package] = []
        while try rows.next() {
            found.append(
                Package(
                    name: try rows["name"],
                    version: try rows["version"],
                    section: try rows["section"],
                    installedSize: try rows["size"],
                    summary: try rows["summary"]
                )
            )
        }
        return found
    }
}
