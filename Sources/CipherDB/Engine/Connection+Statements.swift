internal import CSQLCipher

/// Compiling and running SQL.
extension Connection {
    /// Compiles the first statement of `sql` and returns it with what follows it; nil where there is none.
    func prepare(_ sql: String) throws(DatabaseError) -> (statement: PreparedStatement, rest: Substring)? {
        var text = sql
        let compiled = try text.withUTF8 { utf8 in
            Result { () throws(DatabaseError) in try prepare(utf8, sql) }
        }.get()
        guard let statement = compiled.statement else { return nil }
        return (statement, text[text.utf8.index(text.startIndex, offsetBy: compiled.count)...])
    }

    /// Compiles the statements of `sql` one after the other, each when `body` is done with the one before it.
    func forEachStatement(of sql: String, _ body: (PreparedStatement) throws -> Void) throws {
        var text = sql
        try text.withUTF8 { utf8 in
            var rest = utf8[...]
            while !rest.isEmpty {
                let part = UnsafeBufferPointer(rebasing: rest)
                let sql = String(decoding: part.prefix(SQLScanner.firstStatement(part)), as: UTF8.self)
                let (statement, count) = try prepare(part, sql)
                rest = rest.dropFirst(max(1, count))
                guard let statement else { continue }
                defer { statement.finalize() }
                try body(statement)
            }
        }
    }

    /// The first statement of `utf8`, nil where that is space or a comment, and how many bytes it has.
    ///
    /// - Parameter sql: The statement, to be judged, and shown by an error.
    private func prepare(
        _ utf8: UnsafeBufferPointer<UInt8>,
        _ sql: String
    ) throws(DatabaseError) -> (statement: PreparedStatement?, count: Int) {
        try checkIsOpen()
        guard let length = Int32(exactly: utf8.count) else {
            throw DatabaseError(.tooBig, "the SQL has more than 2,147,483,647 bytes")
        }
        var statement: OpaquePointer?
        var count = 0
        // That of a statement that runs now, and calls a function which compiles this one.
        let outer = authorizer.takeAccess()
        let outerSQL = authorizer.sql
        authorizer.sql = sql
        // SQLite may have passed over the last one.
        _ = authorizer.takeRefusal()
        defer {
            authorizer.sql = outerSQL
            authorizer.access = outer
            authorizer.hasAccess = !outer.isEmpty
        }
        let code = utf8.withMemoryRebound(to: CChar.self) { characters in
            var tail: UnsafePointer<CChar>?
            let code = working { sqlite3_prepare_v2(handle, characters.baseAddress, length, &statement, &tail) }
            if let tail, let base = characters.baseAddress { count = tail - base }
            return code
        }
        if isClosing, runningCallbacks == 0 {
            _ = working { sqlite3_finalize(statement) }
            endIfAsked()
            try throwIfAskedToClose(sql: sql)
        }
        guard code == SQLITE_OK else {
            let failure = error(code, sql: sql)
            throw hasMetDamage(failure.code) ? damagedPage(sql) : failure.explainingParameter()
        }
        guard let statement else { return (nil, count) }
        let prepared = PreparedStatement(
            statement,
            sql: count == utf8.count ? sql : String(decoding: utf8[..<count], as: UTF8.self),
            accessing: authorizer.access,
            connection: self
        )
        openHandles.add(prepared, statement)
        return (prepared, count)
    }

    /// Whether a trigger of the main database, or a temporary one, has the message as it is: since SQLite 3.47 it may be made of values.
    func hasTrigger(raising message: String) -> Bool {
        guard let text = try? DatabaseValue.text("'\(message.replacing("'", with: "''"))'").literal else {
            return false
        }
        let condition = "type = 'trigger' AND instr(sql, \(text))"
        let found = unrestricted {
            try? self.text(
                "SELECT 1 FROM sqlite_master WHERE \(condition) UNION ALL SELECT 1 FROM sqlite_temp_master WHERE \(condition)"
            )
        }
        return found == "1"
    }

    /// Runs statements that return nothing of interest.
    func execute(_ sql: String) throws(DatabaseError) {
        try checkIsOpen()
        let outerSQL = authorizer.sql
        authorizer.sql = sql
        defer { authorizer.sql = outerSQL }
        if runningCallbacks == 0 { progress.begin(isOnly: activeStatements == 0) }
        let code = working { sqlite3_exec(handle, sql, nil, nil, nil) }
        defer { endIfAsked() }
        // It is the library's own, which may try again.
        try check(code, sql: sql, isReported: false)
    }

    /// The first column of the first row, as text; nil where there is no row or it is NULL.
    func text(_ sql: String) throws -> String? {
        guard let (statement, _) = try prepare(sql) else { return nil }
        defer { statement.finalize() }
        return try statement.step() ? statement.value(0).text : nil
    }

    /// The names of the schemas: `main`, `temp` where it was used, and those of attached databases.
    func schemas() throws(DatabaseError) -> [String] {
        try checkIsOpen()
        var statement: OpaquePointer?
        defer { _ = working { sqlite3_finalize(statement) } }
        let sql = "\(DamageWatch.mark) PRAGMA database_list"
        try check(unrestricted { working { sqlite3_prepare_v2(handle, sql, -1, &statement, nil) } })
        var names: [String] = []
        while working({ sqlite3_step(statement) }) == SQLITE_ROW {
            names.append(sqlite3_column_text(statement, 1).map { String(cString: $0) } ?? "")
        }
        return names
    }

    /// Guards the checkpoints of the files that are attached.
    func guardCheckpoints() throws(DatabaseError) {
        guard CheckpointGuard.isNeeded else { return }
        for schema in try schemas() where schema != "temp" { CheckpointGuard.install(on: handle, schema: schema) }
    }

    /// Whether it has attached databases or temporary tables, which another connection would not have.
    func hasMoreThanMain() throws -> Bool {
        try schemas().contains { $0 != "main" && $0 != "temp" } || text("SELECT name FROM sqlite_temp_master") != nil
    }
}
