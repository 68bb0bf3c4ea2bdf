internal import CSQLCipher
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// Keys are handed to the engine here and nowhere else.
extension Connection {
    /// Hands over the key. The engine copies it and does not look at the file.
    func key(_ literal: SecretBytes) throws {
        countsWrongMACs = Provider.isInUse
        let receiver = ProviderFunctions.Receiver()
        let code = try ProviderFunctions.$receiver.withValue(receiver) {
            try literal.withUnsafeBytes { key in
                working { csqlcipher_key(handle, key.baseAddress, Int32(key.count)) }
            }
        }
        try check(code)
        keptContexts = receiver.contexts
    }

    /// Reads a page through the engine. `SELECT 1` would not: it succeeds under a wrong key.
    func testSelect() throws {
        _ = try text(Connection.testSQL)
    }

    /// As ``testSelect()``, on a connection that has just got its key. Where wrong MACs are counted it is not watched for damage at
    /// once, but only if one was met or the statement fails.
    func firstSelect() throws {
        guard isWatched, countsWrongMACs else { return try testSelect() }
        let sign = damageSign
        var statement: OpaquePointer?
        let compiled = unrestricted {
            working { sqlite3_prepare_v2(handle, Connection.testSQL, -1, &statement, nil) }
        }
        _ = authorizer.takeAccess()
        defer { _ = working { sqlite3_finalize(statement) } }
        guard compiled == SQLITE_OK else {
            // Compiling reads the schema. After an error of the codec some engines say another one.
            let failure = error(compiled, sql: Connection.testSQL)
            throw hasMetDamage(failure.code) ? damagedPage(Connection.testSQL) : failure
        }
        let code = working { sqlite3_step(statement) }
        // It has waited as long as it should.
        if code & 0xff == SQLITE_BUSY { throw error(code) }
        _ = working { sqlite3_reset(statement) }
        if code != SQLITE_ROW || sign != damageSign { try testSelect() }
    }

    /// All of the schema: a view whose text is cut off by a damaged page may still be one.
    private static let testSQL = "SELECT max(length(sql)) FROM sqlite_master"

    /// Has the MACs of pages that are read in sequence computed side by side, where that is possible.
    func readAhead(_ format: CipherFormat) {
        guard let keptContexts, let file = try? EngineFile(self) else { return }
        keptContexts.readAhead(format, by: file.reader)
    }

    /// Has a page of zeros refused that the engine would take for a new one.
    func refuseZeros(_ verifiedKey: VerifiedKey) {
        keptContexts?.refuseZeros(verifiedKey.format) { [weak self] in self?.isOldPage($0, verifiedKey) ?? true }
    }

    /// Whether the database had the page before any open transaction. With auto-vacuum, the engine reads pages that a transaction has added
    /// and not written yet.
    ///
    /// Page 1 says how many there were: it is written last, and nobody without the key can lower its number.
    private func isOldPage(_ number: UInt32, _ verifiedKey: VerifiedKey) -> Bool {
        guard !isReadOnly, !authorizer.isReader else { return true }
        let pageSize = verifiedKey.format.pageSize
        guard let cipher = try? PageCipher(key: verifiedKey.key, format: verifiedKey.format),
            let pages = try? StoredPages(self).newest(pageSize: pageSize), let size = try? pages.size(),
            let first = try? pages.read(pageSize, at: 0), (try? cipher.isAuthentic(first, number: 1)) == true,
            let header = try? DatabaseHeader(cipher.decrypt(first, number: 1))
        else { return true }
        return Int(number) <= (header.countsPages ? header.pageCount : Int(size) / pageSize)
    }

    /// Re-encrypts the whole file. OK is answered also where nothing was done, and after a failure the handle would write
    /// pages that no key opens: close it whatever this returns.
    func rekey(_ literal: SecretBytes) throws -> DatabaseError? {
        let code = try literal.withUnsafeBytes { key in
            working { csqlcipher_rekey(handle, key.baseAddress, Int32(key.count)) }
        }
        return code == SQLITE_OK ? nil : error(code)
    }

    /// Attaches a file; a key without bytes stands for plaintext.
    func attach(_ path: String, _ name: String, _ key: SecretBytes) throws {
        countsWrongMACs = countsWrongMACs && Provider.isInUse
        guard let (statement, _) = try prepare("ATTACH ? AS ? KEY ?") else { return }
        defer { statement.finalize() }
        try path.pathBytes.withUnsafeBytes { try statement.bind(utf8: $0, at: 1) }
        try statement.bind(name, at: 2)
        try key.withUnsafeBytes { key in
            try statement.bind(secret: key, at: 3)
            _ = try statement.step()
        }
    }
}

extension Connection {
    /// Runs `body`, in which the engine derives the HMAC key of the connection, or another one of the same format.
    ///
    /// The mask of its salt is one number for the whole engine: while a file with another one is keyed, no other connection is.
    func derivingMACKey<Result>(_ format: CipherFormat, _ body: () throws -> Result) throws -> Result {
        guard format.macSaltMask != CipherFormat.usualMask else { return try Connection.maskUse.shared(body) }
        return try Connection.maskUse.exclusive {
            defer { try? setMask(CipherFormat.v4) }
            try setMask(format)
            return try body()
        }
    }

    /// Runs `body`, which sets the key, with the defaults that a format needs before that. They are the whole engine's: keys are set by
    /// one connection at a time.
    ///
    /// SQLCipher 4 reserves room for a MAC with the key, and in pages of 512 bytes SQLite has no such room.
    func settingDefaults<Result>(for format: CipherFormat, _ body: () throws -> Result) throws -> Result {
        guard format.pageSize == 512, Engine.current.has(.cipherCompatibility) else { return try body() }
        defer { try? unrestricted { try execute("PRAGMA cipher_default_use_hmac = ON") } }
        try unrestricted { try execute("PRAGMA cipher_default_use_hmac = OFF") }
        return try body()
    }

    private func setMask(_ format: CipherFormat) throws {
        try unrestricted { try execute("PRAGMA cipher_hmac_salt_mask = \"x'\(format.hexadecimalMask)'\"") }
    }

    private static let maskUse = ReadWriteLock()
}
