internal import CSQLCipher

/// Sees the error state of the pager, in which each access to a page fails until the pager's lock is released. So a query outside of a
/// transaction keeps a lock until the sign was looked at.
final class PagerWatch: DamageWatch {
    /// Keeps the lock while it is on its row.
    private var guardian: OpaquePointer?
    /// Asks for a page.
    private var probe: OpaquePointer?
    private var isGuarding = false

    override init(
        _ connection: Connection,
        _ schema: String,
        _ behaviour: DamageBehaviour,
        isFresh: Bool
    ) throws(DatabaseError) {
        try super.init(connection, schema, behaviour, isFresh: isFresh)
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

    override func hold(_ sql: String? = nil) throws(DatabaseError) {
        guard !isGuarding else { return }
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

    override func release() {
        guard isGuarding else { return }
        isGuarding = false
        _ = connection.working { sqlite3_reset(guardian) }
    }

    override func isDamaged(isWriting: Bool) throws(DatabaseError) -> Bool {
        var code = compile(&probe)
        if code == SQLITE_OK { code = connection.unrestricted { connection.working { sqlite3_step(probe) } } }
        let error = code == SQLITE_ROW ? nil : connection.error(code)
        _ = connection.working { sqlite3_reset(probe) }
        guard let error else { return false }
        guard error.code.mayBeDamage else { throw error }
        return true
    }

    override func close(_ connection: Connection) {
        connection.working {
            sqlite3_finalize(guardian)
            sqlite3_finalize(probe)
        }
        (guardian, probe, isGuarding) = (nil, nil, false)
    }
}

/// Sees the error state of the codec, which lasts until the connection is closed, also behind a commit.
final class CodecWatch: DamageWatch {
    /// Whether nothing could be written when the watch began.
    private let wasReadOnly: Bool
    /// Whether a damaged page was read, whose zeros may be in the cache.
    private var hasFailed: Bool

    override init(
        _ connection: Connection,
        _ schema: String,
        _ behaviour: DamageBehaviour,
        isFresh: Bool
    ) throws(DatabaseError) {
        // What has the schema's name may be detached, and another file attached: nothing but its speed depends on these.
        hasFailed = try isFresh ? false : connection.codecStatus(schema) == .failed
        wasReadOnly = connection.isReadOnly(schema)
        try super.init(connection, schema, behaviour, isFresh: isFresh)
    }

    override func isDamaged(isWriting: Bool) throws(DatabaseError) -> Bool {
        // A hundred times as fast as asking for the status.
        let mayWrite = isWriting || (connection.isInTransaction && !connection.authorizer.isReader)
        if !mayWrite, !hasFailed, !wasReadOnly, !connection.isReadOnly(schema) { return false }
        hasFailed = try connection.codecStatus(schema) == .failed
        return hasFailed
    }

    override var mayHaveFailedBefore: Bool { hasFailed || (!wasReadOnly && connection.isReadOnly(schema)) }
}

extension Connection {
    /// Outside of a writing transaction the engine makes a schema read-only with the codec's error.
    fileprivate func isReadOnly(_ schema: String) -> Bool { sqlite3_db_readonly(handle, schema) != 0 }
}
