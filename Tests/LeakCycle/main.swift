import CipherDB
import Foundation
import Rekeying

// Opens, uses, rekeys and closes databases, again and again, and ends; Scripts/sanitize.sh runs it under LeakSanitizer, which says
// what nobody can reach any more by then.

struct Row: Codable, RowDecodable {
    struct Part: Codable { let a: String }
    let id: Int
    let part: Part
    let b: Data?
}

func use(_ database: Database, _ round: Int) throws {
    try database.makeFunction(named: "twice", arguments: 1) { values in
        if case .integer(let number) = values[0] { return 2 * number }
        return nil
    }
    try database.makeCollation(named: "backwards") { $1.compare($0) }
    try database.executeStatements(
        "CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a TEXT COLLATE backwards, b BLOB)"
    )
    try database.inSavePoint { database in
        for number in 0..<50 {
            try database.executeUpdate(
                "INSERT INTO t (a, b) VALUES (?, ?)",
                "row \(number)",
                Data(repeating: 1, count: 5000)
            )
        }
    }
    let rows = try database.executeQuery("SELECT twice(id), a, b FROM t ORDER BY a")
    while try rows.next() { _ = try rows.data(forColumnIndex: 2) }
    // One that is left in the middle, one that fails, and a blob that nobody closes.
    _ = try database.executeQuery("SELECT * FROM t").next()
    try? database.executeUpdate("INSERT INTO t (id) VALUES (1)")
    _ = try database.openBlob(inTable: "t", column: "b", row: 1).read(at: 0, count: 100)
    _ = try database.int(forQuery: "SELECT count(*) FROM t")
    let sql: SQL = "SELECT id, a AS \"part.a\", b FROM t"
    _ = try database.fetchAll(Row.self, sql)
    _ = try database.executeQuery(sql).next(as: Row.self)
    _ = try database.prepare("SELECT b FROM t WHERE id = ?").value(1) as Data?
    try database.executeUpdate("INSERT INTO t (a) VALUES (?)", forEach: 0..<10) { "many \($0)" }
}

func cycle(_ round: Int, in directory: String) throws {
    let path = directory + "/test.db"
    let key = try DatabaseKey.passphrase("first \(round)")
    let queue = try DatabaseQueue(path: path, key: key)
    try queue.inDatabase { try use($0, round) }
    try queue.rekey(.passphrase("second \(round)"))
    try queue.inDatabase { try use($0, round) }
    try queue.close()
    expectFailure { _ = try DatabaseQueue(path: path, key: key) }

    let file = DatabaseFile(path: path)
    let raw = try DatabaseKey.random()
    try file.changeKey(from: .passphrase("second \(round)"), to: raw)
    expectFailure { try file.changeKey(from: key, to: raw) }

    let pool = try DatabasePool(path: path, key: raw)
    try pool.inDatabase { try use($0, round) }
    _ = try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
    try pool.rekey(.random())
    _ = try pool.read { try $0.int(forQuery: "SELECT count(*) FROM t") }
    try pool.close()

    let keyring = Keyring(path: directory + "/keyring")
    let secret = try KeyringSecret.keyFile(.random(count: 32))
    let unlocked = try keyring.create(with: secret)
    let other = directory + "/other.db"
    let kept = try DatabaseQueue(path: other, key: .keyring(keyring, unlockedBy: secret))
    try kept.inDatabase { try use($0, round) }
    try kept.rotateKey(of: unlocked)
    try kept.close()
}

/// Makes a call that must fail: errors can leak, too.
func expectFailure(_ body: () throws -> Void) {
    do {
        try body()
    } catch {
        return
    }
    fatalError("an error was expected")
}

for round in 0..<3 {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("cipherdb-leaks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: directory) }
    try cycle(round, in: directory.path)
}
if CommandLine.arguments.dropFirst() == ["--leak"] {
    // For the script, to prove that the check sees what it is to see.
    _ = Unmanaged.passRetained(NSObject())
}
