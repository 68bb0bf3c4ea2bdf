internal import CSQLCipher

/// Notices pages of one schema that the engine read, whose MAC is wrong, and about which it said nothing.
///
/// For such a page SQLCipher hands out zeros; see ``DamageBehaviour`` for the sign that it keeps, and ``PagerWatch`` and ``CodecWatch`` for how
/// it is read. Where the page is the last one that a query reads, such as the one with the end of a long value, the query ends well, with
/// zeros for the value.
class DamageWatch {
    /// How the statements begin that a trace does not show.
    static let mark = "/* CipherDB \(UInt64.random(in: 0...UInt64.max)) */"

    unowned let connection: Connection
    let schema: String
    private let isLasting: Bool
    /// ``Connection/damageSign`` at the last check that found no damage.
    private var verifiedSign: UInt64?
    /// How many queries are between their first step and their end.
    private var queries = 0

    /// The watch for an engine that does so.
    ///
    /// - Parameter isFresh: Whether nothing was read yet through the codec, so that it cannot have failed, and wrong MACs are counted.
    ///   Then nothing is asked, and nothing compiled until it is needed.
    static func of(
        _ schema: String,
        _ connection: Connection,
        by behaviour: DamageBehaviour,
        isFresh: Bool = false
    ) throws(DatabaseError) -> DamageWatch {
        switch behaviour.detection {
        case .pager: try PagerWatch(connection, schema, behaviour, isFresh: isFresh)
        case .codec: try CodecWatch(connection, schema, behaviour, isFresh: isFresh)
        case .none: try DamageWatch(connection, schema, behaviour, isFresh: isFresh)
        }
    }

    init(
        _ connection: Connection,
        _ schema: String,
        _ behaviour: DamageBehaviour,
        isFresh: Bool
    ) throws(DatabaseError) {
        self.connection = connection
        self.schema = schema
        isLasting = behaviour.isLasting
        if isFresh { verifiedSign = connection.damageSign }
    }

    /// Before a query's first step.
    final func begin() {
        queries += 1
    }

    /// After a query's last step.
    final func end() {
        queries -= 1
        if queries == 0 { release() }
    }

    /// Throws where a page is damaged that was read since the lock is held.
    ///
    /// - Parameter isWriting: Whether the statement writes.
    final func check(_ sql: String? = nil, isWriting: Bool = false) throws(DatabaseError) {
        let sign = connection.damageSign
        guard try isDamaged(isWriting: isWriting) else {
            verifiedSign = sign
            return
        }
        if isLasting { connection.metDamage(in: schema) }
        throw connection.damagedPage(sql)
    }

    /// Whether a damaged page may have been read since the last check that found none.
    ///
    /// Wrong MACs are compared with those at that check, also of another statement: one that was interrupted makes none. Misses of the
    /// cache are compared with those at the first step, `sign`, because every statement has some.
    final func mayHaveFailed(since sign: UInt64?) -> Bool {
        if connection.countsWrongMACs { return connection.damageSign != verifiedSign }
        return connection.damageSign != sign || mayHaveFailedBefore
    }

    // MARK: The sign of an engine

    /// Before each step of a query outside of a transaction: keeps the lock with which the sign would go.
    func hold(_ sql: String? = nil) throws(DatabaseError) {}

    /// After the last step of all queries.
    func release() {}

    /// Whether the engine shows the sign.
    func isDamaged(isWriting: Bool) throws(DatabaseError) -> Bool { false }

    /// Whether the sign may be older than the statement.
    var mayHaveFailedBefore: Bool { false }

    /// - Parameter connection: This watch's, which may be going.
    func close(_ connection: Connection) {}
}

extension Connection {
    /// Changes when a damaged page may have been read.
    var damageSign: UInt64 {
        countsWrongMACs ? Provider.wrongMACs : UInt64(UInt32(bitPattern: cacheMisses))
    }

    /// How often a page was not in the cache, and so was decrypted.
    private var cacheMisses: Int32 {
        var now: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &now, &highest, 0)
        return now
    }

    /// The watch over a schema, on a connection that is watched.
    func damageWatch(_ schema: String) throws(DatabaseError) -> DamageWatch {
        if let watch = damageWatches[schema] { return watch }
        guard let behaviour = try? DamageBehaviour.ofThisEngine.get() else {
            throw DatabaseError(.misuse, "the connection has no key")
        }
        let watch = try DamageWatch.of(schema, self, by: behaviour)
        damageWatches[schema] = watch
        return watch
    }

    /// Begins the watch over the main database of a connection that got its key and has read nothing yet.
    func watchFreshDatabase() throws(DatabaseError) {
        guard isWatched, countsWrongMACs, let behaviour = try? DamageBehaviour.ofThisEngine.get() else { return }
        damageWatches["main"] = try DamageWatch.of("main", self, by: behaviour, isFresh: true)
    }

    /// The error of a statement that read a damaged page.
    func damagedPage(_ sql: String?) -> DatabaseError {
        instruments?.metDamage()
        return DatabaseError(
            .corrupt,
            "a page that was read is damaged; its rows are not what was stored",
            sql: sql
        )
    }

    /// Remembers that the engine reads nothing more on this connection. An attached database can be attached again.
    func metDamage(in schema: String) {
        if schema == "main" { isInvalidated = true }
    }

    /// Whether `code` comes of a damaged page, in an engine where each later statement fails, with codes such as "out of memory".
    func hasMetDamage(_ code: ResultCode) -> Bool {
        guard isWatched, code.mayBeDamage, (try? DamageBehaviour.ofThisEngine.get().isLasting) == true else {
            return false
        }
        let failed = Set(["main"] + damageWatches.keys).filter { (try? codecStatus($0)) == .failed }
        for schema in failed { metDamage(in: schema) }
        // These two are looked into where they arrive: they may also come of a wrong key.
        return !failed.isEmpty && code.primary != .corrupt && code.primary != .notADatabase
    }

    /// Whether the codec of `schema` works; nil where it has none.
    func codecStatus(_ schema: String) throws(DatabaseError) -> CodecStatus? {
        let schema = quotedIdentifier(schema)
        guard try answer("PRAGMA \(schema).cipher_provider") != nil else { return nil }
        return try answer("PRAGMA \(schema).cipher_status").map { $0 == "0" ? .failed : .works }
    }

    /// The answer to a pragma that is computed when it is compiled, in no trace.
    private func answer(_ pragma: String) throws(DatabaseError) -> String? {
        try unrestricted { () throws(DatabaseError) in
            var statement: OpaquePointer?
            defer { _ = working { sqlite3_finalize(statement) } }
            try check(working { sqlite3_prepare_v2(handle, "\(DamageWatch.mark) \(pragma)", -1, &statement, nil) })
            let code = working { sqlite3_step(statement) }
            guard code != SQLITE_DONE else { return nil }
            guard code == SQLITE_ROW else { throw error(code) }
            return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        }
    }
}

/// What `PRAGMA cipher_status` answers, in SQLCipher 4.x: 4.6.1 has it, 3.4.1 does not.
enum CodecStatus {
    case works, failed
}

extension ResultCode {
    /// Whether an engine may give this code for a damaged page.
    var mayBeDamage: Bool {
        [.error, .corrupt, .notADatabase, .inputOutput, .outOfMemory].contains(primary)
    }
}
