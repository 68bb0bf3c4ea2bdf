// What does not compile, and what the compiler says to write instead.
import CipherDB

func text(_ database: Database, _ name: String, _ ids: [Int], _ values: [any Bindable]) throws {
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
    // refused: 'appendInterpolation' is unavailable: a list of values is \(list: values)
    // 40: an array without its label
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (?, ?)", values)
    // refused: 'executeUpdate' is unavailable: an array has its own label: values: StatementValues(array), or \(list: array) in the SQL
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
