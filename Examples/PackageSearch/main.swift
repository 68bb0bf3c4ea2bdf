import CipherDB
print(Engine.current, Engine.current.canEncrypt, Engine.current.capabilities.map(\.rawValue).sorted())
let path = CommandLine.arguments[1]
let q = try DatabaseQueue(path: path, key: .passphrase("hello"), configuration: Configuration { $0.journalMode = .wal })
try q.inDatabase { db in
    try db.executeStatements("create table if not exists t(a, b)")
    try db.executeUpdate("insert into t values (?, ?)", 1, "two")
    let rs = try db.executeQuery("select * from t where a = :a", withParameterDictionary: ["a": 1])
    while try rs.next() { print(try rs.int(forColumn: "a")!, try rs.string(forColumn: "B")!) }
}
print(try q.inDatabase { $0.cipherFormat! })
for k in ["wrong"] {
    do { _ = try DatabaseQueue(path: path, key: .passphrase(k)) } catch { print(error) }
}
let clock = ContinuousClock()
print(clock.measure { _ = try! q.openConnection() }, clock.measure { _ = try! q.openConnection() })
do { try q.rekey(.passphrase("new")) } catch { print("rekey:", error) }
do { _ = try DatabaseQueue(path: path, key: .passphrase("hello")) } catch { print(error) }
let n: Int = try q.inDatabase { db in let r = try db.executeQuery("select count(*) from t"); _ = try r.next(); return try r.int(forColumnIndex: 0)! }
print(n)
