import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// Calls where a database must not be used: each is refused before the engine is reached.
@Suite(.timeLimit(.minutes(Extent.minutesOfAHang))) struct TurnTests {
    let directory: TemporaryDirectory
    let queue: DatabaseQueue
    let pool: DatabasePool

    init() throws {
        directory = try TemporaryDirectory()
        queue = try DatabaseQueue(path: directory.file("queue.db"), key: .sample("secret"))
        pool = try DatabasePool(path: directory.file("pool.db"), key: .sample("secret"))
        try queue.inDatabase { try $0.executeStatements(Self.tables) }
        try pool.inDatabase { try $0.executeStatements(Self.tables) }
    }

    static let tables: SQL = "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t (a) VALUES (x'0102'), (x'03')"

    struct Row: Codable, RowDecodable {
        var id: Int
    }

    /// The result columns, parameters and decoders that a program's own types get.
    final class Kept: ColumnEncodable, @unchecked Sendable {
        var parameter: Parameter?
        var databaseValue: DatabaseValue { .null }
        func bind(to parameter: Parameter) throws {
            self.parameter = parameter
            try parameter.bindNull()
        }
    }

    struct KeptColumn: ColumnDecodable {
        let column: ResultColumn
        static func decode(_ column: ResultColumn) throws -> KeptColumn { KeptColumn(column: column) }
    }

    struct KeptDecoder: Decodable, RowDecodable {
        let decoder: any Decoder
        init(from decoder: any Decoder) { self.decoder = decoder }
    }

    enum OtherKeys: CodingKey { case id }

    /// A database, and what was made of it while that was allowed.
    struct Things {
        let database: Database
        let statement: Statement
        let rows: ResultSet
        let blob: Blob
        let column: ResultColumn
        let decoder: any Decoder
        /// Kept, so that only the turn refuses ``parameter``.
        let bound: Statement
        let parameter: Parameter

        init(_ database: Database) throws {
            self.database = database
            statement = try database.prepare("SELECT a FROM t WHERE id >= ?")
            rows = try database.executeQuery("SELECT id FROM t")
            _ = try rows.next()
            blob = try database.openBlob(inTable: "t", column: "a", row: 1)
            let kept: KeptColumn = try rows[0]
            column = kept.column
            decoder = try rows.decode(KeptDecoder.self).decoder
            let value = Kept()
            bound = try database.prepare("SELECT ?")
            try bound.executeUpdate(value)
            parameter = try #require(value.parameter)
        }
    }

    typealias Call = (name: String, run: (Things) throws -> Void)

    struct Record: Codable, RowDecodable, PersistableRecord {
        static let databaseTableName = "t"
        var id: Int64
    }

    /// By name; each is compiled by itself, because one list takes the compiler minutes.
    static var callsOfDatabase: [(name: String, run: (Database) throws -> Void)] {
        var calls: [(name: String, run: (Database) throws -> Void)] = []
        func add(_ name: String, _ run: @escaping (Database) throws -> Void) { calls.append((name, run)) }
        add("open") { try $0.open() }
        add("setKey") { try $0.setKey("secret") }
        add("open with key") { try $0.open(key: .sample("secret")) }
        add("open with keyring") {
            let keyring = Keyring(path: "/nowhere/a.keyring")
            try $0.open(key: .keyring(keyring, unlockedBy: .sample("secret")))
        }
        add("setKeyWithData") { try $0.setKeyWithData(Data([1])) }
        add("rekey") { try $0.rekey("other") }
        add("rekeyWithData") { try $0.rekeyWithData(Data([1])) }
        add("prepare") { _ = try $0.prepare("SELECT 1") }
        add("validateSQL") { try $0.validateSQL("SELECT 1") }
        add("executeUpdate") { try $0.executeUpdate("DELETE FROM t", values: []) }
        add("executeUpdate typed") { try $0.executeUpdate("INSERT INTO t (a) VALUES (?)", 1) }
        add("executeUpdate each") { try $0.executeUpdate("INSERT INTO t (a) VALUES (?)", forEach: [1]) { $0 } }
        add("executeUpdate sets") {
            try $0.executeUpdate("INSERT INTO t (a) VALUES (?)", forEach: [1]) { [$0] }
        }
        add("executeQuery") { _ = try $0.executeQuery("SELECT 1", values: []) }
        add("executeQuery typed") { _ = try $0.executeQuery("SELECT ?", 1) }
        add("executeStatements") { try $0.executeStatements("DELETE FROM t") }
        add("executeStatements with rows") { try $0.executeStatements("SELECT 1") { _ in } }
        add("value") { _ = try $0.value(forQuery: "SELECT 1", values: []) as Int? }
        add("value typed") { _ = try $0.int(forQuery: "SELECT ?", 1) }
        add("fetchAll") { _ = try $0.fetchAll(Row.self, "SELECT id FROM t") }
        add("fetchOne") { _ = try $0.fetchOne(Row.self, "SELECT id FROM t") }
        add("select") { _ = try $0.select(from: "t") }
        add("count") { _ = try $0.count(in: "t") }
        add("insert") { try $0.insert(into: "t", ["a": 1]) }
        add("insertOrIgnore") { try $0.insertOrIgnore(into: "t", ["a": 1]) }
        add("upsert") { try $0.upsert(into: "t", ["id": 1, "a": 1]) }
        add("update") { try $0.update("t", set: ["a": 1], where: Column("id") == 1) }
        add("delete") { try $0.delete(from: "t", where: Column("id") == 1) }
        add("updateAll") { try $0.updateAll("t", set: ["a": 1]) }
        add("deleteAll") { try $0.deleteAll(from: "t") }
        add("createTable") { try $0.createTable("n", columns: []) }
        add("createIndex") { try $0.createIndex("i", on: "t", columns: ["a"]) }
        add("dropIndex") { try $0.dropIndex("i") }
        add("createFullTextIndex") { try $0.createFullTextIndex("f", on: "t", columns: ["a"]) }
        add("dropFullTextIndex") { try $0.dropFullTextIndex("f") }
        add("addColumn") { try $0.addColumn(ColumnDefinition("b", .integer), to: "t") }
        add("dropTable") { try $0.dropTable("t") }
        add("beginTransaction") { try $0.beginTransaction() }
        add("commit") { try $0.commit() }
        add("rollback") { try $0.rollback() }
        add("inTransaction") { try $0.inTransaction { _ in } }
        add("startSavePoint") { try $0.startSavePoint(withName: "s") }
        add("releaseSavePoint") { try $0.releaseSavePoint(withName: "s") }
        add("rollbackToSavePoint") { try $0.rollbackToSavePoint(withName: "s") }
        add("inSavePoint") { try $0.inSavePoint { _ in } }
        add("migrate") { try $0.migrate([]) }
        add("completedMigrations") { _ = try $0.completedMigrations }
        add("pendingMigrations") { _ = try $0.pendingMigrations(of: []) }
        add("afterCommit") { try $0.afterCommit {} }
        add("renameTable") { try $0.renameTable("t", to: "u") }
        add("renameColumn") { try $0.renameColumn("a", of: "t", to: "b") }
        add("record fetchAll") { _ = try Record.fetchAll($0) }
        add("record fetchOne") { _ = try Record.fetchOne($0, key: nil) }
        add("record exists") { _ = try Record.exists($0, key: 1) }
        add("record deleteOne") { _ = try Record.deleteOne($0, key: 1) }
        add("record insert") { try Record(id: 7).insert($0) }
        add("record update") { try Record(id: 7).update($0) }
        add("record save") { try Record(id: 7).save($0) }
        add("record delete") { try Record(id: 7).delete($0) }
        add("checkpoint") { try $0.checkpoint() }
        add("vacuum") { try $0.vacuum() }
        add("integrityCheck") { _ = try $0.integrityCheck() }
        add("limit") { _ = try $0.limit(.columns) }
        add("setLimit") { try $0.setLimit(.columns, to: 10) }
        add("isReadOnly") { _ = try $0.isReadOnly }
        add("tableExists") { _ = try $0.tableExists("t") }
        add("schema") { _ = try $0.schema() }
        add("columnExists") { _ = try $0.columnExists("a", inTableWithName: "t") }
        add("tableSchema") { _ = try $0.tableSchema("t") }
        add("userVersion") { _ = try $0.userVersion }
        add("setUserVersion") { try $0.setUserVersion(1) }
        add("applicationID") { _ = try $0.applicationID }
        add("setApplicationID") { try $0.setApplicationID(1) }
        add("dataVersion") { _ = try $0.dataVersion }
        add("withUnsafeHandle") { try $0.withUnsafeHandle { _ in } }
        add("makeFunction") { try $0.makeFunction(named: "f") { _ in nil } }
        add("makeAggregate") { try $0.makeAggregate(named: "g", initial: { 0 }, step: { _, _ in }, result: { $0 }) }
        add("removeFunction") { try $0.removeFunction(named: "f") }
        add("makeTokenizer") { try $0.makeTokenizer(named: "z") { _, _ in [] } }
        add("makeCollation") { try $0.makeCollation(named: "c") { _, _ in .orderedSame } }
        add("attachPlaintext") { try $0.attachPlaintext("/nowhere", as: "x") }
        add("attach") { try $0.attach("/nowhere", as: "x", key: .sample("x")) }
        add("openBlob") { _ = try $0.openBlob(inTable: "t", column: "a", row: 1) }
        add("backup to path") { try $0.backup(to: "/nowhere/copy.db") }
        add("backup") { try $0.backup(to: Database(path: nil)) }
        add("backup to it") { try Database(path: nil).backup(to: $0) }
        return calls
    }

    static var calls: [Call] {
        var calls: [Call] = callsOfDatabase.map { call in (call.name, { try call.run($0.database) }) }
        func add(_ name: String, _ run: @escaping (Things) throws -> Void) { calls.append((name, run)) }
        add("statement.executeUpdate") { try $0.statement.executeUpdate(values: [1]) }
        add("statement.executeUpdate typed") { try $0.statement.executeUpdate(1) }
        add("statement.executeUpdate each") { try $0.statement.executeUpdate(forEach: [1]) { $0 } }
        add("statement.executeUpdate sets") { try $0.statement.executeUpdate(forEach: [1]) { [$0] } }
        add("statement.executeQuery") { _ = try $0.statement.executeQuery(values: [1]) }
        add("statement.executeQuery typed") { _ = try $0.statement.executeQuery(1) }
        add("statement.value") { _ = try $0.statement.value(values: [1]) as Data? }
        add("statement.value typed") { _ = try $0.statement.value(1) as Data? }
        add("rows.next") { _ = try $0.rows.next() }
        add("rows.next as") { _ = try $0.rows.next(as: Row.self) }
        add("rows.columnIndex") { _ = try $0.rows.columnIndex(forName: "id") }
        add("rows by index") { _ = try $0.rows[0] as Int }
        add("rows by name") { _ = try $0.rows["id"] as Int }
        add("rows by column") { _ = try $0.rows[Column("id")] as Int }
        add("rows.withBytes by name") { try $0.rows.withBytes(forColumn: "id") { _ in } }
        add("rows.int") { _ = try $0.rows.int(forColumn: "id") }
        add("rows.type") { _ = try $0.rows.type(forColumn: "id") }
        add("rows.isNull") { _ = try $0.rows.columnIndexIsNull(0) }
        add("rows.resultDictionary") { _ = try $0.rows.resultDictionary }
        add("rows.withBytes") { try $0.rows.withBytes(forColumnIndex: 0) { _ in } }
        add("rows.decode") { _ = try $0.rows.decode(Row.self) }
        add("rows.fetchOne") { _ = try $0.rows.fetchOne(Row.self) }
        add("rows.fetchAll") { _ = try $0.rows.fetchAll(Row.self) }
        add("rows.forEach") { try $0.rows.forEach { _ in } }
        add("rows.forEach as") { try $0.rows.forEach(Row.self) { _ in } }
        add("blob.count") { _ = try $0.blob.count }
        add("blob.read") { _ = try $0.blob.read(at: 0, count: 1) }
        add("blob.read into") { things in
            var bytes: [UInt8] = [0]
            try bytes.withUnsafeMutableBytes { try things.blob.read(into: $0, at: 0) }
        }
        add("blob.write") { try $0.blob.write(Data([1]), at: 0) }
        add("blob.move") { try $0.blob.move(toRow: 2) }
        add("blob.close") { try $0.blob.close() }
        add("column.value") { _ = try $0.column.value }
        add("column decoded") { _ = try Int.decode($0.column) }
        add("parameter.bind") { try $0.parameter.bind(Int64(1)) }
        add("parameter.bind double") { try $0.parameter.bind(1.5) }
        add("parameter.bind text") { try $0.parameter.bind("a") }
        add("parameter.bind bytes") { things in try [UInt8(1)].withUnsafeBytes { try things.parameter.bind($0) } }
        add("parameter.bind value") { try $0.parameter.bind(.integer(1)) }
        add("date.bind") { try Date().bind(to: $0.parameter) }
        add("decoder.container") { _ = try $0.decoder.container(keyedBy: OtherKeys.self) }
        add("parameter.bindNull") { try $0.parameter.bindNull() }
        return calls
    }

    /// The names of the calls that were not refused as a misuse.
    static func allowed(_ things: Things) -> [String] {
        calls.filter { call in
            do {
                try call.run(things)
                return true
            } catch {
                return (error as? DatabaseError)?.code != .misuse
            }
        }.map(\.name)
    }

    private func isDeaf(_ things: Things) -> Bool {
        let database = things.database
        database.setUpdateHook { _ in }
        database.close()
        database.closeOpenResultSets()
        database.clearCachedStatements()
        database.busyTimeout = .zero
        things.rows.close()
        return !database.isOpen && !database.isInTransaction && !database.goodConnection
            && !database.hasOpenResultSets && database.changes == 0 && database.lastInsertRowID == 0
            && database.cipherFormat == nil && database.statementCacheStatistics == StatementCacheStatistics()
            && things.rows.columnNames.isEmpty && things.rows.columnCount == 0 && things.statement.columnNames.isEmpty
            && (try? things.column.storageClass) == nil && things.column.name.isEmpty
    }

    // MARK: Of a queue or pool

    @Test func databaseOfQueueEndsWithBlock() throws {
        var kept: Things?
        try queue.inDatabase { kept = try Things($0) }
        let things = try #require(kept)
        #expect(Self.allowed(things) == [] && isDeaf(things))
        #expect(try queue.inDatabase { try $0.count(in: "t") } == 2)
    }

    @Test func blockAllowsItsCalls() throws {
        try queue.inDatabase { database in
            let things = try Things(database)
            #expect(database.isOpen && things.rows.columnNames == ["id"] && things.statement.columnNames == ["a"])
            #expect(try things.rows[0] as Int == 1 && things.blob.count == 2)
        }
    }

    @Test func otherThreadIsRefusedDuringBlock() throws {
        try queue.inDatabase { database in
            let things = try Things(database)
            #expect(try onOtherThread { Self.allowed(things) } == [])
            #expect(try onOtherThread { isDeaf(things) })
            #expect(try things.rows[0] as Int == 1 && things.blob.count == 2)
        }
    }

    @Test func readersEndWithBlock() throws {
        var kept: Things?
        try pool.read { _ in try pool.read { kept = try Things($0) } }
        let things = try #require(kept)
        #expect(Self.allowed(things) == [] && isDeaf(things))
        try pool.read { database in
            let things = try Things(database)
            #expect(try onOtherThread { Self.allowed(things) } == [])
        }
        #expect(try pool.read { try $0.count(in: "t") } == 2)
    }

    @Test func asynchronousBlocksEnd() async throws {
        let kept = Lock<[Smuggled<Things>]>([])
        try await queue.inDatabase { database in
            let things = Smuggled(try Things(database))
            kept.withLock { $0.append(things) }
            #expect(try things.value.rows[0] as Int == 1)
        }
        try await pool.read { database in
            let things = Smuggled(try Things(database))
            kept.withLock { $0.append(things) }
        }
        try await pool.write { database in
            let things = Smuggled(try Things(database))
            kept.withLock { $0.append(things) }
        }
        for things in kept.withLock({ $0 }) { #expect(Self.allowed(things.value) == []) }
        #expect(kept.withLock { $0.count } == 3)
    }

    @Test func preparedConnectionIsKeptOut() throws {
        nonisolated(unsafe) var kept: Database?
        let queue = try DatabaseQueue(
            path: directory.file("prepared.db"),
            key: .sample("secret"),
            configuration: Configuration { $0.prepareDatabase = { kept = $0 } }
        )
        let database = try #require(kept)
        #expect(isMisuse { try database.executeStatements("CREATE TABLE t (a)") })
        try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a)") }
    }

    @Test func whatIsLetGoElsewhereEnds() throws {
        for _ in 0..<3 {
            try queue.inDatabase { database in
                // The only references are the thread's.
                func letGo<Value: AnyObject>(_ make: () throws -> Value) throws {
                    let last = Lock<Smuggled<Value>?>(nil)
                    func keep() throws {
                        let value = Smuggled(try make())
                        last.withLock { $0 = value }
                    }
                    try keep()
                    try onOtherThread { last.withLock { $0 = nil } }
                }
                try letGo { try database.prepare("SELECT a FROM t") }
                try letGo { try database.openBlob(inTable: "t", column: "a", row: 1) }
                try letGo {
                    let rows = try database.executeQuery("SELECT id FROM t WHERE id > 0")
                    _ = try rows.next()
                    return rows
                }
                #expect(try database.count(in: "t") == 2)
                #expect(!database.hasOpenResultSets)
                // The cached statement goes on to be cached.
                _ = try database.fetchAll(Int.self, "SELECT id FROM t WHERE id > 0")
                let hits = database.statementCacheStatistics.hits
                _ = try database.fetchAll(Int.self, "SELECT id FROM t WHERE id > 0")
                #expect(database.statementCacheStatistics.hits == hits + 1)
            }
        }
    }

    @Test func queueThatGoesClosesKeptDatabase() throws {
        var kept: Database?
        weak var connection: Connection?
        do {
            let queue = try DatabaseQueue(path: directory.file("gone.db"), key: .sample("secret"))
            try queue.inDatabase {
                kept = $0
                connection = $0.connection
                try $0.executeStatements(Self.tables)
            }
        }
        #expect(isMisuse { _ = try kept?.count(in: "t") })
        kept = nil
        // A queue that goes within a task is closed on another thread.
        for _ in 0..<20_000 where connection != nil { Thread.sleep(forTimeInterval: 0.001) }
        #expect(connection == nil)
    }

    // MARK: A database of a program's own

    private func database() throws -> Database {
        let database = Database(path: directory.file("own.db"))
        try database.open(key: .sample("secret"))
        try database.executeStatements(Self.tables)
        return database
    }

    @Test func databaseDroppedDuringCallOfItsPartIsClosed() throws {
        for endsFirst in [true, false] {
            var database: Database? = try database()
            let connection = try #require(database?.connection)
            var blob = try database?.openBlob(inTable: "t", column: "a", row: 1)
            let stay = try connection.turn.enter()
            let dropped = Smuggled(Box(database))
            database = nil
            try onOtherThread { dropped.value.content = nil }
            #expect(!connection.isClosed)
            connection.turn.leave(stay)
            if endsFirst { _ = try blob?.count }
            blob = nil
            #expect(blob == nil && connection.isClosed)
            try FileManager.default.removeItem(atPath: directory.file("own.db"))
        }
    }

    private final class Box {
        var content: Database?
        init(_ content: Database?) { self.content = content }
    }

    @Test func databaseGoesFromThreadToThread() throws {
        let database = try database()
        let things = try onOtherThread { try Things(database) }
        #expect(try things.rows[0] as Int == 1)
        #expect(try onOtherThread { try things.rows.next() })
        #expect(try things.rows[0] as Int == 2)
        #expect(try onOtherThread { try things.blob.read(at: 0, count: 2) } == Data([1, 2]))
        try onOtherThread { try database.executeUpdate("INSERT INTO t (a) VALUES (?)", 1) }
        #expect(database.changes == 1)
    }

    /// In a call of the first thread that uses it, and of another one.
    @Test(arguments: [false, true]) func secondThreadIsRefusedDuringCall(isMoved: Bool) throws {
        let database = try database()
        if isMoved { try onOtherThread { try database.executeUpdate("DELETE FROM t WHERE id > ?", 2) } }
        let things = try Things(database)
        try database.executeQuery("SELECT 1").forEach { (_: ResultSet) throws in
            #expect(try onOtherThread { Self.allowed(things) } == [])
            #expect(try onOtherThread { isDeaf(things) })
            #expect(try database.count(in: "t") == 2)
        }
        #expect(try onOtherThread { try database.count(in: "t") } == 2)
    }

    @Test func interruptComesFromAnyThread() throws {
        let database = try database()
        let smuggled = Smuggled(database)
        let (isOver, ended) = (Gate(), Gate())
        Thread {
            while !isOver.passed { smuggled.value.interrupt() }
            ended.open()
        }.start()
        defer {
            isOver.open()
            ended.wait()
        }
        let endless: SQL = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
        do {
            try database.executeUpdate(endless)
            Issue.record("it ended")
        } catch let error as DatabaseError {
            #expect(error.code.primary == .interrupted)
        }
    }

    @Test func twoThreadsAreRefusedNotMixed() throws {
        let database = Smuggled(try database())
        let (stored, other) = (Counter(), Counter())
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in 0..<250 {
                do {
                    switch (thread + number) % 4 {
                    case 0:
                        try database.value.executeUpdate("INSERT INTO t (a) VALUES (?)", number)
                        stored.add()
                    case 1: _ = try database.value.fetchAll(Row.self, "SELECT id FROM t")
                    case 2:
                        let rows = try database.value.executeQuery("SELECT id FROM t")
                        while try rows.next() { _ = try rows[0] as Int }
                    default:
                        try database.value.inTransaction {
                            try $0.executeUpdate("UPDATE t SET a = ? WHERE id = 1", number)
                        }
                    }
                } catch {
                    if (error as? DatabaseError)?.code != .misuse { other.add() }
                }
            }
        }
        #expect(other.value == 0)
        database.value.closeOpenResultSets()
        #expect(try database.value.count(in: "t") == 2 + stored.value)
        #expect(try database.value.integrityCheck() == [])
    }

    enum Owner: CaseIterable { case queue, pool, reader }

    @Test(arguments: Owner.allCases) func keptDatabaseBesideItsOwnerIsRefused(_ owner: Owner) throws {
        let (queue, pool) = (queue, pool)
        @Sendable func use(_ body: (Database) throws -> Void) throws {
            switch owner {
            case .queue: try queue.inDatabase(body)
            case .pool: try pool.inDatabase(body)
            case .reader: try pool.read(body)
            }
        }
        var kept: Things?
        try use { kept = try Things($0) }
        let things = Smuggled(try #require(kept))
        let (refused, done) = (Counter(), Counter())
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 0..<1000 {
                if thread == 0 {
                    try? use { database in
                        if owner != .reader {
                            try database.executeUpdate("INSERT INTO t (a) VALUES (?)", number)
                        } else {
                            _ = try database.fetchAll(Row.self, "SELECT id FROM t")
                        }
                        done.add()
                    }
                } else {
                    let call = Self.calls[number % Self.calls.count]
                    if isMisuse({ try call.run(things.value) }) { refused.add() }
                }
            }
        }
        #expect(refused.value == 1000 && done.value == 1000)
        let count = try pool.read { try $0.count(in: "t") } + queue.read { try $0.count(in: "t") }
        #expect(count == (owner == .reader ? 4 : 1004))
    }

    /// The settings are a structure that is replaced as a whole.
    @Test func settingsAreNotReadWhileTheyChange() throws {
        let database = Smuggled(try database())
        let other = Counter()
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            for number in 0..<500 {
                guard thread == 0 else {
                    database.value.dateFormat = number.isMultiple(of: 2) ? .sqlite : .secondsSince1970
                    continue
                }
                let column = ColumnDefinition("c\(number)", .text, .notNull, try! .default(Date()))
                do {
                    if number < 100 { try database.value.addColumn(column, to: "t") }
                    try database.value.createTable(TableName("t\(number)"), columns: [column])
                    _ = try database.value.fetchOne(Date.self, "SELECT '2026-01-01 00:00:00'")
                } catch {
                    if (error as? DatabaseError)?.code != .misuse { other.add() }
                }
            }
        }
        #expect(other.value == 0)
    }
}
