import Testing

@testable import CipherDB

@Suite struct KeysInSQLTests {
    @Test(arguments: [
        "PRAGMA key = 'x'", "pragma main.KEY('x')", "PrAgMa hexrekey = 'x'", "/* */ PRAGMA/**/rekey='x'",
        "ATTACH 'f' AS a KEY 'k'",
        "attach 'f' as a", "DeTACH a; aTTaCh 'b'", "VACUUM INTO 'file:f?hexkey=00'", "vacuum main into ?",
        "PRAGMA foreign_keys = ON; PRAGMA key = 'x'", "é PRAGMA key",
        "PRAGMA foreign_key_list(t); PRAGMA textkey = 'x'",
        "PRAGMA cipher_default_key_x",
    ])
    func hidesStatementsThatMayHoldKey(sql: String) {
        #expect(DatabaseError.mayHoldKey(sql))
    }

    @Test(arguments: [
        "", "k", "ke", "SELECT key FROM t", "PRAGMA foreign_keys = ON", "pragma FOREIGN_KEY_check", "VACUUM",
        "INSERT INTO t VALUES (?)",
        "PRAGMA user_version", "SELECT 'kez', 'pragmatic'", "CREATE TABLE attac (h)", "vacuu m into", "PRAGMA \u{b}ey",
    ])
    func showsOtherStatements(sql: String) {
        #expect(!DatabaseError.mayHoldKey(sql))
    }
}
