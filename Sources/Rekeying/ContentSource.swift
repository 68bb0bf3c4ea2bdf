internal import CipherDB

/// Where a ``ContentCopy`` finds what it copies.
protocol ContentSource: AnyObject {
    /// What an empty database is told before it gets any content.
    var settings: ContentSettings { get throws }
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

/// A database that the engine reads.
final class OpenedContent: ContentSource {
    private let database: Database

    init(database: Database) {
        self.database = database
    }

    var settings: ContentSettings {
        get throws {
            ContentSettings(
                encoding: try database.string(forQuery: "PRAGMA encoding") ?? "UTF-8",
                autoVacuum: try database.int(forQuery: "PRAGMA auto_vacuum") ?? 0,
                userVersion: try database.userVersion,
                applicationID: try database.applicationID
            )
        }
    }

    func objects() throws -> [SchemaObject] {
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

    func copyRows(of table: SchemaObject, into target: Database, progress: () throws -> Void) throws {
        let name = Database.quoted(table.name)
        var columns: [String] = []
        let rows = try database.executeQuery("PRAGMA table_info(\(name))")
        while try rows.next() { columns.append(try rows.string(forColumn: "name") ?? "") }
        if let rowID = try target.rowIDName(of: table.name, columns: columns) { columns.insert(rowID, at: 0) }
        let list = columns.map { Database.quoted($0) }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        try target.copyRows(
            "INSERT INTO \(name) (\(list)) VALUES (\(places))",
            from: database,
            "SELECT \(list) FROM \(name)",
            progress: progress
        )
    }

    func copyRest(into target: Database) throws {}

    func failed(_ object: SchemaObject, _ error: any Error) throws {
        throw error
    }
}

extension Database {
    static let rowIDNames = ["rowid", "_rowid_", "oid"]

    /// The name by which the row identifiers of a table are read and written; nil where it has none, or its columns have
    /// taken all three names.
    func rowIDName(of table: String, columns: [String]) throws -> String? {
        let taken = Set(columns.map { $0.lowercased() })
        guard let name = Database.rowIDNames.first(where: { !taken.contains($0) }),
            try compiles("SELECT \(name) FROM \(Database.quoted(table))")
        else { return nil }
        return name
    }
}
