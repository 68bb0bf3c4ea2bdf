extension DatabaseQueue {
    /// A value read by `read` as it is, and again after each commit of this queue that touched the tables it was read from.
    ///
    /// - Parameter read: Reads it; it should change nothing, and take the same way each time. Reading may fail, which ends the
    ///   sequence with that error.
    public func observe<Value: Sendable>(
        _ read: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(log: log) { [self] in
            try await inDatabase { database in try database.recordingTables { try read(database) } }
        }
    }

    /// The tables that commits of this queue change from now on: of some tables, or all.
    public func tableChanges(of tables: [TableName]?) -> TableChanges {
        TableChanges(log: log, tables: TableSelection(tables: tables), begin: log.commit)
    }

    /// Each commit of this queue from now on that changed something, also while nobody looks: they are kept until they are
    /// taken, however many there are.
    public func commits() -> AsyncStream<Commit> {
        log.commits()
    }

    /// Looks whether another connection or process committed since the last look, or since the queue was opened; then all that is
    /// observed is read again. It costs a few microseconds: call it by a timer, or when the program comes to the front.
    ///
    /// - Returns: whether somebody did. The first look after a change of key says so, too.
    /// - Throws: ``DatabaseError``, ``KeyError``.
    @discardableResult
    public func checkForForeignChanges() throws -> Bool {
        try inDatabase { try $0.noticeForeignChanges(log) }
    }

    /// Asynchronous version; does not block the calling thread.
    @discardableResult
    public func checkForForeignChanges() async throws -> Bool {
        try await inDatabase { [log] in try $0.noticeForeignChanges(log) }
    }
}

extension DatabasePool {
    /// A value read by `read` as it is, and again after each commit of this pool that touched the tables it was read from. Each is
    /// read by one of the pool's readers, from one state of the database.
    ///
    /// - Parameter read: Reads it, and takes the same way each time. Reading may fail, which ends the sequence with that error.
    public func observe<Value: Sendable>(
        _ read: @escaping @Sendable (Database) throws -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(log: writer.log) { [self] in
            try await self.read { database in try database.recordingTables { try read(database) } }
        }
    }

    /// The tables that commits of this pool change from now on: of some tables, or all.
    public func tableChanges(of tables: [TableName]?) -> TableChanges {
        writer.tableChanges(of: tables)
    }

    /// Each commit of this pool from now on that changed something, as ``DatabaseQueue/commits()``.
    public func commits() -> AsyncStream<Commit> {
        writer.commits()
    }

    /// Looks whether another process committed, as `checkForForeignChanges()` of a queue.
    @discardableResult
    public func checkForForeignChanges() throws -> Bool {
        try checkNotReading()
        return try writer.checkForForeignChanges()
    }

    /// Asynchronous version; does not block the calling thread.
    @discardableResult
    public func checkForForeignChanges() async throws -> Bool {
        try await writer.checkForForeignChanges()
    }
}

extension Database {
    /// A number that changes when another connection committed to this database (sqlite.org/pragma.html#pragma_data_version).
    ///
    /// - Throws: ``DatabaseError``, ``KeyError``.
    public var dataVersion: Int64 {
        get throws { try value(forQuery: "PRAGMA data_version") ?? 0 }
    }

    /// Runs `body`, and returns also the tables that its statements read; nil where they are not known.
    fileprivate func recordingTables<Value>(_ body: () throws -> Value) throws -> (Value, Set<TableName>?) {
        try usableConnection().authorizer.recordedReads = []
        defer { connection?.authorizer.recordedReads = nil }
        let value = try body()
        // Before SQLite 3.20 nothing tells of a table whose columns are not read: count(*).
        guard Engine.tellsTablesWithoutColumns, let authorizer = connection?.authorizer,
            !authorizer.readsMoreThanRecorded, let tables = authorizer.recordedReads
        else {
            return (value, nil)
        }
        return (value, tables)
    }

    fileprivate func noticeForeignChanges(_ log: ChangeLog) throws -> Bool {
        let version = try dataVersion
        defer { hooks.tracker?.lastDataVersion = version }
        guard version != hooks.tracker?.lastDataVersion else { return false }
        log.publish([], changesSchema: true)
        return true
    }
}
