// What does not compile, and what the compiler says to write instead.
import CipherDB
import Foundation

func text(_ database: Database, _ name: String, _ ids: [Int], _ values: [any ColumnEncodable]) throws {
    // 34: text from outside
    try database.executeUpdate(name)
    // refused: 'executeUpdate' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    // 35: pasted together
    try database.executeUpdate("DELETE FROM player WHERE name = '" + name + "'")
    // refused: 'executeUpdate' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    // 36: a query
    _ = try database.executeQuery(name, 1)
    // refused: 'executeQuery' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    // 37: rows
    _ = try database.fetchAll(Int.self, name)
    // refused: 'fetchAll' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    _ = try database.fetchOne(Int.self, name)
    // refused: 'fetchOne' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    // 38: one value
    _ = try database.int(forQuery: name)
    // refused: 'int(forQuery:_:)' is unavailable: text becomes SQL by SQL(unsafe:) only; write a literal, with \(value) or ? for the values
    // 39: a list without its label
    _ = try database.executeQuery("SELECT * FROM player WHERE id IN (\(ids))")
    // refused: 'appendInterpolation' is unavailable: a list of values stands in parentheses: IN (\(list: values))
    // 40: an array without its label
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (?, ?)", values)
    // refused: 'executeUpdate' is unavailable: an array has its own label: values: StatementValues(array), or IN (\(list: array)) in the SQL
}

func literals(_ name: String) {
    // 44: text for a literal
    _ = SQL(stringLiteral: name)
    // refused: cannot convert value of type 'String' to expected argument type 'StaticString'
    // 45: text as SQL without a word that shows
    _ = SQL(name)
    // refused: missing argument label 'unsafe:' in call
    let sql: SQL = name
    // refused: cannot convert value of type 'String' to specified type 'SQL'
    _ = sql
}

func resultSets(_ pool: DatabasePool) async throws {
    // 41: rows that leave their block
    let rows = try await pool.read { try $0.executeQuery("SELECT 1") }
    // refused: type 'ResultSet' does not conform to the 'Sendable' protocol
    _ = rows
}

func waiting(_ queue: DatabaseQueue) throws {
    // 42: the same, waiting
    let rows = try queue.inDatabase { try $0.executeQuery("SELECT 1") }
    // refused: type 'ResultSet' does not conform to the 'Sendable' protocol
    _ = rows
}

func namesOfOthers(_ database: Database, _ queue: DatabaseQueue, _ text: String) throws {
    // 47: GRDB's names
    try database.execute(sql: "DELETE FROM player WHERE id = ?", arguments: [1])
    // refused: 'execute(sql:arguments:)' is unavailable: one statement is executeUpdate("…", values), several are executeStatements("…")
    _ = database.lastInsertedRowID
    // refused: 'lastInsertedRowID' has been renamed to 'lastInsertRowID'
    try queue.inSavepoint { _ in }
    // refused: 'inSavepoint' has been renamed to 'inSavePoint'
    _ = try Int.fetchAll(database, sql: "SELECT 1")
    // refused: 'fetchAll(_:sql:arguments:)' is unavailable: rows as a type are database.fetchAll(Type.self, "SELECT …", values)
    try database.inSavepoint { try database.insert(into: "player", ["name": "Ada"]) }
    // refused: 'inSavepoint' is unavailable: a savepoint is inSavePoint { database in … }, undone when the block throws
    _ = try database.int64(forQuery: "SELECT 1")
    // refused: 'int64(forQuery:_:)' is unavailable: let value: Int64? = try database.value(forQuery: …) has the type that is wanted
    _ = Column("score").between(1, and: 10)
    // refused: 'between(_:and:)' has been renamed to 'between(_:_:)'
    let tags: [String] = try database.executeQuery("SELECT tags FROM player")["tags"]
    // refused: 'subscript(_:)' is unavailable: an array in one column is JSON: (try rows[name] as JSONColumn<[Element]>).value
    _ = tags
    // 48: FMDB's names
    try database.executeUpdate("DELETE FROM player WHERE id = ?", withArgumentsIn: [1])
    // refused: 'executeUpdate(_:withArgumentsIn:)' is unavailable: values follow the SQL: executeUpdate("…", a, b); an array is values: StatementValues(array)
    _ = database.lastInsertRowId
    // refused: 'lastInsertRowId' has been renamed to 'lastInsertRowID'
    // 49: text for a key
    _ = try DatabaseQueue(path: "a.db", key: text)
    // refused: 'init(path:key:configuration:)' is unavailable: text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)
    try database.open(key: text)
    // refused: 'open(key:flags:)' is unavailable: text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)
}

func conditions(_ database: Database, _ data: [UInt8]) throws {
    // 50: a condition by its name
    _ = try database.select(from: "player", where: .lessOrEqual("score", to: 10))
    // refused: 'lessOrEqual(_:to:)' is unavailable: a condition is Column("name") <= value
    _ = try database.select(from: "player", where: .between("score", 1, and: 10))
    // refused: 'between(_:_:and:)' is unavailable: a condition is Column("name").between(least, greatest)
    // 51: names of settings and bytes
    _ = Configuration { $0.foreignKeysEnabled = true }
    // refused: 'foreignKeysEnabled' has been renamed to 'enforcesForeignKeys'
    _ = try SecretBytes(data)
    // refused: 'init(_:)' has been renamed to 'init(copying:)'
}

func secretKeys(_ bytes: SecretBytes) throws {
    // 52: secret bytes as a key
    _ = try DatabasePool(path: "a.db", key: bytes)
    // refused: 'init(path:key:configuration:)' is unavailable: secret bytes are a passphrase as key: .passphrase(bytes), a raw key as key: .raw(bytes), its hexadecimal digits as key: .raw(hex: bytes)
    // 53: an action of foreign keys
    _ = ColumnConstraint.references("player", onDelete: .fail)
    // refused: 'fail' has been renamed to 'noAction'
}

func columns(_ rows: ResultSet) throws {
    // 54: columns by FMDB's names
    _ = try rows.longLongInt(forColumn: "id")
    // refused: 'longLongInt(forColumn:)' has been renamed to 'int64(forColumn:)'
    _ = try rows.object(forColumn: "id")
    // refused: 'object(forColumn:)' is unavailable: a value of any kind is DatabaseValue: let value: DatabaseValue = try rows[name]
    _ = try rows.string(forColumn: 0)
    // refused: 'string(forColumn:)' has been renamed to 'string(forColumnIndex:)'
}

func calls(_ database: Database, _ queue: DatabaseQueue, _ payload: Payload) throws {
    // 55: values by name, as in FMDB
    try database.executeUpdate("DELETE FROM player WHERE id = :id", withParameterDictionary: ["id": 1])
    // refused: 'executeUpdate(_:withParameterDictionary:)' is unavailable: values by name are executeUpdate("…", values: ["name": value])
    _ = database.lastErrorMessage()
    // refused: 'lastErrorMessage()' is unavailable: what fails throws a DatabaseError, with its code and message
    // 56: calls of tables
    try database.insert(payload, into: "player")
    // refused: 'insert(_:into:)' is unavailable: a row is inserted by insert(into: "table", encoding: row)
    _ = try database.delete(from: "player")
    // refused: 'delete(from:)' is unavailable: delete(from:where:) has a condition; deleteAll(from:) deletes every row
    // 57: calls of a shared database
    _ = queue.observe(tables: ["player"])
    // refused: 'observe(tables:)' has been renamed to 'tableChanges(of:)'
    try queue.backup(to: queue)
    // refused: 'backup(to:)' is unavailable: a backup is a new file: backup(to: "path", key: key)
}

struct Payload: Codable { var list: [Int] }

func nested(_ database: Database, _ payload: Payload) throws {
    // 46: a value that SQLite does not have
    try database.executeUpdate("UPDATE player SET payload = \(payload)")
    // refused: 'appendInterpolation' is unavailable: a value with several inside is JSON: \(JSONColumn(value))
}

func loops(_ database: Database) throws {
    // 44: a loop that could not throw
    for row in try database.executeQuery("SELECT 1") {
        // refused: 'makeIterator()' is unavailable: a row can fail: write try rows.forEach { row in … }, or for row in try rows.fetchAll(Note.self)
        _ = row
    }
}

func connections(_ pool: DatabasePool) async throws {
    // 43: a connection that leaves its block
    let database = try await pool.read { $0 }
    // refused: conformance of 'Database' to 'Sendable' is unavailable: a Database is for one thread or task at a time; share a DatabaseQueue or DatabasePool
    _ = database
}

enum State: String, Codable { case open, done }
enum Plain: Int { case one }

func enumerations(_ database: Database, _ state: State, _ maybe: State?, _ plain: Plain, _ rows: ResultSet) throws {
    // 58: an enumeration that is not bindable
    try database.executeUpdate("UPDATE player SET state = \(state)")
    // refused: 'appendInterpolation' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    try database.executeUpdate("UPDATE player SET state = \(maybe)")
    // refused: 'appendInterpolation' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    try database.executeUpdate("UPDATE player SET state = \(plain)")
    // refused: 'appendInterpolation' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    try database.executeUpdate("UPDATE player SET state = ?", state)
    // refused: 'executeUpdate' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = try database.executeQuery("SELECT * FROM player WHERE state = ?", maybe)
    // refused: 'executeQuery' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = try database.select(from: "player", where: Column("state") == state)
    // refused: '==' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = try database.select(from: "player", where: Column("state") != maybe)
    // refused: '!=' is unavailable: an enumeration is bound if it is ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    try database.insert(into: "player", ["state": state])
    // refused: 'insert(into:_:)' is unavailable: each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)
    try database.update("player", set: ["name": "x", "state": state], where: Column("id") == 1)
    // refused: 'update(_:set:where:)' is unavailable: each value must be ColumnEncodable: an enumeration is as enum S: String, Codable, ColumnEncodable, ColumnDecodable, a value with several inside as JSONColumn(value)
    // 59: nor readable
    let found: State? = try database.value(forQuery: "SELECT state FROM player")
    // refused: 'value(forQuery:_:)' is unavailable: an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = try database.fetchAll(State.self, "SELECT state FROM player")
    // refused: 'fetchAll' is unavailable: an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = try database.fetchOne(State.self, "SELECT state FROM player WHERE id = ?", 1)
    // refused: 'fetchOne' is unavailable: an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    let stored: State = try rows["state"]
    // refused: 'subscript(_:)' is unavailable: an enumeration is read if it is ColumnDecodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = (found, stored)
}

func lists(_ database: Database, _ ids: [Int], _ names: [String: String]) throws {
    // 60: arrays and dictionaries in variables
    try database.executeUpdate("DELETE FROM player WHERE id = ?", values: ids)
    // refused: 'executeUpdate(_:values:)' is unavailable: an array in a variable is values: StatementValues(array), or IN (\(list: array)) in the SQL
    _ = try database.fetchAll(Player.self, "SELECT * FROM player WHERE name = :name", values: names)
    // refused: 'fetchAll(_:_:values:)' is unavailable: a dictionary in a variable is values: StatementValues(dictionary)
    try database.executeUpdate("DELETE FROM player WHERE id = ?", ids)
    // refused: 'executeUpdate' is unavailable: an array has its own label: values: StatementValues(array), or IN (\(list: array)) in the SQL
    _ = try database.select(from: "player", where: Column("id") == ids)
    // refused: '==' is unavailable: a column that has one of several values is isIn(values)
    // 61: conditions and orderings
    _ = try database.select(from: "player", orderedBy: ["id"])
    // refused: 'select(_:from:where:orderedBy:limit:offset:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.select(from: "player", where: ["id": 1])
    // refused: 'select(_:from:where:orderedBy:limit:offset:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    _ = try database.count(in: "player", where: ["name": "x"])
    // refused: 'count(in:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    _ = try database.select(from: "player", orderedBy: [Column("id").desc])
    // refused: 'desc' is unavailable: the greatest first is .descending("column")
    // 62: the primary key, columns and what SQL computes
    _ = try database.find(Player.self, id: 1)
    // refused: 'find(_:id:)' is unavailable: the row with a primary key is find(Type.self, in: "table", id: key)
    try database.upsert(into: "player", ["team": 1, "number": 2], onConflict: ["team", "number"])
    // refused: 'upsert(into:_:onConflict:)' is unavailable: the columns follow each other: onConflict: "a", "b"
    try database.update("player", set: ["score": Column("score") + 1], where: Column("id") == 1)
    // refused: '+' is unavailable: what SQL computes is SQL: executeUpdate("UPDATE player SET score = score + \(1) WHERE …")
}

func tables(_ database: Database) throws {
    // 63: tables and columns
    try database.create(table: "player", ifNotExists: true) { t in
        // refused: 'create(table:ifNotExists:withoutRowID:body:)' is unavailable: a table is createTable("name", columns: [ColumnDefinition("id", .integer, .primaryKey)])
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull().defaults(to: "x")
        t.belongsTo("team")
    }
    try database.alter(table: "player") { t in t.add(column: "score", .integer) }
    // refused: 'alter(table:body:)' is unavailable: a column is added by addColumn(ColumnDefinition("name", .text), to: "table")
    try database.drop(table: "player")
    // refused: 'drop(table:)' has been renamed to 'dropTable(_:)'
    try database.create(index: "by_name", on: "player", columns: ["name"], unique: true)
    // refused: 'create(index:on:columns:unique:ifNotExists:)' is unavailable: an index is createIndex("name", on: "table", columns: ["column"])
    _ = ColumnDefinition("score", .integer, .notNull, .defaults(to: 0))
    // refused: 'defaults(to:)' has been renamed to 'default(_:)'
    _ = ColumnDefinition("done", .boolean)
    // refused: 'boolean' is unavailable: a Bool is stored in a column of the type .integer
    _ = ColumnDefinition("due", .datetime)
    // refused: 'datetime' is unavailable: a Date is stored in a column of the type .text, or .real with DateFormat.secondsSince1970
    _ = ColumnDefinition("day", .date)
    // refused: 'date' is unavailable: a Date is stored in a column of the type .text, or .real with DateFormat.secondsSince1970
    _ = ColumnDefinition("weight", .double)
    // refused: 'double' has been renamed to 'real'
}

func codes(_ error: DatabaseError) -> Bool {
    // 64: SQLite's names
    if error.code == .SQLITE_CONSTRAINT { return true }
    // refused: 'SQLITE_CONSTRAINT' has been renamed to 'constraint'
    return error.code.primary == ResultCode.SQLITE_BUSY
    // refused: 'SQLITE_BUSY' has been renamed to 'busy'
}

func sqliteSwift(_ database: Database) throws {
    // 65: names of SQLite.swift, FMDB and GRDB
    try database.run("DELETE FROM player WHERE id = ?", 1)
    // refused: 'run' is unavailable: one statement is executeUpdate("…", values)
    let count = try database.scalar("SELECT count(*) FROM player") as! Int64
    // refused: 'scalar' is unavailable: one value is value(forQuery: "…", values), or int(forQuery:) and the like
    try database.transaction { try database.executeUpdate("DELETE FROM player") }
    // refused: 'transaction' is unavailable: a transaction is inTransaction { database in … }
    _ = try database.exists(in: "player", where: Column("id") == 1)
    // refused: 'exists(in:where:)' is unavailable: whether a row is there is count(in: "table", where: condition) > 0; whether a table is, tableExists("table")
    if database.hadError() { print(count) }
    // refused: 'hadError()' is unavailable: what fails throws a DatabaseError, with its code and message
}

func openings(_ url: URL, _ pool: DatabasePool) throws {
    // 66: openings
    _ = try DatabaseQueue()
    // refused: 'init(configuration:)' is unavailable: a database in memory is DatabaseQueue(path: nil)
    _ = try DatabaseQueue(path: "a.db", passphrase: "abc")
    // refused: 'init(path:passphrase:configuration:)' is unavailable: a passphrase is key: .passphrase(text)
    _ = try DatabasePool(path: "a.db", passphrase: "abc")
    // refused: 'init(path:passphrase:configuration:)' is unavailable: a passphrase is key: .passphrase(text)
    _ = Database(path: "a.db", passphrase: "abc")
    // refused: 'init(path:passphrase:configuration:)' is unavailable: the key is set when it is opened: Database(path: path), then open(key: .passphrase(text))
    try pool.backup(to: url)
    // refused: 'backup(to:key:)' is unavailable: the copy is named by its path: backup(to: url.path)
}

struct Player: Codable, RowDecodable {
    var id: Int64?
    var name: String
}

func records(_ database: Database, _ player: Player) throws {
    // 67: GRDB's records
    _ = try Player.fetchAll(database)
    // refused: 'fetchAll' is unavailable: rows as a type are database.fetchAll(Type.self, "SELECT …", values)
    _ = try Player.fetchOne(database, key: 1)
    // refused: 'fetchOne(_:key:)' is unavailable: the row with a primary key is database.find(Type.self, in: "table", id: key)
    let found = Player.filter(Column("name") == "x")
    // refused: 'filter' is unavailable: rows with a condition are database.fetchAll(Type.self, from: "table", where: condition)
    _ = try found.fetchAll(database)
    // refused: 'fetchAll' is unavailable: rows as a type are database.fetchAll(Type.self, "SELECT …", values)
    let sorted = Player.order(Column("name"))
    // refused: 'order' is unavailable: rows in order are database.fetchAll(Type.self, from: "table", orderedBy: [.ascending("column")])
    _ = try sorted.fetchOne(database)
    // refused: 'fetchOne' is unavailable: a row as a type is database.fetchOne(Type.self, "SELECT …", values)
    try player.insert(database)
    // refused: 'insert' is unavailable: a row is inserted by database.insert(into: "table", encoding: row)
    try player.update(database)
    // refused: 'update' is unavailable: a row is changed by database.update("table", encoding: row, where: Column("id") == row.id)
    try player.save(database)
    // refused: 'save' is unavailable: a row is inserted or changed by database.upsert(into: "table", encoding: row)
    try player.delete(database)
    // refused: 'delete' is unavailable: a row is deleted by database.delete(from: "table", where: Column("id") == row.id)
}

func keyrings(_ pool: DatabasePool, _ keyring: Keyring, _ text: String) throws {
    _ = try DatabasePool(path: "jobs.db", keyring: keyring, passphrase: text)
    // refused: 'init(path:keyring:passphrase:)' is unavailable: a passphrase of a keyring is unlockedBy: .passphrase(text)
    _ = try DatabaseQueue(path: "jobs.db", keyring: keyring, passphrase: text)
    // refused: 'init(path:keyring:passphrase:)' is unavailable: a passphrase of a keyring is unlockedBy: .passphrase(text)
    _ = try keyring.create(passphrase: text)
    // refused: 'create(passphrase:label:)' is unavailable: a secret has its kind: create(with: .passphrase(text))
    _ = try keyring.unlock(passphrase: text)
    // refused: 'unlock(passphrase:)' is unavailable: a secret has its kind: unlock(.passphrase(text))
    try pool.changePassphrase(text)
    // refused: 'changePassphrase' is unavailable: another passphrase is rekey(.passphrase(text)), or with a keyring its change(slot:to:)
    try pool.backup(to: "copy.db", passphrase: text)
    // refused: 'backup(to:passphrase:)' is unavailable: the key of the copy is key: .passphrase(text)
}

enum JobState: String, Codable { case waiting }
struct JobRow: Codable, RowDecodable { var id: Int64? }

func jobs(_ database: Database, _ states: [JobState], _ error: DatabaseError) throws {
    _ = try database.executeQuery("SELECT * FROM jobs WHERE state IN (\(states))")
    // refused: 'appendInterpolation' is unavailable: a list of values stands in parentheses: IN (\(list: values)); an enumeration in it must be ColumnEncodable: enum S: String, Codable, ColumnEncodable, ColumnDecodable
    _ = error.resultCode == .constraint
    // refused: 'resultCode' is unavailable: the primary code is code.primary, the extended one is code
    _ = try database.cursor(JobRow.self, "SELECT * FROM jobs")
    // refused: 'cursor' is unavailable: row after row is executeQuery and rows.forEach { … }, or while try rows.next()
    _ = try database.insert(into: "jobs", encoding: JobRow(), onConflict: .ignore)
    // refused: 'insert(into:encoding:onConflict:)' is unavailable: write insertOrIgnore(into:encoding:), or upsert(into:encoding:onConflict:)
}

func conditionsFromText(_ database: Database, _ id: Int, _ player: Player, _ text: String) throws {
    // 68: conditions of text or dictionaries, in every call that takes one
    _ = try database.select(from: "player", where: text)
    // refused: 'select(_:from:where:orderedBy:limit:offset:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.delete(from: "player", where: "id = " + text)
    // refused: 'delete(from:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.delete(from: "player", where: ["id": id])
    // refused: 'delete(from:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    _ = try database.count(in: "player", where: text)
    // refused: 'count(in:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.update("player", set: ["name": "x"], where: text)
    // refused: 'update(_:set:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.update("player", set: ["name": "x"], where: ["id": id])
    // refused: 'update(_:set:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.update("player", encoding: player, where: text)
    // refused: 'update(_:encoding:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.update("player", encoding: player, where: ["id": id])
    // refused: 'update(_:encoding:where:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.createIndex("by_name", on: "player", columns: ["name"], where: text)
    // refused: 'createIndex(_:on:columns:unique:where:ifNotExists:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    try database.createIndex("by_name", on: "player", columns: ["name"], where: ["id": id])
    // refused: 'createIndex(_:on:columns:unique:where:ifNotExists:)' is unavailable: a condition is Column("id") == id, or a literal, "id = \(id)"
    // 69: a list without its label or its parentheses
    _ = try database.executeQuery("SELECT * FROM player WHERE id IN \([id].map { $0 + 1 })")
    // refused: 'appendInterpolation' is unavailable: a list of values stands in parentheses: IN (\(list: values))
}

func readOnly(_ key: DatabaseKey, _ keyring: Keyring, _ unlocked: UnlockedKeyring, _ url: URL) throws {
    // 70: opening for reading only
    _ = try DatabaseQueue(path: "a.db", key: key, readOnly: true)
    // refused: 'init(path:key:configuration:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    _ = try DatabasePool(path: "a.db", key: key, configuration: Configuration(), readOnly: true)
    // refused: 'init(path:key:configuration:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    _ = try DatabasePool(url: url, key: key, readOnly: true)
    // refused: 'init(url:key:configuration:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    _ = try DatabaseQueue(path: "a.db", keyring: keyring, unlockedBy: .passphrase("abc"), readOnly: true)
    // refused: 'init(path:keyring:unlockedBy:slot:configuration:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    _ = try DatabasePool(path: "a.db", keyring: unlocked, readOnly: true)
    // refused: 'init(path:keyring:configuration:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    try Database(path: "a.db").open(key: key, readOnly: true)
    // refused: 'open(key:readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in open(key: key, flags: .readOnly)
    _ = Configuration(readOnly: true)
    // refused: 'init(readOnly:)' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    _ = Configuration { $0.isReadOnly = true }
    // refused: 'isReadOnly' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    var configuration = Configuration()
    configuration.readonly = true
    // refused: 'readonly' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
    configuration.readOnly = true
    // refused: 'readOnly' is unavailable: what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)
}

func slots(_ keyring: Keyring, _ unlocked: UnlockedKeyring) throws {
    // 71: slots of keyrings
    _ = try keyring.entries()
    // refused: 'entries()' has been renamed to 'slots()'
    _ = try unlocked.entries()
    // refused: 'entries()' has been renamed to 'slots()'
    try keyring.remove(slot: 2)
    // refused: 'remove(slot:)' is unavailable: unlock it first: try keyring.unlock(secret).remove(slot: number)
    try keyring.remove(label: "Bob")
    // refused: 'remove(label:)' is unavailable: unlock it first: try keyring.unlock(secret).remove(label: label)
    _ = try keyring.add(.passphrase("abc"), label: "Bob")
    // refused: 'add(_:label:)' is unavailable: unlock it first: try keyring.unlock(secret).add(.passphrase(text), label: label)
}

func blocks(_ pool: DatabasePool, _ database: Database) throws {
    // 72: how blocks end in FMDB and GRDB
    try pool.inTransaction { database, rollback in
        try database.executeUpdate("DELETE FROM player")
        rollback.pointee = true
        // refused: 'pointee' is unavailable: write rollback = true
    }
    try database.inSavePoint { _, rollback in rollback.pointee = true }
    // refused: 'pointee' is unavailable: write rollback = true
    try database.inSavepoint { return .commit }
    // refused: 'inSavepoint' is unavailable: a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }
    try database.inSavepoint {
        // refused: 'inSavepoint' is unavailable: a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }
        try database.executeUpdate("DELETE FROM player")
        return .rollback
    }
    try database.inTransaction { return .commit }
    // refused: 'inTransaction' is unavailable: a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }
    try pool.inTransaction { database in
        // refused: 'inTransaction' is unavailable: a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }
        try database.executeUpdate("DELETE FROM player")
        return .commit
    }
    try database.inSavePoint { _ in .rollback }
    // refused: 'inSavePoint' is unavailable: a block that returns keeps its changes; one that throws, or sets its argument rollback, undoes them: inSavePoint { database, rollback in … }
    try pool.writeInTransaction { _ in .commit }
    // refused: 'writeInTransaction' is unavailable: a block that returns commits; one that throws, or sets its argument rollback, rolls back: inTransaction { database, rollback in … }
    // 73: a whole database
    try pool.rekey("new")
    // refused: 'rekey' is unavailable: another passphrase is rekey(.passphrase(text)); with a keyring, rotateKey(of: unlocked) gives a new key
    try pool.rekey(passphrase: "new")
    // refused: 'rekey(passphrase:)' is unavailable: another passphrase is rekey(.passphrase(text)); with a keyring, rotateKey(of: unlocked) gives a new key
    try pool.erase()
    // refused: 'erase()' is unavailable: what is to go has a name: deleteAll(from: "table"), or dropTable("table")
    _ = try database.columns(in: "player")
    // refused: 'columns(in:)' is unavailable: the columns of a table are tableSchema("table"), a row each with name and type
}

func statements(_ database: Database) throws {
    // 74: a statement as a sequence
    for row in try database.prepare("SELECT * FROM player") {
        // refused: 'makeIterator()' is unavailable: a row can fail: write try statement.executeQuery().forEach { row in … }
        _ = row
    }
}

func comparing(_ error: DatabaseError) -> Bool {
    // 75: an error and a code
    if case DatabaseError.SQLITE_CONSTRAINT = error { return true }
    // refused: 'SQLITE_CONSTRAINT' has been renamed to 'constraint'
    if error != .busy { return false }
    // refused: '!=' is unavailable: compare the code: error.code != .constraintUnique, error.code.primary != .busy
    return error == .constraintUnique
    // refused: '==' is unavailable: compare the code: error.code == .constraintUnique, error.code.primary == .busy
}

func spellings(_ database: Database, _ ids: [Int]) throws {
    // 76: other names of an order
    _ = try database.select(from: "player", orderBy: [.descending("id")])
    // refused: 'select(_:from:where:orderBy:limit:offset:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.select(from: "player", order: [.descending("id")], limit: 1)
    // refused: 'select(_:from:where:order:limit:offset:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.fetchAll(Player.self, from: "player", where: "id > 1", orderBy: [.descending("id")])
    // refused: 'fetchAll(_:from:where:orderBy:limit:offset:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.fetchAll(Player.self, from: "player", order: [.descending("id")])
    // refused: 'fetchAll(_:from:where:order:limit:offset:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.fetchOne(Player.self, from: "player", orderBy: [.descending("id")])
    // refused: 'fetchOne(_:from:where:orderBy:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    _ = try database.fetchOne(Player.self, from: "player", order: [.descending("id")])
    // refused: 'fetchOne(_:from:where:order:)' is unavailable: an order is orderedBy: [.ascending("id")], or .descending("id")
    // 77: a list that contains a column
    _ = try database.count(in: "player", where: ids.contains(Column("id")))
    // refused: 'contains' is unavailable: a column with one of some values is Column("name").isIn(values)
}

func verification(_ database: Database, _ queue: DatabaseQueue, _ pool: DatabasePool) async throws {
    // 78: another name of a check
    _ = try database.verify()
    // refused: 'verify()' has been renamed to 'integrityCheck()'
    try await pool.verify()
    // refused: 'verify()' has been renamed to 'integrityCheck()'
    _ = try await queue.verify()
    // refused: 'verify()' has been renamed to 'integrityCheck()'
}
