internal import CipherKeys

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// What a database remembers of its keyring.
enum KeyringRecord: Equatable {
    /// Nothing, or another keyring, which it had before.
    case none
    /// The greatest generation that it was used with.
    case generation(UInt64)
    /// What no connection of the library has written.
    case altered

    /// The table. Keyed connections let no SQL of the program's change it.
    static let table = "cipherdb_keyring"
    static let schema =
        "CREATE TABLE cipherdb_keyring (identifier BLOB PRIMARY KEY, generation INTEGER NOT NULL, mac BLOB NOT NULL)"
    /// Of CipherDB before 0.1, without a MAC. What it says can be true, and only that the keyring is no old copy is believed.
    static let schemaWithoutMAC =
        "CREATE TABLE cipherdb_keyring (identifier BLOB PRIMARY KEY, generation INTEGER NOT NULL)"
}

extension Database {
    /// Throws where the database was used with a newer copy of the keyring, or another program has altered the record.
    func checkRecord(of keyring: UnlockedKeyring) throws {
        let content = try keyring.content()
        switch try record(of: keyring, content) {
        case .none: return
        case .altered:
            // Where that is accepted it is written again.
            guard configuration.acceptsOldCopies else {
                throw KeyringError(.recordAltered, path: keyring.keyring.path)
            }
        case .generation(let known):
            guard known > content.generation else { return }
            // Another process may have written both since the keyring was read: the keyring first, then the record.
            guard try known > keyring.content().generation else { return }
            guard configuration.acceptsOldCopies else {
                throw KeyringError(.outdated, path: keyring.keyring.path, generation: known)
            }
            do {
                try keyring.withLock(waiting: .zero) { try $0.overtake(generation: known) }
            } catch let error as KeyringError where error.isOfTheSystem {
                // It is taken all the same, and asked about again the next time.
            }
        }
    }

    /// Writes the keyring's generation down where the database was used with an older one.
    func updateRecord(of keyring: UnlockedKeyring) throws {
        let content = try keyring.content()
        let found = try record(of: keyring, content)
        if case .generation(let known) = found, known >= content.generation { return }
        // A file without tables can still be given its vacuum mode.
        guard try int(forQuery: "SELECT count(*) FROM main.sqlite_master") ?? 0 > 0 else { return }
        do {
            try writeRecord(of: keyring)
        } catch let error as DatabaseError
            where [.busy, .locked, .full, .readOnly, .inputOutput].contains(error.code.primary)
        {
            // The next opening does it.
        }
    }

    /// The generation that the database has noted of this keyring; 0 where it has none that can be believed.
    package func notedGeneration(of keyring: UnlockedKeyring) throws -> UInt64 {
        guard case .generation(let known) = try record(of: keyring, keyring.content()) else { return 0 }
        return known
    }

    /// Writes the record again where another program has altered it. True where it did.
    package func repairRecord(of keyring: UnlockedKeyring) throws -> Bool {
        guard try record(of: keyring, keyring.content()) == .altered else { return false }
        try writeRecord(of: keyring)
        return true
    }

    /// Lets statements write the record: those that copy a whole database.
    package func allowKeyringRecord() throws {
        try usableConnection().authorizer.protectsKeyringRecord = false
    }

    // MARK: Reading

    private func record(of keyring: UnlockedKeyring, _ content: KeyringContent) throws -> KeyringRecord {
        let objects = try recordObjects()
        guard !objects.isEmpty else { return .none }
        guard objects.count == 1, objects[0].type == "table" else { return .altered }
        let hasMAC = objects[0].sql == KeyringRecord.schema
        guard hasMAC || objects[0].sql == KeyringRecord.schemaWithoutMAC else { return .altered }
        let rows = try executeQuery(
            "SELECT generation, \(raw: hasMAC ? "mac" : "NULL") FROM main.cipherdb_keyring WHERE identifier = ?",
            Data(content.identifier)
        )
        guard try rows.next() else { return .none }
        let (generation, mac): (DatabaseValue, DatabaseValue) = (try rows[0], try rows[1])
        rows.close()
        guard case .integer(let number) = generation, let known = UInt64(exactly: number) else { return .altered }
        if hasMAC {
            return try mac == .blob(Data(keyring.recordMAC(generation: known))) ? .generation(known) : .altered
        }
        return known <= content.generation ? .none : .altered
    }

    /// What has the table's name, or belongs to it, as the schema has it.
    private func recordObjects() throws -> [(type: String, name: String, sql: String)] {
        let rows = try executeQuery(
            """
            SELECT type, name, ifnull(sql, '') FROM main.sqlite_master
            WHERE (lower(name) = 'cipherdb_keyring' OR lower(tbl_name) = 'cipherdb_keyring') AND sql NOT NULL
            """
        )
        defer { rows.close() }
        var objects: [(type: String, name: String, sql: String)] = []
        while try rows.next() { objects.append((try rows[0], try rows[1], try rows[2])) }
        return objects
    }

    // MARK: Writing

    /// Writes the record, in place of all that has the table's name.
    func writeRecord(of keyring: UnlockedKeyring) throws {
        let connection = try usableConnection()
        guard !connection.isReadOnly else { return }
        let content = try keyring.content()
        // A writer is not waited for: the next opening does it.
        connection.setBusyTimeout(milliseconds: 0)
        defer { installBusyHandling() }
        // A foreign key of another table must not keep the row. It cannot be set within a transaction.
        let enforces = try connection.text("PRAGMA foreign_keys") == "1"
        try connection.setForeignKeys(false)
        defer { if enforces { try? connection.setForeignKeys(true) } }
        try inTransaction { database in
            let objects = try database.recordObjects()
            let isSound = objects.count == 1 && objects[0].sql == KeyringRecord.schema
            // Compiled for this once: a statement that is kept is run also where the program may not compile it.
            try connection.unrestricted {
                if !isSound {
                    // Triggers go with their table.
                    for object in objects where object.type != "trigger" {
                        try connection.execute(
                            "DROP \(object.type.uppercased()) IF EXISTS main.\(quotedIdentifier(object.name))"
                        )
                    }
                    try connection.execute(KeyringRecord.schema.replacing("TABLE ", with: "TABLE main."))
                }
                // Those of keyrings that the database had before are of no use.
                try connection.execute("DELETE FROM main.cipherdb_keyring")
                guard
                    let (statement, _) = try connection.prepare("INSERT INTO main.cipherdb_keyring VALUES (?, ?, ?)")
                else { return }
                defer { statement.finalize() }
                let generation = Int64(clamping: content.generation)
                try content.identifier.withUnsafeBytes { try statement.bind(blob: $0, at: 1) }
                try statement.bind(generation, at: 2)
                try keyring.recordMAC(generation: UInt64(generation)).withUnsafeBytes {
                    try statement.bind(blob: $0, at: 3)
                }
                _ = try statement.step()
            }
        }
        clearCachedStatements()
    }
}
