package import CipherDB
internal import CipherSystem

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Copies what is left of a damaged database into an empty one, through the engine.
///
/// It goes beyond `sqlcipher_export`: rows keep their rowids, also if no column shows them, and the text
/// encoding, `auto_vacuum`, `user_version`, `application_id` and the planner's statistics come along. Views, triggers and
/// virtual tables are copied as they stand in the schema, so that no module or function is needed for them; the tables in
/// which a virtual table keeps its content are copied like any other.
package struct ContentCopy {
    private let source: SalvagedContent
    private let target: Database
    private let standIns: StandIns
    private let pageSize: Int

    /// - Parameter pageSize: Bytes in a page of the target.
    package init(source: SalvagedContent, target: Database, pageSize: Int) {
        self.source = source
        self.target = target
        standIns = StandIns(target)
        self.pageSize = pageSize
    }

    /// - Parameter progress: Called with the bytes that the target has by now, every thousand rows.
    package func run(progress: (Int64) throws -> Void) throws {
        let settings = source.settings
        try prepareTarget(settings)
        let objects = source.objects()
        func copy(_ table: SchemaObject) throws {
            try source.copyRows(of: table, into: target) {
                try progress(Int64(try target.int(forQuery: "PRAGMA page_count") ?? 0) * Int64(pageSize))
            }
        }
        try target.executeStatements("BEGIN")
        let tables = try objects.filter { $0.type == "table" && !$0.isVirtual && !$0.isInternal }.filter(make)
        for table in tables { try copy(table) }
        try source.copyRest(into: target)
        for table in objects where table.name == "sqlite_sequence" { try fill(table, copy) }
        try target.executeStatements("COMMIT")
        // Each by itself: one that takes more memory than it may is undone with its whole transaction.
        for index in objects where index.type == "index" { _ = try make(index) }
        try target.executeStatements("BEGIN")
        let statistics = objects.filter { $0.name.utf8.starts(with: "sqlite_stat".utf8) }
        if !statistics.isEmpty { try target.executeStatements("ANALYZE sqlite_master") }
        for table in statistics { try fill(table, copy) }
        try copySchema(objects)
        try target.setUserVersion(settings.userVersion)
        try target.setApplicationID(settings.applicationID)
        try target.executeStatements("COMMIT")
    }

    /// Settings of an empty database that it keeps, then those of this connection.
    private func prepareTarget(_ settings: ContentSettings) throws {
        try target.executeStatements(
            "PRAGMA encoding = '\(raw: settings.encoding)'; PRAGMA auto_vacuum = \(raw: String(settings.autoVacuum)); VACUUM"
        )
        // Nobody knows the file yet, and where this fails it is thrown away. A statement that fails must be undone, though.
        try target.executeStatements(
            """
            PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;
            PRAGMA ignore_check_constraints = ON;
            """
        )
    }

    /// Runs the object's own statement; false where that is not possible, or it is an index that a constraint makes.
    private func make(_ object: SchemaObject) throws -> Bool {
        if object.sql == nil, object.type == "index" { return false }
        do {
            // Nothing else is run, whatever stands in the schema.
            guard let sql = object.sql, sql.uppercased().hasPrefix("CREATE ") else {
                throw DatabaseError(code: .corrupt, message: "its definition is lost")
            }
            try standIns.make(object, sql)
            return true
        } catch {
            try source.failed(object, error)
            return false
        }
    }

    /// Fills a table that SQLite has made, such as those with what `ANALYZE` has found and the highest identifiers that
    /// `AUTOINCREMENT` has given. Of those that this engine does not make nothing is copied.
    private func fill(_ table: SchemaObject, _ copy: (SchemaObject) throws -> Void) throws {
        guard try target.tableExists(table.name) else { return }
        try target.executeStatements("DELETE FROM \(identifier: table.name)")
        try copy(table)
    }

    /// Views and virtual tables. Triggers are added when the virtual tables were looked at.
    private func copySchema(_ objects: [SchemaObject]) throws {
        try target.setWritableSchema(true)
        for object in objects where object.isVirtual && object.type != "index" {
            if object.type == "trigger" { continue }
            try target.addToSchema(object) { try source.failed(object, $0) }
        }
        try target.setWritableSchema(false)
    }
}

extension Database {
    /// Adds what has no pages of its own, as it stands, to the schema, which must be writable.
    ///
    /// - Parameter failed: Called where that would make a schema that nobody can read.
    func addToSchema(_ object: SchemaObject, orElse failed: (DatabaseError) throws -> Void) throws {
        guard let sql = object.sql else {
            return try failed(DatabaseError(code: .corrupt, message: "its definition is lost"))
        }
        guard try int(forQuery: "SELECT count(*) FROM sqlite_master WHERE lower(name) = lower(?)", object.name) == 0
        else {
            return try failed(DatabaseError(code: .corrupt, message: "its name is taken"))
        }
        try executeUpdate(
            "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES (?, ?, ?, 0, ?)",
            object.type,
            object.name,
            object.table,
            sql
        )
    }
}

/// Functions and collations that only the program has, in a database that is made without it, so that tables that name them can be made.
///
/// Nothing is ever computed with them: a function fails where it is called, and an index that a collation was asked for is removed.
private final class StandIns {
    /// What could not be made, and how it can be.
    struct Missing: Error, CustomStringConvertible {
        let message: String
        var description: String {
            "\(message), which only the program has: recover there, by DatabaseFile with its configuration"
        }
    }

    private let database: Database
    private var functions: Set<String> = []
    private var collations: Set<String> = []
    private let isAsked = Lock(false)

    init(_ database: Database) {
        self.database = database
    }

    /// Runs the statement of a table without rows or of an index.
    ///
    /// - Throws: ``Missing`` where something would have to be computed, now or when rows are inserted; `DatabaseError`.
    func make(_ object: SchemaObject, _ sql: String) throws {
        isAsked.withLock { $0 = false }
        var first: DatabaseError?
        while true {
            do {
                try database.executeOne(sql)
                break
            } catch let error as DatabaseError where error.namesWhatIsMissing && object.type == "table" {
                // A second time it is not what a stand-in helps against.
                guard try add(error.message) else { throw error }
                first = first ?? error
            } catch let error as DatabaseError where error.namesWhatIsMissing {
                throw Missing(message: error.message)
            }
        }
        if let first, try computes(object.name) {
            try database.executeOne("DROP TABLE \(quotedIdentifier(object.name))")
            throw Missing(message: first.message)
        }
        if object.type == "index", isAsked.withLock({ $0 }) {
            try database.executeOne("DROP INDEX \(quotedIdentifier(object.name))")
            throw Missing(message: "no such collation sequence: \(collations.sorted().joined(separator: ", "))")
        }
    }

    /// Makes what a message says is missing; false where it is there.
    private func add(_ message: String) throws -> Bool {
        func name(after beginning: String) -> String? {
            message.hasPrefix(beginning) ? String(message.dropFirst(beginning.count)).lowercased() : nil
        }
        if let name = name(after: "no such function: "), functions.insert(name).inserted {
            try database.makeFunction(named: name, isDeterministic: true, isInnocuous: true) { _ in
                throw DatabaseError(code: .error, message: "no such function: \(name)")
            }
            return true
        }
        if let name = name(after: "no such collation sequence: "), collations.insert(name).inserted {
            try database.makeCollation(named: name) { [isAsked] _, _ in
                isAsked.withLock { $0 = true }
                return .orderedSame
            }
            return true
        }
        return false
    }

    /// Whether a row of the table, whose constraints are not looked at, would be inserted by a stand-in.
    private func computes(_ table: String) throws -> Bool {
        // The engine computes generated columns for each row, also where it does not store them.
        let kinds = try strings("hidden", of: "PRAGMA table_xinfo(\(identifier: table))")
        if kinds.contains(where: { $0 != "0" }) { return true }
        return try strings("name", of: "PRAGMA index_list(\(identifier: table))").contains { index in
            try strings("coll", of: "PRAGMA index_xinfo(\(identifier: index))")
                .contains { collations.contains($0.lowercased()) }
        }
    }

    private func strings(_ column: String, of pragma: SQL) throws -> [String] {
        let rows = try database.executeQuery(pragma)
        defer { rows.close() }
        var strings: [String] = []
        while try rows.next() { strings.append(try rows.string(forColumn: column) ?? "") }
        return strings
    }
}
