internal import CipherDB
internal import SQLiteFormat

/// How the rows of a table stand in records, and how they are inserted; found from the table itself.
struct TableShape {
    /// A value of a record.
    private struct Field {
        let column: String
        /// Computed by SQLite from others: stored, and not inserted.
        let isGenerated: Bool
        let isNotNull: Bool
    }

    let table: String
    private let fields: [Field]
    /// Nil in WITHOUT ROWID tables.
    private let rowIDName: String?
    /// The field whose value is the rowid; a record has NULL there.
    private let rowIDField: Int?

    /// Whether the table is a rowid table.
    let hasRowIDs: Bool

    /// Looks at `table` in `database`, where it exists.
    init(_ table: String, in database: Database) throws {
        self.table = table
        let columns = try TableShape.columns(of: table, in: database)
        let keys = try TableShape.keyIndex(of: table, in: database)
        rowIDName = try database.rowIDName(of: table, columns: columns.map(\.name))
        // Whether a table whose columns have taken all three names has identifiers cannot be seen; most have.
        hasRowIDs = rowIDName != nil || Set(columns.map { $0.name.lowercased() }).isSuperset(of: Database.rowIDNames)
        if !hasRowIDs, let keys {
            // > A record of a WITHOUT ROWID table has the columns of the primary key first, then the others.
            let order = try TableShape.indexColumns(keys, in: database)
            let found = order.compactMap { number in columns.first { $0.number == number } }
            let rest = columns.filter { !order.contains($0.number) }
            fields = (found + rest).map(\.field)
        } else {
            fields = columns.map(\.field)
        }
        let key = columns.filter(\.isKey)
        // > A primary key that is the rowid has no index.
        rowIDField =
            hasRowIDs && keys == nil && key.count == 1
            ? fields.firstIndex { $0.column == key[0].name } : nil
    }

    /// Whether the table has a column for each value. Else its definition is older than the row.
    func hasColumns(for row: RowSalvage.Row) -> Bool { row.values.count <= fields.count }

    /// Whether a row may be one of this table. One that was written before a column was added has fewer fields.
    func accepts(_ row: RowSalvage.Row) -> Bool {
        guard (row.rowID != nil) == hasRowIDs, (1...max(1, fields.count)).contains(row.values.count) else {
            return false
        }
        return zip(fields.indices, row.values).allSatisfy { index, value in
            if index == rowIDField { return value == .null }
            return value != .null || !fields[index].isNotNull
        }
    }

    /// Inserts rows of this table into `database`; rows that are not unique are left out.
    func insertion(into database: Database, encoding: TextEncoding) -> (RowSalvage.Row) throws -> Bool {
        // Rows that were written before a column was added end before it, and get its default.
        var statements: [Int: StoredRowInsertion] = [:]
        return { row in
            let count = min(row.values.count, fields.count)
            let places = (0..<count).filter { !fields[$0].isGenerated && $0 != rowIDField }
            let rowID = rowIDName ?? rowIDField.map { fields[$0].column }
            guard rowID != nil || !places.isEmpty else { return false }
            let statement = try statements[count] ?? prepare(places, rowID, database, encoding)
            statements[count] = statement
            let identifier = row.rowID.flatMap { rowID == nil ? nil : [StoredValue.integer($0)] } ?? []
            do {
                return try statement.insert(identifier + places.map { row.values[$0] })
            } catch let error as DatabaseError where TableShape.refusals.contains(error.code.primary) {
                return false
            }
        }
    }

    /// What `OR IGNORE` does not cover: values that a strict table does not take, or that an expression fails on.
    private static let refusals: [ResultCode] = [.constraint, .mismatch, .tooBig, .error]

    private func prepare(
        _ places: [Int],
        _ rowID: String?,
        _ database: Database,
        _ encoding: TextEncoding
    ) throws -> StoredRowInsertion {
        let names = (rowID.map { [$0] } ?? []) + places.map { fields[$0].column }
        let list = names.map(quotedIdentifier).joined(separator: ", ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        return try StoredRowInsertion(
            "INSERT OR IGNORE INTO \(quotedIdentifier(table)) (\(list)) VALUES (\(marks))",
            in: database,
            encoding: encoding
        )
    }

    // MARK: What the engine says

    private struct Column {
        let number: Int
        let name: String
        let isKey: Bool
        let field: Field
    }

    /// The columns that stand in records.
    private static func columns(of table: String, in database: Database) throws -> [Column] {
        // Engines that know no generated columns have no such pragma, and answer nothing.
        var columns = try columns("PRAGMA table_xinfo(\(identifier: table))", in: database)
        if columns.isEmpty { columns = try self.columns("PRAGMA table_info(\(identifier: table))", in: database) }
        return columns
    }

    private static func columns(_ pragma: SQL, in database: Database) throws -> [Column] {
        var columns: [Column] = []
        let rows = try database.executeQuery(pragma)
        let hasHidden = rows.columnNames.contains("hidden")
        while try rows.next() {
            // > hidden: 2 for a generated column that is not stored, 3 for one that is
            let hidden = hasHidden ? try rows.int(forColumn: "hidden") ?? 0 : 0
            if hidden == 2 { continue }
            let name = try rows.string(forColumn: "name") ?? ""
            columns.append(
                Column(
                    number: try rows.int(forColumn: "cid") ?? 0,
                    name: name,
                    isKey: try rows.int(forColumn: "pk") ?? 0 > 0,
                    field: Field(
                        column: name,
                        isGenerated: hidden == 3,
                        isNotNull: try rows.int(forColumn: "notnull") ?? 0 == 1
                    )
                )
            )
        }
        return columns
    }

    /// The index of the primary key, where it has one.
    private static func keyIndex(of table: String, in database: Database) throws -> String? {
        let rows = try database.executeQuery("PRAGMA index_list(\(identifier: table))")
        defer { rows.close() }
        while try rows.next() {
            if try rows.string(forColumn: "origin") == "pk" { return try rows.string(forColumn: "name") }
        }
        return nil
    }

    private static func indexColumns(_ index: String, in database: Database) throws -> [Int] {
        var numbers: [Int] = []
        let rows = try database.executeQuery("PRAGMA index_xinfo(\(identifier: index))")
        while try rows.next() { numbers.append(try rows.int(forColumn: "cid") ?? -1) }
        return numbers
    }
}
