internal import CSQLCipher
internal import CipherSystem

/// What the statements of a connection may do, said while they are compiled.
final class Authorizer {
    /// On an encrypted connection, and one in memory, unless the program allows more: no cipher setting, no other file, nothing that
    /// spills into files. Typed calls do all of it. What would be harmful anywhere is refused in any case.
    var isLockedDown = false
    /// A reader of a pool must stay one.
    var isReader = false
    /// Set while the library's own statements are compiled.
    var isSuspended = false
    /// What the statement reads and writes that is compiled now.
    var access = TableAccess()
    /// Whether there is something in it.
    // The ``Turn`` of the connection keeps other threads out, and a truth value is read and written at once.
    @exclusivity(unchecked) var hasAccess = false
    /// The statement that the engine steps now, where damaged pages are looked for. When a schema has changed SQLite compiles it again
    /// first, and then it may read a database that it did not read before.
    // Safe because the statement itself sets and unsets it, around its step on the connection's ``Turn``. Not counted: each step would do
    // so twice.
    @exclusivity(unchecked) var stepping: Unmanaged<PreparedStatement>?
    /// Whether ``stepping`` was refused what it would read now, so that its pages are watched before it is stepped again.
    private var refusedUnwatched = false
    /// Unset where whole databases are copied, with the record of their keyring.
    var protectsKeyringRecord = true
    /// The SQL that is compiled now.
    var sql: String?
    /// Why the statement that is compiled was refused.
    private var refusal: Refusal?
    /// Functions of the program that no view or trigger may call, in lower case.
    private var directOnly: [String: Set<Int32>] = [:]
    /// The tables that statements compiled from here on read, if somebody asks for them.
    // The ``Turn`` of the connection keeps other threads out, and nothing is called while it is added to.
    @exclusivity(unchecked) var recordedReads: Set<TableName>? {
        didSet { if recordedReads == nil { readsMoreThanRecorded = false } }
    }
    /// Whether it reads what any commit may change.
    private(set) var readsMoreThanRecorded = false
    /// The user's, asked about what is not refused.
    var user: ((AuthorizerAction) -> AuthorizerDecision)?

    func decide(
        _ code: Int32,
        _ first: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?,
        _ source: UnsafePointer<CChar>?
    ) -> AuthorizerDecision {
        note(code, table: first, second, schema)
        if hasAccess, let stepping, stepping._withUnsafeGuaranteedRef({ $0.isCompiledToReadMore(access) }) {
            refusedUnwatched = true
            return .deny
        }
        if isSuspended { return .allow }
        let refusal =
            isKeyringRecordChanged(code, first, second, schema) ? .keyringRecord : refusal(code, first, second, source)
        if let refusal {
            self.refusal = refusal
            return .deny
        }
        guard let user else { return .allow }
        // An action that a later SQLite has is one that nobody here can judge.
        guard let kind = AuthorizerAction.Kind(rawValue: code) else { return .deny }
        let action = AuthorizerAction(
            kind: kind,
            first: first.map { String(cString: $0) },
            second: second.map { String(cString: $0) },
            schema: schema.map { String(cString: $0) },
            source: source.map { String(cString: $0) }
        )
        let decision = user(action)
        if decision == .deny { self.refusal = .user }
        return decision
    }

    private func note(
        _ code: Int32,
        table: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?
    ) {
        switch code {
        case SQLITE_READ:
            guard let table else { return }
            hasAccess = true
            // Of a table whose columns are not read the database is not told.
            let name = TableName(String(cString: table), in: schema.map { String(cString: $0) })
            access.read(name.schema ?? "main")
            // A change of the schema is reported to every observer.
            guard !name.isSchemaTable else { return }
            access.readsRows = true
            guard recordedReads?.insert(name) != nil else { return }
            if Authorizer.writtenByEngine.contains(name.name.lowercased()) { readsMoreThanRecorded = true }
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            guard let table, let schema else { return }
            hasAccess = true
            access.write(TableName(String(cString: table), in: String(cString: schema)))
            if code == SQLITE_DELETE { access.deletes = true }
        case SQLITE_ATTACH:
            hasAccess = true
            if table?.pointee == 0 { access.isVacuum = true } else { access.attaches = true }
        case SQLITE_TRANSACTION:
            if sqlite3_stricmp(table, "ROLLBACK") == 0 { access.control = .rollback }
        case SQLITE_SAVEPOINT:
            if sqlite3_stricmp(table, "BEGIN") == 0 { access.control = .savePoint }
        case SQLITE_PRAGMA:
            guard let table else { return }
            note(pragma: String(cString: table).lowercased(), hasArgument: second != nil, schema)
        default: break
        }
    }

    private func note(pragma: String, hasArgument: Bool, _ schema: UnsafePointer<CChar>?) {
        // It reads pages of tables without a word.
        if Authorizer.checks.contains(pragma) {
            hasAccess = true
            if let schema { access.read(String(cString: schema)) } else { access.readsAllSchemas = true }
        }
        if hasArgument, pragma == "defer_foreign_keys" { defersForeignKeys = true }
        // SQLite's hooks and counts say nothing of a number in the header.
        if hasArgument, Authorizer.headerNumbers.contains(pragma) {
            hasAccess = true
            access.changesSchema = true
        }
        guard recordedReads != nil else { return }
        if Authorizer.changedByAnyCommit.contains(pragma) || Authorizer.checks.contains(pragma) {
            readsMoreThanRecorded = true
        }
    }

    /// Whether ``stepping`` was refused what it would read now; once.
    func takeRefusedUnwatched() -> Bool {
        defer { refusedUnwatched = false }
        return refusedUnwatched
    }

    /// Whether foreign keys are deferred until the end of the transaction, by SQL of it.
    var defersForeignKeys = false

    /// Takes what was noted.
    func takeAccess() -> TableAccess {
        defer {
            access = TableAccess()
            hasAccess = false
        }
        return access
    }

    /// Whether SQL wanted to give the key, and nothing was keyed: what is written next would be in plaintext.
    private(set) var hasRefusedKey = false

    /// Takes why a statement was refused; nil where none was.
    func takeRefusal() -> Refusal? {
        defer { refusal = nil }
        return refusal
    }

    /// Whether only top-level SQL may call the function `name` with so many arguments.
    func setDirectOnly(_ name: String, _ arguments: Int32, _ isDirectOnly: Bool) {
        if isDirectOnly {
            directOnly[name.lowercased(), default: []].insert(arguments)
        } else {
            directOnly[name.lowercased()]?.remove(arguments)
        }
    }

    /// Whether a statement would change what the database remembers of its keyring, or put another thing in its place.
    ///
    /// Temporary tables do not count, but triggers that can belong to another schema; nor does the schema to which VACUUM copies.
    private func isKeyringRecordChanged(
        _ code: Int32,
        _ first: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?,
        _ schema: UnsafePointer<CChar>?
    ) -> Bool {
        guard isLockedDown, protectsKeyringRecord, Authorizer.changes.contains(code) else { return false }
        if code == SQLITE_ALTER_TABLE {
            // The table's new name is not said.
            return Authorizer.mayHaveRecord(first.map { String(cString: $0) } ?? "")
                && (isKeyringRecord(second) || sql?.lowercased().contains(KeyringRecord.table) == true)
        }
        guard isKeyringRecord(first) || isKeyringRecord(second) else { return false }
        return code == SQLITE_CREATE_TEMP_TRIGGER || Authorizer.mayHaveRecord(schema.map { String(cString: $0) } ?? "")
    }

    /// Whether a schema of this name may be a database with a keyring: not one to which VACUUM copies, `vacuum_db` or, in SQLCipher 4.12 and
    /// later, `vacuum_` and a number. ``Database/attach(_:as:key:)`` gives no such name.
    static func mayHaveRecord(_ schema: String) -> Bool {
        let schema = schema.lowercased()
        return schema != "temp" && !schema.hasPrefix("vacuum_")
    }

    private func refusal(
        _ code: Int32,
        _ first: UnsafePointer<CChar>?,
        _ second: UnsafePointer<CChar>?,
        _ source: UnsafePointer<CChar>?
    ) -> Refusal? {
        switch code {
        case SQLITE_FUNCTION:
            guard let name = second.map({ String(cString: $0).lowercased() }) else { return nil }
            // It hands out, and takes, addresses of tokenizers.
            let isRefused =
                name == "fts3_tokenizer" || source != nil && directOnly[name]?.isEmpty == false
                || isLockedDown && name == "load_extension"
            return isRefused ? .function(name) : nil
        case SQLITE_PRAGMA:
            guard let first else { return nil }
            let name = String(cString: first).lowercased()
            // The second text may be a key: whether there is one is all that is looked at.
            guard isRefused(pragma: name, hasArgument: second != nil) else { return nil }
            if name == "secure_delete", Authorizer.secureDeletes.contains(where: { sqlite3_stricmp(second, $0) == 0 }) {
                return nil
            }
            if SQL.keyPragmas.contains(name) { hasRefusedKey = true }
            return isReader && name == "query_only" ? .poolReader : .pragma(name)
        case SQLITE_ATTACH:
            // VACUUM attaches an empty name; VACUUM INTO a file. Without a constant there is no name to be judged.
            let name = first.map { String(cString: $0) }
            guard isLockedDown && name != "" && name != ":memory:" else { return nil }
            let isVacuum = sql?.drop(while: \.isWhitespace).prefix(6).lowercased() == "vacuum"
            return isVacuum ? .vacuumInto : .attach
        // The table of the database's pages gives them as bytes, and takes others.
        case SQLITE_READ, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE:
            return isLockedDown && sqlite3_stricmp(first, "sqlite_dbpage") == 0 ? .pages : nil
        case SQLITE_CREATE_VTABLE:
            return isLockedDown && sqlite3_stricmp(second, "sqlite_dbpage") == 0 ? .pages : nil
        default: return nil
        }
    }

    /// `PRAGMA key` and its relatives show in traces, and on a keyed connection SQLCipher 4 ignores them and 3.4.1 destroys the
    /// file. The defaults are those of all connections of the process: new files would lose their authentication. `cipher` and what
    /// begins with `rekey` choose another cipher in 3.4.1, at once or for the next change of key, which no key opens after that.
    private static let neverAllowed = Set(SQL.keyPragmas + ["cipher", "cipher_hmac_salt_mask"])
    private static let neverAllowedBeginnings = ["rekey", "cipher_default"]
    /// What makes, changes or drops the table that is named, or puts another thing under its name.
    private static let changes: Set<Int32> = [
        SQLITE_CREATE_TABLE, SQLITE_CREATE_VIEW, SQLITE_CREATE_VTABLE, SQLITE_CREATE_INDEX, SQLITE_CREATE_TRIGGER,
        SQLITE_CREATE_TEMP_TRIGGER, SQLITE_DROP_TABLE, SQLITE_DROP_VIEW, SQLITE_DROP_VTABLE, SQLITE_DROP_INDEX,
        SQLITE_DROP_TRIGGER, SQLITE_ALTER_TABLE, SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE,
    ]
    /// A change is reported to every observer, as one of the schema is.
    private static let headerNumbers: Set<String> = ["user_version", "application_id"]
    /// The engine tells nobody that it writes them.
    private static let writtenByEngine: Set<String> = ["sqlite_sequence", "dbstat", "sqlite_dbpage"]
    private static let changedByAnyCommit: Set<String> = ["page_count", "freelist_count", "data_version"]
    private static let checks: Set<String> = ["integrity_check", "quick_check", "foreign_key_check", "optimize"]
    /// They say something and do nothing, without an argument.
    private static let harmless: Set<String> = [
        "cipher_version", "cipher_provider", "cipher_provider_version", "cipher_integrity_check", "cipher_status",
        "cipher_fips_status", "cipher_salt", "cipher_settings", "cipher_page_size", "cipher_use_hmac",
        "cipher_hmac_algorithm", "cipher_kdf_algorithm", "cipher_plaintext_header_size", "cipher_memory_security",
        "kdf_iter", "fast_kdf_iter", "page_size", "hard_heap_limit", "soft_heap_limit", "temp_store",
        "temp_store_directory", "data_store_directory", "lock_proxy_file", "writable_schema", "trusted_schema",
        "secure_delete",
    ]
    /// As the engine has it with a key. Without it free pages are not written, and have no MAC.
    private static let secureDeletes = ["on", "yes", "true", "1"]

    private func isKeyringRecord(_ name: UnsafePointer<CChar>?) -> Bool {
        sqlite3_stricmp(name, KeyringRecord.table) == 0
    }

    private func isRefused(pragma: String, hasArgument: Bool) -> Bool {
        if isReader, pragma == "query_only" { return true }
        if Authorizer.neverAllowed.contains(pragma) { return true }
        if Authorizer.neverAllowedBeginnings.contains(where: pragma.hasPrefix) { return true }
        guard isLockedDown else { return false }
        let isSensitive = pragma.hasPrefix("cipher_") || Authorizer.harmless.contains(pragma)
        return isSensitive && (hasArgument || !Authorizer.harmless.contains(pragma))
    }
}

extension Connection {
    /// Has the engine ask for each statement that is compiled from here on.
    func installAuthorizer() {
        let pointer = Unmanaged.passUnretained(authorizer).toOpaque()
        sqlite3_set_authorizer(
            handle,
            { pointer, code, first, second, schema, source in
                guard let pointer else { return SQLITE_DENY }
                let authorizer = Unmanaged<Authorizer>.fromOpaque(pointer).takeUnretainedValue()
                return authorizer.decide(code, first, second, schema, source).rawValue
            },
            pointer
        )
    }

    /// Runs `body`, whose statements are the library's own, without restrictions.
    func unrestricted<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let before = authorizer.isSuspended
        authorizer.isSuspended = true
        defer { authorizer.isSuspended = before }
        return try body()
    }
}

enum TransactionControl {
    case none
    /// It ends it and undoes all of it.
    case rollback
    /// It begins a savepoint.
    case savePoint
}

/// What a statement reads and writes, as the engine tells while it compiles it.
struct TableAccess {
    /// The schemas that it reads, but for that of temporary tables.
    var schemas: [String] = []
    /// Whether it reads those of all databases that are attached when it runs.
    var readsAllSchemas = false
    /// Whether it reads what is stored in a table, other than the schema.
    var readsRows = false
    /// The schemas that it writes, that of temporary tables too.
    var writtenSchemas: [String] = []
    /// The tables that it writes, also by triggers and foreign keys.
    var writes: [TableName] = []
    /// Whether it makes, changes or drops one, or sets a number of the file's header, which is reported in the same way.
    var changesSchema = false
    /// Whether it deletes: SQLite 3.15 does not count the rows of a WITHOUT ROWID table that is emptied.
    var deletes = false

    var isEmpty: Bool { !reads && writes.isEmpty && !changesSchema }

    /// Whether it reads pages of a database.
    var reads: Bool { readsAllSchemas || !schemas.isEmpty }

    /// Whether it attaches a temporary database, as VACUUM does, which copies the database into that and back.
    var isVacuum = false
    /// Whether it attaches a file.
    var attaches = false
    /// What it does to the transaction.
    var control = TransactionControl.none

    mutating func read(_ schema: String) {
        if schema != "temp", !schemas.contains(schema) { schemas.append(schema) }
    }

    /// Whether it writes into one schema what it read in another: the commit of the one would not see damage of the other.
    var copiesBetweenSchemas: Bool {
        !isVacuum && writtenSchemas.contains { written in schemas.contains { $0 != written } }
    }

    mutating func write(_ table: TableName) {
        if let schema = table.schema, !writtenSchemas.contains(schema) { writtenSchemas.append(schema) }
        if table.isSchemaTable {
            changesSchema = true
        } else if !writes.contains(table) {
            writes.append(table)
        }
    }

    mutating func formUnion(_ other: TableAccess) {
        for schema in other.schemas { read(schema) }
        for table in other.writes { write(table) }
        changesSchema = changesSchema || other.changesSchema
        deletes = deletes || other.deletes
        readsRows = readsRows || other.readsRows
        readsAllSchemas = readsAllSchemas || other.readsAllSchemas
    }
}

extension TableName {
    /// Whether it holds the schema.
    var isSchemaTable: Bool {
        ["sqlite_master", "sqlite_temp_master", "sqlite_schema", "sqlite_temp_schema"].contains(name)
    }
}
