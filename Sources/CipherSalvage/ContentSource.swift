package import CipherDB

/// Where a ``ContentCopy`` finds what it copies.
package protocol ContentSource: AnyObject {
    /// What an empty database is told before it gets any content.
    var settings: ContentSettings { get throws }
    /// Whether what it holds may lack anything.
    var isDamaged: Bool { get }
    /// The rows of the schema, in their order.
    func objects() throws -> [SchemaObject]
    /// Copies the rows of `table`, which `target` has already; calls `progress` every thousand.
    func copyRows(of table: SchemaObject, into target: Database, progress: () throws -> Void) throws
    /// Called when the rows of all tables were copied.
    func copyRest(into target: Database) throws
    /// Called with an object that could not be copied, and why.
    func failed(_ object: SchemaObject, _ error: any Error) throws
}

/// What a database says of itself as a whole.
package struct ContentSettings {
    /// As `PRAGMA encoding` takes it.
    package let encoding: String
    /// As `PRAGMA auto_vacuum` takes it.
    package let autoVacuum: Int
    package let userVersion: Int32
    package let applicationID: Int32
}

/// A row of `sqlite_master`.
package struct SchemaObject {
    package let type: String
    package let name: String
    package let table: String
    /// 0 for what has no pages of its own: views, triggers, virtual tables.
    package let rootPage: Int
    /// Nil for the indexes that a constraint makes.
    package let sql: String?

    package var isVirtual: Bool { rootPage == 0 }

    /// What SQLite makes and fills by itself, or by other statements than that of the schema.
    package var isInternal: Bool { name.utf8.starts(with: "sqlite_".utf8) }
}

/// A database that the engine reads.
package final class OpenedContent: ContentSource {
    private let database: Database

    package init(database: Database) {
        self.database = database
    }

    package var isDamaged: Bool { false }

    package var settings: ContentSettings {
        get throws {
            ContentSettings(
                encoding: try database.string(forQuery: "PRAGMA encoding") ?? "UTF-8",
                autoVacuum: try database.int(forQuery: "PRAGMA auto_vacuum") ?? 0,
                userVersion: try database.userVersion,
                applicationID: try database.applicationID
            )
        }
    }

    package func objects() throws -> [SchemaObject] {
        var objects: [SchemaObject] = []
        let rows = try database.executeQuery(
            "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_master ORDER BY rowid"
        )
        while try rows.next() {
            objects.append(
                SchemaObject(
                    type: try rows.string(forColumnIndex: 0) ?? "",
                    name: try rows.string(forColumnIndex: 1) ?? "",
                    table: try rows.string(forColumnIndex: 2) ?? "",
                    rootPage: try rows.int(forColumnIndex: 3) ?? 0,
                    sql: try rows.string(forColumnIndex: 4)
                )
            )
        }
        return objects
    }

    package func copyRows(of table: SchemaObject, into target: Database, progress: () throws -> Void) throws {
        let name = quotedIdentifier(table.name)
        var columns: [String] = []
        let rows = try database.executeQuery("PRAGMA table_info(\(identifier: table.name))")
        while try rows.next() { columns.append(try rows.string(forColumn: "name") ?? "") }
        if let rowID = try target.rowIDName(of: table.name, columns: columns) { columns.insert(rowID, at: 0) }
        let list = columns.map(quotedIdentifier).joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try target.copyRows(
            "INSERT INTO \(name) (\(list)) VALUES (\(places))",
            from: database,
            "SELECT \(list) FROM \(name)",
            progress: progress
        )
    }

    package func copyRest(into target: Database) throws {}

    package func failed(_ object: SchemaObject, _ error: any Error) throws {
        throw error
    }
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
