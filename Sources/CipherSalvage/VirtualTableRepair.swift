package import CipherDB

/// Makes the virtual tables of a recovered database usable, and adds the triggers, which may write them.
///
/// What a virtual table has stored was copied like the rows of any table, and may lack some: then its module does not open it, or
/// answers wrongly. A full-text index is rebuilt where its content is there; what cannot be mended is made again, empty; what cannot be
/// made is left out, with the triggers that name it.
package struct VirtualTableRepair {
    private let content: SalvagedContent
    private let open: () throws -> Database

    /// - Parameter open: Opens the new database. Each connection reads the schema once, so that it is called after each change of that.
    package init(_ content: SalvagedContent, open: @escaping () throws -> Database) {
        self.content = content
        self.open = open
    }

    package func run() throws {
        let found = try withDatabase { database in
            try content.objects().filter { $0.type == "table" && $0.isVirtual }
                .filter { try database.tableExists($0.name) }
                .compactMap { object in
                    VirtualTableDefinition(name: object.name, sql: object.sql).map { (object, $0) }
                }
        }
        let broken = try withDatabase { database in
            try found.filter { _, table in try !mend(table, in: database) }
        }
        if !broken.isEmpty {
            try withDatabase { database in
                try database.setWritableSchema(true)
                // No DROP TABLE: the module would have to open the table for it.
                for (object, _) in broken {
                    try database.executeUpdate("DELETE FROM sqlite_master WHERE rootpage = 0 AND name = ?", object.name)
                }
                try database.setWritableSchema(false)
            }
        }
        for (object, table) in broken { try withDatabase { try makeAgain(object, table, in: $0) } }
        try withDatabase(addTriggers)
    }

    private func withDatabase<Result>(_ body: (Database) throws -> Result) throws -> Result {
        let database = try open()
        defer { database.close() }
        // Nobody knows the file yet, and where this fails it is thrown away.
        try database.executeStatements(
            "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF"
        )
        return try body(database)
    }

    // MARK: What is in order, or can be mended

    /// Rebuilds an index that needs it; false where the table must be made again.
    private func mend(_ table: VirtualTableDefinition, in database: Database) throws -> Bool {
        let isWhole = isWhole(table, in: database)
        do {
            try database.executeOne("SELECT 1 FROM \(quotedIdentifier(table.name)) LIMIT 1")
        } catch let error as DatabaseError where error.message.hasPrefix("no such module") {
            // Of a program's own, which will know it.
            return true
        } catch  where isOfTable(error) {
            // Where nothing was lost, the program has something that is not here, such as a tokenizer.
            return isWhole
        }
        if table.isRTree { return isWhole || isSound(table, in: database) }
        guard table.isFullText else { return true }
        if isWhole, isContentWhole(table), isSound(table, in: database) { return true }
        if table.content == .none { return isWhole }
        guard command("rebuild", table, in: database), isSound(table, in: database) else { return isWhole }
        content.note(RemadeTable(name: table.name, isEmpty: false), replacing: replacedTables(of: table))
        return true
    }

    /// Whether all that the module has stored was copied.
    private func isWhole(_ table: VirtualTableDefinition, in database: Database) -> Bool {
        table.neededTables.allSatisfy { (try? database.tableExists($0)) == true }
            && content.tables.allSatisfy { $0.isComplete || !table.shadowTables.contains($0.name) }
    }

    /// Whether the rows that an index is of are all there; otherwise it names rows that are not.
    private func isContentWhole(_ table: VirtualTableDefinition) -> Bool {
        guard case .external(let name) = table.content else { return true }
        let found = content.tables.first { $0.name.lowercased() == name.lowercased() }
        // A view has rows of any table.
        return found?.isComplete ?? content.tables.allSatisfy { $0.isComplete }
    }

    private func isSound(_ table: VirtualTableDefinition, in database: Database) -> Bool {
        guard table.isRTree else { return command("integrity-check", table, in: database) }
        return (try? database.string(forQuery: "SELECT rtreecheck('main', ?)", table.name)) == "ok"
    }

    /// Gives a full-text index one of its commands; whether it could be carried out.
    private func command(_ command: String, _ table: VirtualTableDefinition, in database: Database) -> Bool {
        let name = quotedIdentifier(table.name)
        return (try? database.executeOne("INSERT INTO \(name) (\(name)) VALUES ('\(command)')")) != nil
    }

    /// Whether an error says something about the table, and not about the disk or the memory.
    private func isOfTable(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return error is KeyError }
        return [.error, .corrupt, .constraint, .mismatch].contains(error.code.primary)
    }

    // MARK: What is made again

    /// Runs the statement of a table that is no longer in the schema, with its own content where there is some, else empty.
    private func makeAgain(_ object: SchemaObject, _ table: VirtualTableDefinition, in database: Database) throws {
        var lastError: any Error = DatabaseError(code: .corrupt, message: "its content is lost")
        for keepsContent in [true, false] {
            do {
                try make(object, table, keepsContent, in: database)
                let isEmpty = !keepsContent || table.content == .none || !table.isFullText
                content.note(
                    RemadeTable(name: table.name, isEmpty: isEmpty),
                    replacing: replacedTables(of: table) + (isEmpty ? [table.contentTable].compactMap { $0 } : [])
                )
                return
            } catch  where isOfTable(error) {
                if database.isInTransaction { try database.rollback() }
                lastError = error
            }
        }
        // They would be in the way of a table that the program makes; its rows stay.
        let kept = table.contentTable
        try change(database) {
            for name in table.shadowTables where name != kept { try dropTable(name, in: database) }
        }
        try content.failed(object, lastError)
    }

    private func make(
        _ object: SchemaObject,
        _ table: VirtualTableDefinition,
        _ keepsContent: Bool,
        in database: Database
    ) throws {
        try change(database) {
            let kept = try [table.contentTable, table.settingsTable].compactMap { $0 }
                .filter { try keepsContent && database.tableExists($0) }
            let copies = try kept.map { try freeName(for: $0, in: database) }
            for (name, copy) in zip(kept, copies) {
                try database.executeOne(
                    "CREATE TABLE \(quotedIdentifier(copy)) AS SELECT * FROM \(quotedIdentifier(name))"
                )
            }
            for name in table.shadowTables { try dropTable(name, in: database) }
            try database.executeOne(object.sql ?? "")
            for (name, copy) in zip(kept, copies) {
                try database.executeOne(
                    "REPLACE INTO \(quotedIdentifier(name)) SELECT * FROM \(quotedIdentifier(copy))"
                )
                try dropTable(copy, in: database)
            }
            guard table.isFullText else { return }
            if keepsContent, table.content != .none, !command("rebuild", table, in: database) {
                throw DatabaseError(code: .corrupt, message: "its content is lost")
            }
            guard table.content == .none || isSound(table, in: database) else {
                throw DatabaseError(code: .corrupt, message: "its content is lost")
            }
        }
    }

    /// Runs `body` in a transaction that may write tables of a module.
    private func change(_ database: Database, _ body: () throws -> Void) throws {
        try database.setWritableSchema(true)
        try database.executeStatements("BEGIN")
        try body()
        try database.executeStatements("COMMIT")
        try database.setWritableSchema(false)
    }

    private func dropTable(_ name: String, in database: Database) throws {
        try database.executeOne("DROP TABLE IF EXISTS \(quotedIdentifier(name))")
    }

    private func freeName(for name: String, in database: Database) throws -> String {
        var copy = "\(name)_saved"
        while try database.tableExists(copy) { copy += "_" }
        return copy
    }

    /// The tables whose losses do not matter any more.
    private func replacedTables(of table: VirtualTableDefinition) -> [String] {
        let whole = content.tables.filter(\.isComplete).map(\.name)
        return table.shadowTables.filter { name in
            name != table.contentTable && (name != table.settingsTable || whole.contains(name))
        }
    }

    // MARK: Triggers

    /// Adds the triggers but those of, and those that name, a table that is not in the new file: their statements would fail.
    private func addTriggers(_ database: Database) throws {
        let objects = content.objects()
        let missing = try Set(objects.filter { $0.type == "table" }.map(\.name)).filter {
            try !database.tableExists($0)
        }
        try database.setWritableSchema(true)
        for trigger in objects where trigger.type == "trigger" {
            if try database.int(
                forQuery:
                    "SELECT count(*) FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) = lower(?)",
                trigger.table
            ) == 0 {
                try content.failed(trigger, LostTable(name: trigger.table))
            } else if let name = missing.sorted().first(where: { trigger.names($0) }) {
                try content.failed(trigger, LostTable(name: name))
            } else {
                try database.addToSchema(trigger) { try content.failed(trigger, $0) }
            }
        }
        try database.setWritableSchema(false)
    }

    private struct LostTable: Error, CustomStringConvertible {
        let name: String
        var description: String { "it needs \(name), which is not in the new file" }
    }
}

extension SchemaObject {
    /// Whether `name` stands in the object's statement as a word, in whatever quotation marks.
    fileprivate func names(_ name: String) -> Bool {
        let (text, word) = (Array((sql ?? "").lowercased().unicodeScalars), Array(name.lowercased().unicodeScalars))
        func isPart(_ index: Int) -> Bool {
            text.indices.contains(index)
                && (text[index].properties.isAlphabetic || "0123456789_$".unicodeScalars.contains(text[index]))
        }
        guard !word.isEmpty, text.count >= word.count else { return false }
        return (0...(text.count - word.count)).contains { start in
            Array(text[start..<(start + word.count)]) == word && !isPart(start - 1) && !isPart(start + word.count)
        }
    }
}
