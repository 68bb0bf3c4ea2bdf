/// A value read from a database, and again after each commit that changed its tables: an `AsyncSequence`.
///
/// ```swift
/// for try await notes in pool.observe({ try $0.fetchAll(Note.self, "SELECT * FROM notes") }) {
///     show(notes)
/// }
/// ```
///
/// It begins with the value as it is. Which tables the value depends on is seen from the statements that read it, each time. Commits
/// that come while a value is in use are taken together: the next one is the newest. A commit that touched such a table without
/// changing the value gives an equal value, unless ``removeDuplicates()`` passes over it. It ends when its task is cancelled and when the
/// database is closed; a change of key and a suspension do not disturb it.
///
/// Commits of other connections and processes are not seen; `checkForForeignChanges()` of the queue or pool looks for them.
public struct ValueObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// The value.
    public typealias Element = Value
    let log: ChangeLog
    /// The value, and the tables that it was read from; nil where they are not known.
    let read: @Sendable () async throws -> (Value, Set<TableName>?)
    /// Whether a value is passed over that comes after this one; nil for none.
    var isSame: (@Sendable (_ last: Value, _ new: Value) -> Bool)?

    /// The iterator of an observation.
    public func makeAsyncIterator() -> Iterator { Iterator(observation: self) }

    /// The iterator of an observation.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let observation: ValueObservation
        /// Before the last value was read.
        private var last: (commit: Int, tables: TableSelection)?
        private var lastValue: Value?
        private var isOver = false

        fileprivate init(observation: ValueObservation) {
            self.observation = observation
        }

        /// The value, when it may be another one; nil when the task is cancelled or the database closed.
        ///
        /// - Throws: what reading it throws; that ends the sequence.
        public mutating func next() async throws -> Value? {
            while let value = try await read() {
                guard let isSame = observation.isSame else { return value }
                if let lastValue, isSame(lastValue, value) { continue }
                lastValue = value
                return value
            }
            return nil
        }

        /// As ``next()``, also a value that is the same as the last one.
        private mutating func read() async throws -> Value? {
            guard !isOver else { return nil }
            isOver = true
            try observation.log.owner.check(.database)
            if let last {
                guard await observation.log.wait(for: last.tables, since: last.commit) else { return nil }
            }
            let commit = observation.log.commit
            let (value, tables): (Value, Set<TableName>?)
            do {
                (value, tables) = try await observation.read()
            } catch {
                if Task.isCancelled || observation.log.isClosed { return nil }
                guard error.isOfSuspension, observation.log.isSuspended(since: commit) else { throw error }
                last = (commit, TableSelection(tables: nil))
                isOver = false
                return try await read()
            }
            guard !Task.isCancelled else { return nil }
            last = (commit, TableSelection(tables: tables.map(Array.init)))
            isOver = false
            return value
        }
    }
}

extension ValueObservation where Value: Equatable {
    /// The same without a value that equals the one before it.
    public func removeDuplicates() -> ValueObservation {
        var observation = self
        observation.isSame = { $0 == $1 }
        return observation
    }
}

/// What commits changed: an `AsyncSequence`. Commits that come while one is handled arrive as one.
public struct TableChanges: AsyncSequence, Sendable {
    /// The changes of one commit, or of several.
    public typealias Element = Commit
    let log: ChangeLog
    let tables: TableSelection
    let begin: Int

    /// The iterator of the changes.
    public func makeAsyncIterator() -> Iterator { Iterator(changes: self, commit: begin) }

    /// The iterator of the changes.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let changes: TableChanges
        fileprivate var commit: Int

        /// Waits for the next change; nil when the task is cancelled or the database closed.
        public mutating func next() async -> Commit? {
            guard await changes.log.wait(for: changes.tables, since: commit) else { return nil }
            let (change, last) = changes.log.changes(of: changes.tables, since: commit)
            commit = last
            return change
        }
    }
}

/// What a transaction changed when it was committed.
public struct Commit: Sendable, Hashable {
    /// The tables that its statements wrote to, also by triggers and foreign keys; each with its database.
    public let tables: Set<TableName>
    /// Whether tables, indexes or views were created, changed or dropped, ``Database/userVersion`` or ``Database/applicationID`` was set,
    /// the whole database was replaced by a backup, or another process wrote: then any table may have changed, and `tables` has those that
    /// are known.
    public let changesSchema: Bool
}

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
        authorizer.recordedReads = nil
        return (value, try contentTables(of: tables).map(tables.union))
    }

    /// What the full-text indexes among the tables read by statements that they keep, of which nothing tells; nil where it is not known.
    private func contentTables(of tables: Set<TableName>) throws -> Set<TableName>? {
        var found: Set<TableName> = []
        let rows = try executeQuery(
            "SELECT name, sql FROM main.sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%content%=%'"
        )
        while try rows.next() {
            guard try tables.contains(TableName(rows["name"], in: "main")) else { continue }
            let sql: String = try rows["sql"]
            for name in FullTextIndex.contents(ofDeclaration: sql) {
                let content = TableName(name, in: "main")
                guard try usableConnection().isTable(content) else { return nil }
                found.insert(content)
            }
        }
        return found
    }

    fileprivate func noticeForeignChanges(_ log: ChangeLog) throws -> Bool {
        let version = try dataVersion
        defer { hooks.tracker?.lastDataVersion = version }
        guard version != hooks.tracker?.lastDataVersion else { return false }
        log.publish([], changesSchema: true)
        return true
    }
}
