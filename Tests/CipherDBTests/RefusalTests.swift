import CipherDB
import TestSupport
import Testing

/// A refused statement is named, with what to use instead, and without its arguments.
final class RefusalTests: RawKeyFixture {
    @Test(arguments: [
        ("PRAGMA key = 'secretvalue'", "PRAGMA key", "setKey"),
        ("PRAGMA rekey = 'secretvalue'", "PRAGMA rekey", "use rekey(_:)"),
        ("PRAGMA rekey_kdf_iter = 1", "PRAGMA rekey_kdf_iter", "use rekey(_:)"),
        ("PRAGMA cipher_page_size = 512", "PRAGMA cipher_page_size", "Configuration.format"),
        ("PRAGMA cipher_default_use_hmac = OFF", "cipher_default_use_hmac", "Configuration.format"),
        ("PRAGMA temp_store = FILE", "PRAGMA temp_store", "in memory"),
        ("PRAGMA secure_delete = FAST", "PRAGMA secure_delete", "free pages"),
        ("PRAGMA trusted_schema = ON", "PRAGMA trusted_schema", "Configuration.trustsSchema"),
        ("PRAGMA hard_heap_limit = 1", "PRAGMA hard_heap_limit", "unsafeAllowsAllSQL"),
        ("ATTACH 'secretvalue' AS x", "attach files", "attach(_:as:key:)"),
        ("SELECT load_extension('secretvalue')", "load extensions", "unsafeAllowsAllSQL"),
        ("SELECT fts3_tokenizer('secretvalue')", "fts3_tokenizer", "makeTokenizer"),
        ("CREATE TABLE cipherdb_keyring (a)", "cipherdb_keyring", "the library"),
        ("CREATE VIEW v AS SELECT mine(1)", "mine", "isInnocuous"),
        ("SELECT refusedByUs()", "authorizer", "setAuthorizer"),
    ])
    func refusalNamesStatementAndItsReplacement(sql: String, what: String, instead: String) throws {
        let database = try open()
        try database.makeFunction(named: "mine", arguments: 1) { _ in nil }
        try database.makeFunction(named: "refusedByUs", arguments: 0) { _ in nil }
        if sql.contains("refusedByUs") {
            database.setAuthorizer { $0.second?.lowercased() == "refusedbyus" ? .deny : .allow }
        }
        #expect {
            try database.executeUpdate(SQL(unsafe: sql))
            if sql.contains("VIEW") { _ = try database.executeQuery("SELECT * FROM v").next() }
        } throws: {
            guard let error = $0 as? DatabaseError else { return false }
            return error.code.primary == .notAuthorized && error.message.contains(what)
                && error.message.contains(instead)
                && !"\(error)".contains("secretvalue") && error.message.count < 200
        }
    }
}
