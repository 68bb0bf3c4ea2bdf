internal import CSQLCipher

/// Why a statement is not compiled: what it wants, and what to use instead. Never has an argument in it, which may be a key.
struct Refusal {
    let message: String

    private init(_ message: String) {
        self.message = message
    }

    /// The program's own authorizer said no.
    static let user = Refusal("the statement was refused by the program's authorizer (setAuthorizer)")

    /// SQLite refused by itself, or nobody noted why.
    static let unknown = Refusal("the statement was refused")

    static let keyringRecord = Refusal(
        "SQL may not change the table cipherdb_keyring, by which the library detects old copies of the keyring"
    )

    static let pages = Refusal(
        "SQL may not use sqlite_dbpage, which reads and writes raw pages: use backup(to:) for a copy"
    )

    static let attach = Refusal(
        "SQL may not attach files here: use attach(_:as:key:) on an encrypted database, or attachPlaintext(_:as:)"
    )

    static let vacuumInto = Refusal("SQL may not write another file: use backup(to:key:)")

    static let poolReader = Refusal("a reader of a pool stays read-only: use write")

    /// Of a function of SQL.
    static func function(_ name: String) -> Refusal {
        switch name {
        case "fts3_tokenizer":
            Refusal("SQL may not call fts3_tokenizer, which takes memory addresses: use makeTokenizer(named:_:)")
        case "load_extension":
            Refusal("SQL may not load extensions: if you need them, set Configuration.unsafeAllowsAllSQL")
        default:
            Refusal(
                "a view, trigger, default, check or index may not call the function \(name): if it does no harm there, make it "
                    + "with isInnocuous: true"
            )
        }
    }

    static func pragma(_ name: String) -> Refusal {
        let replacement =
            switch name {
            case "key", "hexkey", "textkey": "give the key when the database is opened, or by setKey"
            case "hexrekey", "textrekey": "use rekey(_:)"
            case _ where name.hasPrefix("rekey"): "use rekey(_:)"
            case _ where name.hasPrefix("cipher_default"): "set Configuration.format"
            case "cipher_compatibility", "cipher_page_size", "kdf_iter", "page_size", "cipher_use_hmac",
                "cipher_hmac_algorithm",
                "cipher_kdf_algorithm", "cipher", "cipher_hmac_salt_mask", "fast_kdf_iter":
                "set Configuration.format"
            case "cipher_migrate": "use the command `rekey migrate`"
            case "cipher_plaintext_header_size": "CipherDB encrypts the whole file"
            case "temp_store", "temp_store_directory": "temporary data stay in memory"
            case "secure_delete": "SQLCipher needs it, so that free pages are written"
            case "writable_schema": "use CREATE, ALTER and DROP"
            case "trusted_schema": "set Configuration.trustsSchema"
            default: "if you need it, set Configuration.unsafeAllowsAllSQL"
            }
        return Refusal("SQL may not set PRAGMA \(name) here: \(replacement)")
    }
}

extension SQL {
    /// The pragmas that give, or change, the key.
    package static let keyPragmas = ["key", "hexkey", "textkey", "rekey", "hexrekey", "textrekey"]
}

extension DatabaseError {
    /// The refusal of SQL that gives, or changes, the key.
    package static let keyPragma = DatabaseError(code: .notAuthorized, message: Refusal.pragma("key").message)

    /// Whether SQL wanted to give, or change, the key.
    package var refusesKeyPragma: Bool {
        SQL.keyPragmas.contains { message == Refusal.pragma($0).message }
    }
}
