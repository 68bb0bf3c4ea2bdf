extension Database {
    /// What is wrong with the full-text indexes of the main database, a line each.
    ///
    /// The engine compares the words of an index and of its text by a statement that writes nothing, and yet needs the lock of a writer. A
    /// connection that only reads compares the numbers of the rows.
    func fullTextProblems() throws -> [String] {
        let indexes = try fullTextIndexes()
        guard !indexes.isEmpty else { return [] }
        let connection = try usableConnection()
        if try connection.isReadOnly || connection.authorizer.isReader || value(forQuery: "PRAGMA query_only") ?? false
        {
            return try indexes.filter { try hasOtherRows($0) }.map(\.problem)
        }
        func check(_ undo: inout Bool) throws -> [String] {
            // To observers it would be a change of the index.
            undo = true
            return try indexes.filter { try hasOtherWords($0) }.map(\.problem)
        }
        return try isInTransaction
            ? inSavePoint { try check(&$1) } : inTransaction(.immediate) { try check(&$1) }
    }

    var hasFullTextIndexes: Bool {
        get throws { try !fullTextIndexes().isEmpty }
    }

    /// Those whose modules and tokenizers this connection has.
    func fullTextIndexes() throws -> [FullTextIndex] {
        let tables = try executeQuery(
            "SELECT name, lower(sql) FROM main.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%fts%'"
        )
        defer { tables.close() }
        var indexes: [FullTextIndex] = []
        while try tables.next() {
            let (name, definition): (String, String) = try (tables[0], tables[1])
            for module in FullTextIndex.Module.allCases where definition.contains(module.rawValue) {
                let index = FullTextIndex(name: name, module: module)
                // Other modules have no such columns.
                guard try compiles(index.check) else { continue }
                indexes.append(index)
                break
            }
        }
        return indexes
    }

    private func hasOtherWords(_ index: FullTextIndex) throws -> Bool {
        do {
            guard let (statement, _) = try usableConnection().prepare(index.check) else { return false }
            defer { statement.finalize() }
            return try statement.step()
        } catch let error as DatabaseError where error.code.primary == .corrupt {
            return true
        } catch let error as DatabaseError where error.code.primary == .error {
            // It has no text to be compared with.
            return false
        }
    }

    private func hasOtherRows(_ index: FullTextIndex) throws -> Bool {
        // One that keeps no sizes of its rows cannot be asked.
        guard try compiles(index.hasOtherRows) else { return false }
        do {
            return try usableConnection().text(index.hasOtherRows) == "1"
        } catch let error as DatabaseError where error.code.primary == .error {
            return false
        }
    }
}
