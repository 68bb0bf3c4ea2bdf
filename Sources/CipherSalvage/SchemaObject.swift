internal import CipherDB

/// What a database says of itself as a whole.
struct ContentSettings {
    /// As `PRAGMA encoding` takes it.
    let encoding: String
    /// As `PRAGMA auto_vacuum` takes it.
    let autoVacuum: Int
    let userVersion: Int32
    let applicationID: Int32
}

/// A row of `sqlite_master`.
struct SchemaObject {
    let type: String
    let name: String
    let table: String
    /// 0 for what has no pages of its own: views, triggers, virtual tables.
    let rootPage: Int
    /// Nil for the indexes that a constraint makes.
    let sql: String?

    var isVirtual: Bool { rootPage == 0 }

    /// What SQLite makes and fills by itself, or by other statements than that of the schema.
    var isInternal: Bool { name.utf8.starts(with: "sqlite_".utf8) }
}

extension Database {
    static let rowIDNames = ["rowid", "_rowid_", "oid"]

    /// The name by which the rowids of a table are read and written; nil if it has none, or its columns have
    /// taken all three names.
    func rowIDName(of table: String, columns: [String]) throws -> String? {
        let taken = Set(columns.map { $0.lowercased() })
        guard let name = Database.rowIDNames.first(where: { !taken.contains($0) }),
            try compiles("SELECT \(name) FROM \(quotedIdentifier(table))")
        else { return nil }
        return name
    }
}
