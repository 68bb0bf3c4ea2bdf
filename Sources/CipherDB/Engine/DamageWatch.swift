internal import CSQLCipher

/// Notices pages that the engine read, found to be changed, and said nothing about.
///
/// For a page whose code is wrong SQLCipher, 3.4.1 and 4.6.1 alike, gives zeros, and marks the pager as failed: the next page
/// that is asked for is the error. Where the bad page is the last one that a query reads, such as the one with the end of a long
/// value, the query ends well, with zeros for the value, and the mark goes with the query's lock. So the lock is kept here until a
/// page was asked for.
final class DamageWatch {
    /// What asks for a page. A trace does not show it.
    static let query = "SELECT (SELECT 1 FROM main.sqlite_master)"

    private unowned let connection: Connection
    /// Keeps the lock while it is on its row, for statements outside of a transaction.
    private var guardian: OpaquePointer?
    private var probe: OpaquePointer?
    private var watched = 0
    private var hasAttached = false
    /// How often a page was not in the cache, when that was last looked at.
    private var misses: Int32 = 0
    /// Set where a database was attached or detached, which has a lock and pages of its own.
    var isOutdated = false

    init(_ connection: Connection) {
        self.connection = connection
    }

    /// Whether a statement that writes can end well though what it read is damaged: where it reads from one database and
    /// commits to another. In one database the commit fails.
    var mayMissWrites: Bool {
        if isOutdated { prepare() }
        return hasAttached
    }

    /// Before a statement's first step.
    func begin() {
        watched += 1
        guard watched == 1, !connection.isInTransaction else { return }
        if isOutdated || guardian == nil { prepare() }
        // Where it cannot have the lock, the statement cannot either, and says why.
        if step(guardian) == SQLITE_ERROR {
            // Of the databases that it names one may have been detached.
            prepare()
            _ = step(guardian)
        }
    }

    /// Throws where a page that was read since the last call is damaged.
    func check(_ sql: String? = nil) throws(DatabaseError) {
        var now: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(connection.handle, SQLITE_DBSTATUS_CACHE_MISS, &now, &highest, 0)
        guard now != misses else { return }
        misses = now
        if isOutdated || probe == nil { prepare() }
        let code = step(probe)
        sqlite3_reset(probe)
        guard [SQLITE_ERROR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_IOERR].contains(code & 0xff) else { return }
        throw DatabaseError(
            .corrupt,
            "a page that was read is damaged: what was answered, or written elsewhere, is not what was stored",
            sql: sql
        )
    }

    /// After a statement's last step.
    func end() {
        watched -= 1
        if watched == 0 { sqlite3_reset(guardian) }
    }

    func close() {
        sqlite3_finalize(guardian)
        sqlite3_finalize(probe)
        (guardian, probe) = (nil, nil)
    }

    private func step(_ statement: OpaquePointer?) -> Int32 {
        guard let statement else { return SQLITE_OK }
        // It may be compiled again, when the schema changed.
        return connection.unrestricted { sqlite3_step(statement) }
    }

    private func prepare() {
        close()
        isOutdated = false
        var sql = DamageWatch.query
        let attached = schemas()
        hasAttached = !attached.isEmpty
        for name in attached { sql += ", (SELECT 1 FROM \(quotedIdentifier(name)).sqlite_master)" }
        connection.unrestricted {
            _ = sqlite3_prepare_v2(connection.handle, sql, -1, &guardian, nil)
            _ = sqlite3_prepare_v2(connection.handle, sql, -1, &probe, nil)
        }
    }

    /// The names of what is attached.
    private func schemas() -> [String] {
        var names: [String] = []
        var list: OpaquePointer?
        connection.unrestricted { _ = sqlite3_prepare_v2(connection.handle, "PRAGMA database_list", -1, &list, nil) }
        while sqlite3_step(list) == SQLITE_ROW {
            if let name = sqlite3_column_text(list, 1).map({ String(cString: $0) }), name != "main", name != "temp" {
                names.append(name)
            }
        }
        sqlite3_finalize(list)
        return names
    }
}

extension PreparedStatement {
    /// What the first word of a statement says of it.
    enum Kind {
        /// It answers with what it read.
        case query
        /// It may write what it read.
        case change
        /// Other databases than before may be there afterwards.
        case attachment
        case other

        init(_ sql: String) {
            switch Kind.firstWord(sql.utf8).uppercased() {
            case "SELECT", "WITH", "VALUES": self = .query
            case "INSERT", "REPLACE", "UPDATE", "DELETE", "CREATE": self = .change
            case "ATTACH", "DETACH": self = .attachment
            default: self = .other
            }
        }

        /// The first word behind space and comments (sqlite.org/lang_comment.html).
        private static func firstWord(_ sql: String.UTF8View) -> String {
            var rest = sql[...]
            while let first = rest.first {
                if rest.starts(with: "--".utf8) {
                    rest = rest.drop { $0 != UInt8(ascii: "\n") }
                } else if rest.starts(with: "/*".utf8) {
                    rest = rest.dropFirst(2)
                    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
                    rest = rest.dropFirst(2)
                } else if first == UInt8(ascii: ";") || first <= UInt8(ascii: " ") {
                    rest = rest.dropFirst()
                } else {
                    break
                }
            }
            return String(decoding: rest.prefix { $0 | 0x20 >= 97 && $0 | 0x20 <= 122 }, as: UTF8.self)
        }
    }
}
