// What would do something else than it seems to, and so does not compile: each line in front of the word is an error.
import CipherDB
import Foundation

enum State: String, Codable { case open, done }
struct Payload: Codable { var list: [Int] }

func text(_ database: Database, _ name: String, _ sql: SQL) throws {
    // 34: text from elsewhere as SQL
    try database.executeUpdate(name)  // refused
    try database.executeUpdate("DELETE FROM player WHERE name = '" + name + "'")  // refused
    _ = try database.executeQuery(name, 1)  // refused
    _ = try database.fetchAll(Int.self, name)  // refused
    _ = try database.int(forQuery: name)  // refused
    _ = SQL(stringLiteral: name)  // refused
    _ = SQL(name)  // refused
    let made: SQL = name  // refused
    _ = try database.executeQuery("SELECT \(sql)")  // refused
    // 35: as a condition, an order and a table
    _ = try database.select(from: "player", where: name)  // refused
    try database.delete(from: "player", where: "id = " + name)  // refused
    try database.createIndex("by_name", on: "player", columns: ["name"], where: name)  // refused
    _ = try database.select(from: "player", orderedBy: [name])  // refused
    _ = try database.count(in: name)  // refused
    _ = made
}

func lists(_ database: Database, _ statement: Statement, _ ids: [Int], _ bytes: [UInt8]) throws {
    // 36: several values, or bytes, for one value
    try database.executeUpdate("DELETE FROM player WHERE id = ?", ids)  // refused
    try database.executeUpdate("DELETE FROM player WHERE id = ?", [1])  // refused
    try database.executeUpdate("UPDATE player SET image = ?", bytes)  // refused
    _ = try database.executeQuery("SELECT * FROM player WHERE id = ?", [1, 2])  // refused
    _ = try database.fetchAll(Int.self, "SELECT score FROM player WHERE id = ?", [1])  // refused
    let score: Int? = try database.value(forQuery: "SELECT score FROM player WHERE id = ?", [1])  // refused
    _ = try database.int(forQuery: "SELECT score FROM player WHERE id = ?", [1])  // refused
    try statement.executeUpdate([1])  // refused
    _ = try database.executeQuery("SELECT * FROM player WHERE id IN (\(ids))")  // refused
    _ = try database.executeQuery("SELECT * FROM player WHERE id IN (\([1, 2]))")  // refused
    _ = try database.select(from: "player", where: Column("id") == ids)  // refused
    _ = try database.select(from: "player", where: Column("id") == [1])  // refused
    try database.insert(into: "player", ["image": bytes])  // refused
    let image: [UInt8]? = try database.value(forQuery: "SELECT image FROM player")  // refused
    _ = (score, image)
}

func values(_ database: Database, _ state: State, _ payload: Payload, _ rows: ResultSet) throws {
    // 37: what is no value of a column
    try database.executeUpdate("UPDATE player SET state = \(state)")  // refused
    try database.executeUpdate("UPDATE player SET payload = \(payload)")  // refused
    try database.insert(into: "player", ["state": state])  // refused
    let stored: State = try rows["state"]  // refused
    // 38: a loop that could not throw
    for row in rows { _ = row }  // refused
    for row in try database.prepare("SELECT 1") { _ = row }  // refused
    // 39: every row without saying so
    try database.delete(from: "player")  // refused
    let condition = (nil as Int?).map { Column("id") == $0 }
    try database.delete(from: "player", where: condition && condition)  // refused
    _ = stored
}

func keys(_ text: String, _ bytes: SecretBytes, _ data: [UInt8], _ keyring: Keyring) throws {
    // 40: what could be a passphrase or a raw key
    _ = try DatabaseQueue(path: "a.db", key: text)  // refused
    _ = try DatabaseQueue(path: "a.db", key: "abc")  // refused
    _ = try DatabasePool(path: "a.db", key: bytes)  // refused
    _ = try keyring.unlock(text)  // refused
    _ = try SecretBytes(data)  // refused
}

func leaving(_ pool: DatabasePool, _ queue: DatabaseQueue) async throws {
    // 41: a connection and rows that leave their block
    let rows = try await pool.read { try $0.executeQuery("SELECT 1") }  // refused
    let others = try queue.inDatabase { try $0.executeQuery("SELECT 1") }  // refused
    _ = (rows, others)
}
