internal import CSQLCipher

/// Notices pages of one schema that the engine read, whose MAC is wrong, and about which it said nothing.
///
/// For such a page SQLCipher hands out zeros; see ``DamageBehaviour`` for the sign that it keeps. Where the page is the last one that
/// a query reads, such as the one with the end of a long value, the query ends well, with zeros for the value. Where the sign goes
/// with the query's lock, that is kept here until the sign was looked at.
final class DamageWatch {
    /// How the statements begin that a trace does not show.
    static let mark = "/* CipherDB \(UInt64.random(in: 0...UInt64.max)) */"

    private unowned let connection: Connection
    private let schema: String
    let detection: DamageDetection
    private let isLasting: Bool
    /// Whether nothing could be written when the watch began.
    private var wasReadOnly = false
    /// Whether a damaged page was read, whose zeros may be in the cache, where the codec keeps its error.
    private var hasFailed = false
    /// Keeps the lock while it is on its row, for queries outside of a transaction.
    private var guardian: OpaquePointer?
    /// Asks for a page.
    private var probe: OpaquePointer?
    private var isGuarding = false
    /// ``Connection/damageSign`` at the last check that found no damage.
    private var verifiedSign: UInt64?
    /// How many queries are between their first step and their end.
    private var queries = 0

    /// - Parameter isFresh: Whether nothing was read yet through the codec, so that it cannot have failed, and wrong MACs are counted.
    ///   Then nothing is asked, and nothing compiled until it is needed.
    init(
        _ connection: Connection,
        schema: String,
        by behaviour: DamageBehaviour,
        isFresh: Bool = false
    ) throws(DatabaseError) {
        self.connection = connection
        self.schema = schema
        detection = behaviour.detection
        isLasting = behaviour.isLasting
        if isFresh { verifiedSign = connection.damageSign }
        guard detection == .pager else {
            // What has the schema's name may be detached, and another file attached: nothing but its speed depends on these.
            if !isFresh { hasFailed = try connection.codecStatus(schema) == .failed }
            wasReadOnly = isReadOnly
            return
        }
        guard !isFresh else { return }
        try connection.check(compile(&guardian))
        try connection.check(compile(&probe))
    }

    /// Compiles a statement that asks for a page, unless that was done.
    private func compile(_ statement: inout OpaquePointer?) -> Int32 {
        guard statement == nil else { return SQLITE_OK }
        let authorizer = connection.authorizer
        // What is noted belongs to the statement that is watched.
        let outer = authorizer.takeAccess()
        defer {
            authorizer.access = outer
            authorizer.hasAccess = !outer.isEmpty
        }
        let sql = "\(DamageWatch.mark) SELECT (SELECT 1 FROM \(quotedIdentifier(schema)).sqlite_master)"
        return connection.unrestricted {
            connection.working { sqlite3_prepare_v2(connection.handle, sql, -1, &statement, nil) }
        }
    }

    /// Before a query's first step.
    func begin() {
        queries += 1
    }

    /// Before each step of a query: a transaction that it began in may have ended.
    func hold(_ sql: String? = nil) throws(DatabaseError) {
        guard detection == .pager, !isGuarding else { return }
        // It may be compiled again, when the schema changed.
        var code = compile(&guardian)
        if code == SQLITE_OK { code = connection.unrestricted { connection.working { sqlite3_step(guardian) } } }
        guard code == SQLITE_ROW else {
            let error = connection.error(code, sql: sql)
            _ = connection.working { sqlite3_reset(guardian) }
            throw connection.hasMetDamage(error.code) ? connection.damagedPage(sql) : error
        }
        isGuarding = true
    }

    /// After a query's last step.
    func end() {
        queries -= 1
        guard queries == 0, isGuarding else { return }
        isGuarding = false
        _ = connection.working { sqlite3_reset(guardian) }
    }

    /// Throws where a page is damaged that was read since the lock is held.
    ///
    /// - Parameter isWriting: Whether the statement writes.
    func check(_ sql: String? = nil, isWriting: Bool = false) throws(DatabaseError) {
        let sign = connection.damageSign
        guard try isDamaged(isWriting: isWriting) else {
            verifiedSign = sign
            return
        }
        if isLasting { connection.metDamage(in: schema) }
        throw connection.damagedPage(sql)
    }

    private func isDamaged(isWriting: Bool) throws(DatabaseError) -> Bool {
        switch detection {
        case .none: return false
        case .codec: return try hasCodecFailed(isWriting: isWriting)
        case .pager:
            var code = compile(&probe)
            if code == SQLITE_OK { code = connection.unrestricted { connection.working { sqlite3_step(probe) } } }
            let error = code == SQLITE_ROW ? nil : connection.error(code)
            _ = connection.working { sqlite3_reset(probe) }
            guard let error else { return false }
            guard error.code.mayBeDamage else { throw error }
            return true
        }
    }

    /// Whether a damaged page may have been read since the last check that found none.
    ///
    /// Wrong MACs are compared with those at that check, also of another statement: one that was interrupted makes none. Misses of the
    /// cache are compared with those at the first step, `sign`, because every statement has some.
    func mayHaveFailed(since sign: UInt64?) -> Bool {
        if connection.countsWrongMACs { return connection.damageSign != verifiedSign }
        return connection.damageSign != sign || (detection == .codec && (hasFailed || (!wasReadOnly && isReadOnly)))
    }

    /// Outside of a writing transaction the engine makes the schema read-only with the codec's error.
    private var isReadOnly: Bool { sqlite3_db_readonly(connection.handle, schema) != 0 }

    /// Whether a page of this schema was damaged that was read since it was opened or attached.
    private func hasCodecFailed(isWriting: Bool) throws(DatabaseError) -> Bool {
        // A hundred times as fast as asking for the status.
        let mayWrite = isWriting || (connection.isInTransaction && !connection.authorizer.isReader)
        if !mayWrite, !hasFailed, !wasReadOnly, !isReadOnly { return false }
        hasFailed = try connection.codecStatus(schema) == .failed
        return hasFailed
    }

    func close() {
        connection.working {
            sqlite3_finalize(guardian)
            sqlite3_finalize(probe)
        }
        (guardian, probe, isGuarding) = (nil, nil, false)
    }
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
        let watch = try DamageWatch(self, schema: schema, by: behaviour)
        damageWatches[schema] = watch
        return watch
    }

    /// Begins the watch over the main database of a connection that got its key and has read nothing yet.
    func watchFreshDatabase() throws(DatabaseError) {
        guard isWatched, countsWrongMACs, let behaviour = try? DamageBehaviour.ofThisEngine.get() else { return }
        damageWatches["main"] = try DamageWatch(self, schema: "main", by: behaviour, isFresh: true)
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
            guard working({ sqlite3_step(statement) }) == SQLITE_ROW else { return nil }
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
