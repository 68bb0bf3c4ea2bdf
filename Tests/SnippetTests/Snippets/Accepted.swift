// What a user of GRDB, FMDB or SQLite.swift types first; each compiles in Swift 5 and Swift 6 mode.
import CipherDB
import Foundation

struct Player: Codable, RowDecodable, Sendable {
    var id: Int64?
    var name: String
    var score: Int
}

func text(_ database: Database, _ name: String, _ ids: [Int]) throws {
    // 1: values that stand in the SQL
    try database.executeUpdate("INSERT INTO player (name) VALUES (\(name))")
    // 2: by position
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (?, ?)", name, 10)
    // 3: an array, nil among it
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (?, ?)", values: [name, nil])
    // 4: by name
    try database.executeUpdate("INSERT INTO player (name) VALUES (:name)", values: ["name": name])
    // 5: by the coding keys of a type
    let player = Player(name: name, score: 1)
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (:name, :score)", values: .encoding(player))
    // 6: an array that is in a variable
    let values: [any ColumnEncodable] = [name, 1]
    try database.executeUpdate("INSERT INTO player (name, score) VALUES (?, ?)", values: StatementValues(values))
    // 7: a list
    let some = try database.fetchAll(Player.self, "SELECT * FROM player WHERE id IN (\(list: ids))")
    // 8: a name
    let column = "name"
    let names = try database.fetchAll(String.self, "SELECT \(identifier: column) FROM player")
    // 9: one value, of the type that is wanted
    let score: Int? = try database.value(forQuery: "SELECT score FROM player WHERE name = ?", name)
    // 10: FMDB's
    let count = try database.int(forQuery: "SELECT count(*) FROM player WHERE score > ?", 10)
    // 11: SQL of two parts
    let filter: SQL = "score > \(10)"
    let best = try database.fetchOne(Player.self, "SELECT * FROM player WHERE \(sql: filter) ORDER BY score DESC")
    // 12: several statements
    try database.executeStatements("CREATE TABLE a (b); INSERT INTO a VALUES (\(1)); INSERT INTO a VALUES (\(2))")
    // 13: rows, one at a time
    let rows = try database.executeQuery("SELECT id, name FROM player")
    while try rows.next() { print(try rows.int(forColumn: "id") ?? 0, try rows["name"] as String) }
    // 14: a script from elsewhere
    try database.executeStatements(SQL(unsafe: String(contentsOfFile: "schema.sql", encoding: .utf8)))
    // 15: over two lines
    try database.executeUpdate("UPDATE player SET score = score + 1 " + "WHERE name = \(name)")
    _ = (some, names, score, count, best)
}

// 37: bytes
func bytes(_ database: Database, _ statement: Statement, _ variable: [UInt8]) throws {
    try database.executeUpdate("UPDATE player SET image = ?", Data(variable))
    try database.executeUpdate("UPDATE player SET image = ?", ByteArray(variable))
    try database.executeUpdate("UPDATE player SET image = \(ByteArray(variable)) WHERE image = \(Data([1, 2]))")
    try statement.executeUpdate(ByteArray([1, 2]))
    let image: ByteArray? = try database.value(forQuery: "SELECT image FROM player WHERE image = ?", Data())
    _ = try database.select(from: "player", where: Column("image") == ByteArray(variable))
    try database.insert(into: "player", ["image": Data(variable)])
    _ = image?.bytes
}

/// An enumeration in a column.
enum Kind: String, Codable, ColumnEncodable, ColumnDecodable { case human, computer }

// 38: an enumeration
func enumerations(_ database: Database, _ kind: Kind, _ maybe: Kind?, _ rows: ResultSet) throws {
    try database.executeUpdate("UPDATE player SET kind = \(kind) WHERE kind = \(maybe)")
    try database.executeUpdate("UPDATE player SET kind = ? WHERE kind = ?", kind, maybe)
    try database.update("player", set: ["kind": kind, "name": "x"], where: Column("kind") != maybe)
    _ = try database.select(from: "player", where: Column("kind") == Kind.human && Column("kind") == kind)
    let found: Kind? = try database.value(forQuery: "SELECT kind FROM player")
    let stored: Kind = try rows["kind"]
    let kinds = try database.fetchAll(Kind.self, "SELECT kind FROM player")
    _ = (found, stored, kinds)
}

/// SQL that is kept.
enum Queries {
    // 16
    static let best: SQL = "SELECT * FROM player ORDER BY score DESC LIMIT 10"
}

func tasks(_ pool: DatabasePool, _ queue: DatabaseQueue) async throws {
    // 17: in a task group
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await pool.write { try $0.insert(into: "player", ["name": "x"]) } }
        try await group.waitForAll()
    }
    // 18: in a task
    let task = Task<Void, any Error> { try await pool.write { try $0.insert(into: "player", ["name": "x"]) } }
    try await task.value
    // 19: a value of a block
    let count = try await pool.read { try $0.int(forQuery: "SELECT count(*) FROM player") }
    // 20: a block of several lines
    let id = try await queue.write { database in
        try database.executeUpdate("INSERT INTO player (name) VALUES (?)", "Ada")
        return database.lastInsertRowID
    }
    // 21: async let
    async let all = pool.read { try $0.fetchAll(Player.self, Queries.best) }
    async let one = queue.read { try $0.fetchOne(Player.self, "SELECT * FROM player") }
    // 22: looking for cancellation
    try await queue.write { database in
        for number in 0..<10 {
            try Task.checkCancellation()
            try database.executeUpdate("INSERT INTO player (score) VALUES (\(number))")
        }
    }
    // 23: a rollback by flag
    try await pool.inTransaction { database, rollback in
        try database.executeUpdate("DELETE FROM player")
        rollback = true
    }
    // 24: observing
    for try await players in pool.observe({ try $0.fetchAll(Player.self, Queries.best) }) {
        print(players.count)
        break
    }
    _ = try await (all, one)
    _ = (count, id)
}

// 34: typed calls
func tables(_ database: Database, _ state: String?) throws {
    let found: Condition = Column("score") >= 10 && Column("name").like("A%") || Column("state") == state
    _ = try database.select(from: "player", where: found && Column("id").isIn([1, 2]), limit: 10, offset: 20)
    _ = try database.select(from: "player", where: Column("score").between(1, 10) && !(Column("name") == nil))
    let table = "player"
    _ = try database.count(in: "\(table)")
    var sql: SQL = "SELECT * FROM player"
    sql += " WHERE score > \(10)"
    try database.createIndex("by_name", on: "player", columns: ["name"], unique: true, ifNotExists: true)
    _ = try database.count(in: "player", where: Column("score") != 3)
    _ = try database.insertOrIgnore(into: "player", ["name": "Ada"])
    try database.upsert(into: "player", ["name": "Ada", "score": 1], onConflict: "name")
    let row = try database.upsert(into: "player", ["name": "Ada"], onConflict: "name")
    _ = try database.count(in: "player", where: Column("id") == row)
    try database.update("player", set: ["score": nil], where: Column("name") == "Ada")
}

// 25: what takes either
func countPlayers(_ reader: some DatabaseReader) async throws -> Int {
    try await reader.read { try $0.int(forQuery: "SELECT count(*) FROM player") ?? 0 }
}

// 26: an actor with a database
actor Store {
    let writer: any DatabaseWriter

    init(path: String?) async throws {
        writer = try await DatabasePool(path: path, key: .passphrase("correct horse battery staple"))
    }

    func add(_ name: String) async throws -> Int64? {
        try await writer.write { try $0.insert(into: "player", ["name": name]) }
    }
}

func opening() async throws {
    // 27
    let pool = try await DatabasePool(path: "game.db", key: .passphrase("correct horse battery staple"))
    _ = try await DatabasePool(
        path: URL(fileURLWithPath: "game.db").databasePath,
        key: .raw(SecretBytes(copying: Data(count: 32)))
    )
    // 28: by a keyring
    let keyring = Keyring(besideDatabase: "game.db")
    let queue = try await DatabaseQueue(
        path: "game.db",
        key: .keyring(keyring, unlockedBy: .passphrase("correct horse battery staple"))
    )
    // 29
    try await pool.rekey(.passphrase("a better passphrase"))
    // 30
    try await pool.close()
    try await queue.close()
}

func errors(_ pool: DatabasePool) async {
    do {
        try await pool.write { try $0.insert(into: "player", ["name": "Ada"]) }
    } catch KeyError.wrongKey {
        // 31
    } catch KeyringError.wrongSecret {
        // 34
    } catch let error as KeyError where error.damagedPages != nil {
        // 35
    } catch let error as KeyringError where error.code == .missing {
        // 36
    } catch let error as DatabaseError where error.code == .constraintUnique {
        // 32
        print(error)
    } catch let error as DatabaseError where error.code.primary == .constraint {
        print(error)
    } catch is CancellationError {
        // 33
    } catch {}
}

// 39: causes, whatever comes with them
func causes(_ pool: DatabasePool, _ error: any Error, _ key: KeyError, _ source: KeySourceError) async throws -> Bool {
    do {
        try await pool.write { try $0.insert(into: "player", ["name": "Ada"]) }
    } catch KeyError.damaged, KeyringError.damaged {
        return false
    } catch KeyringError.wrongSecret, KeyringError.missing, KeyringError.noSuchSlot, KeyringError.system {
        return false
    } catch DatabaseError.constraintUnique, DatabaseError.busy {
        return false
    } catch RekeyError.notStarted, RekeyError.undecided {
        return false
    } catch KeySourceError.missing, KeySourceError.othersCanRead, MalformedKey.emptyPassphrase {
        return false
    } catch MigrationError.failed {
        return false
    } catch let failure as DatabaseError {
        switch failure {
        case .constraint, .full: return false
        default: break
        }
    }
    switch error {
    case KeyError.damaged, KeyError.otherFormat, KeyringError.oldDatabase: return false
    case DatabaseError.corrupt: return false
    default: break
    }
    switch key.code {
    case .damaged, .otherFormat: return key.damagedPages == nil
    default: break
    }
    switch source.code {
    case .missing, .system: return false
    default: break
    }
    let keyring = error as? KeyringError
    if keyring?.code == .damaged { return false }
    if case KeyringError.secretInUse = error { return false }
    return key.code != .otherFormat || keyring?.code == .wrongSecret
}

// 40: conditions that are literals
func conditions(_ database: Database, _ id: Int) throws {
    _ = try database.select(from: "player", where: "id = 1")
    _ = try database.select(from: "player", where: "id = \(id)", orderedBy: [.ascending("id")])
    _ = try database.count(in: "player", where: "name IN (\(list: ["a", "b"]))")
    try database.update("player", set: ["name": "x"], where: "id = \(id)")
    try database.delete(from: "player", where: "id = \(id)" && Column("score") > 1)
    try database.createIndex("by_name", on: "player", columns: ["name"], where: "score > \(id)")
}

// 42: records of a table, and a condition in SQL
func records(_ database: Database, _ name: String, _ kind: Kind) throws {
    let condition = Column("name") == name && Column("kind") != kind
    let all = try database.select(from: "player").fetchAll(Player.self)
    let some = try database.select(
        from: "player",
        where: condition,
        orderedBy: [.descending("score")],
        limit: 10,
        offset: 20
    ).fetchAll(Player.self)
    let best = try database.select(from: "player", where: "score > 1", orderedBy: [.descending("score")])
        .fetchOne(Player.self)
    let inSQL = try database.fetchAll(Player.self, "SELECT * FROM player WHERE \(condition) ORDER BY score")
    let direct = try database.int(forQuery: "SELECT count(*) FROM player WHERE \(Column("score") > 1 || "id = \(1)")")
    try database.executeUpdate("UPDATE player SET name = \("x" + name) WHERE name = \("\(name)!") AND \(!condition)")
    _ = (all, some, best, inSQL, direct, ["a"].contains("b"), [1, 2].contains { $0 > 1 })
}

// 41: maintenance, slots, and opening for reading only
func maintenance(_ pool: DatabasePool, _ keyring: Keyring, _ key: DatabaseKey) async throws {
    try await pool.vacuum()
    let problems = try await pool.read { try $0.integrityCheck() } + pool.integrityCheck()
    let unlocked = try await keyring.unlock(.passphrase("correct horse battery staple"))
    for slot in try await unlocked.content().slots { print(slot.number, slot.label) }
    try await unlocked.change(label: "Bob", to: .passphrase("a better passphrase"))
    try await unlocked.remove(label: "Bob")
    _ = try await DatabasePool(path: "game.db", key: key, flags: .readOnly)
    try await pool.inTransaction { database in
        try database.executeUpdate("DELETE FROM player")
        return
    }
    _ = problems
}

// 43: a search of which each part may be missing, and lists of values for many rows
func search(_ database: Database, _ name: String?, _ least: Int?, _ players: [Player]) throws {
    let condition = name.map { Column("name") == $0 } && least.map { Column("score") >= $0 }
    _ = try database.select(from: "player", where: condition)
    _ = try database.count(in: "player", where: condition && Column("id") != nil)
    let insert: SQL = "INSERT INTO player (name, score) VALUES (?, ?)"
    try database.executeUpdate(insert, forEach: players) { [$0.name, $0.score] }
    try database.executeUpdate(insert, forEach: players) { ($0.name, $0.score) }
    let byName: SQL = "INSERT INTO player (name, score) VALUES (:name, :score)"
    try database.executeUpdate(byName, forEach: players) { ["name": $0.name, "score": $0.score] }
    try database.executeUpdate(byName, forEach: players) { try .encoding($0) }
    let sum = try database.fetchOne(Int.self, "SELECT sum(score) FROM player")
    _ = sum
}
