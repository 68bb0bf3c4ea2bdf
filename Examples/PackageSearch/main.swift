import CipherDB
import Foundation
let path = CommandLine.arguments[1]
func answer() throws -> Int { try DatabaseQueue(path: path, key: .passphrase("old")).inDatabase { db in let r = try db.executeQuery("select count(*) from t"); defer { r.close() }; _ = try r.next(); return try r[0] } }
func run() throws {
let c = Configuration { $0.journalMode = .wal; $0.busyTimeout = .milliseconds(100) }
let q = try DatabaseQueue(path: path, key: .passphrase("old"), configuration: c)
try q.inDatabase { db in try db.executeStatements("create table if not exists t(a, b); insert into t values(1,2)") }
let other = try q.openConnection()
try other.beginTransaction(.deferred)
_ = try other.executeQuery("select * from t").next()
do { try q.rekey(.passphrase("new")) } catch { print("rekey:", error) }
try other.rollback()
other.close()
if CommandLine.arguments.contains("i") { try q.inDatabase { db in try db.executeStatements("insert into t values(1,2)") } }
if CommandLine.arguments.contains("a") { print(try answer()) }
if CommandLine.arguments.contains("w") { try q.inDatabase { db in try db.executeStatements("select * from t") } }
do { try q.rekey(.passphrase("new")) } catch { print("rekey2:", error) }
}
try run()
