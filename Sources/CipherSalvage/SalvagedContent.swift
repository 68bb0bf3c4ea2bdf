internal import CipherDB
package import CipherPages
internal import SQLiteFormat

/// What can be read of a damaged database, page by page, and the account of what cannot.
package final class SalvagedContent {
    private let salvage: RowSalvage
    private let header: DatabaseHeader?
    private let isFreeListWhole: Bool
    /// Whether it counts all pages: of pages behind them, an older one may know no tree.
    private let isFirstPageNewest: Bool
    private var encoding: TextEncoding { header?.encoding ?? .utf8 }
    private var schema: [SchemaObject] = []
    private var claims: [Claim] = []
    package private(set) var tables: [SalvagedTable] = []
    package private(set) var failures: [SkippedObject] = []
    package private(set) var isSchemaWhole = true
    package private(set) var unassignedRows: SalvagedTable?
    package private(set) var remadeTables: [RemadeTable] = []

    /// A tree with lost pages, and what stood on them.
    private struct Claim {
        /// Nil for a table of SQLite's own.
        let table: (index: Int, shape: TableShape)?
        let gaps: [RowSalvage.Gap]

        /// Whether all of `rows` may be among those that are missing.
        func accepts(_ rows: [RowSalvage.Row]) -> Bool {
            rows.allSatisfy { row in
                guard let table else { return row.rowID != nil }
                guard table.shape.accepts(row) else { return false }
                return row.rowID.map { rowID in gaps.contains { $0.contains(rowID) } } ?? true
            }
        }
    }

    package init(_ pages: AuthenticPages, _ map: PageMap) throws {
        salvage = RowSalvage(pages, kinds: map.kinds)
        isFreeListWhole = map.isFreeListWhole
        isFirstPageNewest = try !pages.hasPagesBeyondHeaderSize()
        header = try pages.page(1).map { DatabaseHeader($0) }
        try readSchema()
    }

    /// Whether the database keeps a write-ahead log.
    package var isLogged: Bool { header?.isLogged ?? false }

    var settings: ContentSettings {
        ContentSettings(
            encoding: encoding.name,
            autoVacuum: header?.autoVacuum ?? 0,
            userVersion: header?.userVersion ?? 0,
            applicationID: header?.applicationID ?? 0
        )
    }

    func objects() -> [SchemaObject] { schema }

    /// Notes a virtual table that is not as it was copied, and leaves out the account of the tables that its module has written again.
    func note(_ table: RemadeTable, replacing replaced: [String]) {
        remadeTables.append(table)
        tables.removeAll { replaced.contains($0.name) }
    }

    /// - Throws: An error of the disk, which is none of the object's.
    func failed(_ object: SchemaObject, _ error: any Error) throws {
        let code = (error as? DatabaseError)?.code.primary
        if [.inputOutput, .full, .cannotOpen].contains(code) { throw error }
        failures.append(SkippedObject(name: object.name, reason: String(describing: error)))
    }

    // MARK: The schema

    private func readSchema() throws {
        var garbled = 0
        let outcome = try salvage.follow(1, isTable: true) { row in
            if let object = object(row) { schema.append(object) } else { garbled += 1 }
        }
        isSchemaWhole = outcome.gaps.isEmpty && outcome.brokenRows == 0 && garbled == 0
        guard !isSchemaWhole else { return }
        // Its other pages look like those of any table; but nothing else has such rows.
        for page in salvage.strays(ofTables: true) {
            let objects = try salvage.rows(on: page).rows.map(object)
            guard !objects.isEmpty, objects.allSatisfy({ $0 != nil }) else { continue }
            schema += objects.compactMap { $0 }
            salvage.claim(page)
        }
    }

    private func object(_ row: RowSalvage.Row) -> SchemaObject? {
        guard row.values.count == 5, case .text(let type) = row.values[0], case .text(let name) = row.values[1],
            case .text(let table) = row.values[2], case .integer(let root) = row.values[3]
        else { return nil }
        let sql: String? = if case .text(let sql) = row.values[4] { encoding.text(sql) } else { nil }
        let kind = encoding.text(type)
        guard ["table", "index", "view", "trigger"].contains(kind) else { return nil }
        return SchemaObject(
            type: kind,
            name: encoding.text(name),
            table: encoding.text(table),
            rootPage: Int(root),
            sql: sql
        )
    }

    // MARK: Rows

    func copyRows(of table: SchemaObject, into target: Database, progress: () throws -> Void) throws {
        let shape = try TableShape(table.name, in: target)
        let insert = shape.insertion(into: target, encoding: encoding)
        var account = SalvagedTable(name: table.name)
        if !salvage.mayBeRoot(table.rootPage, isTable: shape.hasRowIDs) { isSchemaWhole = false }
        let outcome = try salvage.follow(table.rootPage, isTable: shape.hasRowIDs) { row in
            if !shape.hasColumns(for: row) { isSchemaWhole = false }
            try account.count(insert(row))
            if account.rows % 1000 == 0 { try progress() }
        }
        account.note(outcome, hasRowIDs: shape.hasRowIDs)
        if !outcome.gaps.isEmpty { claims.append(Claim(table: (tables.count, shape), gaps: outcome.gaps)) }
        tables.append(account)
    }

    /// Finds the tables of the pages that no tree led to; what no table claims, or several do, is kept in one of its own.
    func copyRest(into target: Database) throws {
        let lacksIndexes = try followTheRest()
        if claims.isEmpty, failures.isEmpty, isSchemaWhole {
            // If no tree misses a page, the pages that no tree leads to are free ones of a list that has lost a page; or of what an older
            // page 1 does not know.
            guard isFreeListWhole || !isFirstPageNewest else { return }
            if !lacksIndexes, !salvage.strays(ofTables: false).isEmpty { isSchemaWhole = false }
        }
        let inserts = claims.map { $0.table?.shape.insertion(into: target, encoding: encoding) }
        var unassigned = try salvage.strays(ofTables: true).filter { try !assign($0, inserts) }
        // Entries of an index look like rows of a table that is ordered by content, and are kept where that may be.
        if !isSchemaWhole || !failures.isEmpty || claims.contains(where: { $0.table?.shape.hasRowIDs == false }) {
            unassigned += try salvage.strays(ofTables: false).filter { try !assign($0, lacksIndexes ? [] : inserts) }
        }
        if !unassigned.isEmpty { try keep(unassigned, in: target) }
    }

    /// The only one that can have lost `rows`. Nil also where they may be of a table that is not known, or was emptied.
    private func claim(to rows: [RowSalvage.Row]) -> Int? {
        guard isSchemaWhole, failures.isEmpty, isFreeListWhole else { return nil }
        let possible = claims.indices.filter { claims[$0].accepts(rows) }
        return possible.count == 1 ? possible[0] : nil
    }

    /// Gives the rows of a page to the table that claims them, by its own of `inserts`, where there are any; false where none
    /// does.
    private func assign(_ page: Int, _ inserts: [((RowSalvage.Row) throws -> Bool)?]) throws -> Bool {
        let (rows, broken) = try salvage.rows(on: page)
        guard !rows.isEmpty || broken > 0 else { return true }
        guard !inserts.isEmpty, let claim = claim(to: rows), let table = claims[claim].table?.index,
            let insert = inserts[claim]
        else { return false }
        for row in rows { try tables[table].count(insert(row)) }
        tables[table].brokenRows += broken
        return true
    }

    /// Follows the trees whose rows are not copied now, so that their pages are known; returns whether indexes lack some.
    private func followTheRest() throws -> Bool {
        let failed = Set(failures.map(\.name))
        var lacksIndexes = false
        for object in schema where !object.isVirtual && !failed.contains(object.name) {
            let isIndex = object.type == "index"
            guard isIndex || object.isInternal else { continue }
            if !salvage.mayBeRoot(object.rootPage, isTable: !isIndex) { isSchemaWhole = false }
            let outcome = try salvage.follow(object.rootPage, isTable: !isIndex) { _ in }
            guard !outcome.gaps.isEmpty else { continue }
            if isIndex { lacksIndexes = true } else { claims.append(Claim(table: nil, gaps: outcome.gaps)) }
        }
        return lacksIndexes
    }

    /// Keeps rows whose table is not known, as the `.recover` of SQLite's shell does, in a table of a name that is free.
    private func keep(_ pages: [Int], in target: Database) throws {
        var name = "lost_and_found"
        var number = 0
        while try target.tableExists(name) {
            name = "lost_and_found_\(number)"
            number += 1
        }
        let width = try pages.reduce(1) { most, page in
            try salvage.rows(on: page).rows.reduce(most) { max($0, $1.values.count) }
        }
        // > The maximum number of columns in a table: 2,000 unless the engine was built with another limit.
        let most = try min(target.limit(.columns), target.limit(.parameters)) - 3
        let columns = (0..<min(width, most)).map { "c\($0)" }
        try target.executeStatements(
            "CREATE TABLE \(raw: name) (pgno INTEGER, nfield INTEGER, id INTEGER, \(raw: columns.joined(separator: ", ")))"
        )
        let marks = (0..<(3 + columns.count)).map { _ in "?" }.joined(separator: ", ")
        let statement = try StoredRowInsertion("INSERT INTO \(name) VALUES (\(marks))", in: target, encoding: encoding)
        var unassigned = SalvagedTable(name: name)
        for page in pages {
            let (rows, broken) = try salvage.rows(on: page)
            unassigned.brokenRows += broken
            for row in rows {
                let fields = row.values.prefix(columns.count)
                let filling = Array(repeating: StoredValue.null, count: columns.count - fields.count)
                let head: [StoredValue] = [
                    .integer(Int64(page)), .integer(Int64(row.values.count)), row.rowID.map { .integer($0) } ?? .null,
                ]
                _ = try statement.insert(head + fields + filling)
                unassigned.rows += 1
            }
        }
        unassignedRows = unassigned
    }
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

extension Database {
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
