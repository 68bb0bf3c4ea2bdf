internal import CSQLCipher

/// Notices pages of one schema that the engine read, found to be changed, and said nothing about.
///
/// For a page whose code is wrong SQLCipher, 3.4.1 and 4.6.1 alike, gives zeros, and marks the pager as failed: the next page
/// that is asked for is the error. Where the bad page is the last one that a query reads, such as the one with the end of a long
/// value, the query ends well, with zeros for the value, and the mark goes with the query's lock. So the lock is kept here until a
/// page was asked for.
final class DamageWatch {
    /// How the statements begin that a trace does not show.
    static let mark = "/* CipherDB */"

    private unowned let connection: Connection
    /// Keeps the lock while it is on its row, for queries outside of a transaction.
    private var guardian: OpaquePointer?
    /// Asks for a page.
    private var probe: OpaquePointer?
    private var isGuarding = false
    /// How many queries are between their first step and their end.
    private var queries = 0

    init(_ connection: Connection, schema: String) throws(DatabaseError) {
        self.connection = connection
        let sql = "\(DamageWatch.mark) SELECT (SELECT 1 FROM \(quotedIdentifier(schema)).sqlite_master)"
        let codes = connection.unrestricted {
            [
                sqlite3_prepare_v2(connection.handle, sql, -1, &guardian, nil),
                sqlite3_prepare_v2(connection.handle, sql, -1, &probe, nil),
            ]
        }
        for code in codes { try connection.check(code) }
    }

    /// Before a query's first step.
    func begin() {
        queries += 1
    }

    /// Before each step of a query: a transaction that it began in may have ended.
    func hold(_ sql: String? = nil) throws(DatabaseError) {
        guard !isGuarding, !connection.isInTransaction else { return }
        // It may be compiled again, when the schema changed.
        let code = connection.unrestricted { sqlite3_step(guardian) }
        guard code == SQLITE_ROW else {
            let error = connection.error(code, sql: sql)
            sqlite3_reset(guardian)
            throw error
        }
        isGuarding = true
    }

    /// After a query's last step.
    func end() {
        queries -= 1
        guard queries == 0, isGuarding else { return }
        isGuarding = false
        sqlite3_reset(guardian)
    }

    /// Throws where a page is damaged that was read since the lock is held.
    func check(_ sql: String? = nil) throws(DatabaseError) {
        let code = connection.unrestricted { sqlite3_step(probe) }
        let error = code == SQLITE_ROW ? nil : connection.error(code)
        sqlite3_reset(probe)
        guard let error else { return }
        guard [.error, .corrupt, .notADatabase, .inputOutput].contains(error.code.primary) else { throw error }
        throw DatabaseError(
            .corrupt,
            "a page that was read is damaged: what was answered, or written elsewhere, is not what was stored",
            sql: sql
        )
    }

    func close() {
        sqlite3_finalize(guardian)
        sqlite3_finalize(probe)
        (guardian, probe, isGuarding) = (nil, nil, false)
    }
}

extension Connection {
    /// How often a page was not in the cache, and so was decrypted.
    var cacheMisses: Int32 {
        var now: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(handle, SQLITE_DBSTATUS_CACHE_MISS, &now, &highest, 0)
        return now
    }

    /// The watch over a schema, on a connection that is watched.
    func damageWatch(_ schema: String) throws(DatabaseError) -> DamageWatch {
        if let watch = damageWatches[schema] { return watch }
        let watch = try DamageWatch(self, schema: schema)
        damageWatches[schema] = watch
        return watch
    }
}
