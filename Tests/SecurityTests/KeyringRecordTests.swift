import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

/// The table by which a database knows old copies of its keyring.
@Suite final class KeyringRecordTests: KeyringFixture {
    /// A database that has noted its keyring.
    override init() throws {
        try super.init()
        try make()
        try open().close()
    }

    /// As another program does that has the key.
    private func alter(_ sql: String) throws {
        let database = Database(path: path, configuration: Configuration { $0.unsafeAllowsAllSQL = true })
        try database.open(key: keyring.unlock(secret).databaseKey())
        try database.executeStatements(SQL(unsafe: sql))
        database.close()
    }

    private func record(_ database: Database) throws -> [DatabaseValue] {
        let rows = try database.executeQuery("SELECT * FROM cipherdb_keyring")
        var values: [DatabaseValue] = []
        while try rows.next() { for column in 0..<rows.columnCount { values.append(try rows[column]) } }
        return values
    }

    static let statements = [
        "DROP TABLE cipherdb_keyring", "DROP TABLE main.\"CIPHERDB_KEYRING\"", "DELETE FROM cipherdb_keyring",
        "UPDATE cipherdb_keyring SET generation = 'junk'", "UPDATE main.CipherDB_Keyring SET generation = 0",
        "INSERT INTO cipherdb_keyring VALUES (zeroblob(16), 1, zeroblob(32))",
        "REPLACE INTO cipherdb_keyring SELECT identifier, 0, mac FROM cipherdb_keyring",
        "ALTER TABLE cipherdb_keyring RENAME TO other", "ALTER TABLE cipherdb_keyring ADD COLUMN more",
        "CREATE TRIGGER hostile AFTER INSERT ON cipherdb_keyring BEGIN SELECT 1; END",
        "CREATE TEMP TRIGGER hostile AFTER INSERT ON main.cipherdb_keyring BEGIN SELECT 1; END",
        "CREATE UNIQUE INDEX hostile ON cipherdb_keyring (generation)",
        "CREATE TRIGGER people_insert AFTER INSERT ON people BEGIN DELETE FROM cipherdb_keyring; END; "
            + "INSERT INTO people DEFAULT VALUES",
        "WITH x AS (SELECT 1) DELETE FROM cipherdb_keyring",
    ]

    @Test(arguments: statements)
    func sqlChangesNoRecordOfKeyring(sql: String) throws {
        let database = try open()
        let before = try record(database)
        #expect(before.count == 3)
        #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        #expect(try record(database) == before)
    }

    @Test(arguments: [
        "CREATE TABLE cipherdb_keyring (x)", "CREATE VIEW CIPHERDB_keyring AS SELECT 1",
        "CREATE INDEX cipherdb_keyring ON people (name)", "CREATE VIRTUAL TABLE cipherdb_keyring USING fts4(x)",
        "ALTER TABLE people RENAME TO \"CipherDB_Keyring\"",
    ])
    func sqlPutsNothingInItsPlace(sql: String) throws {
        try alter("DROP TABLE cipherdb_keyring")
        let database = Database(path: path)
        try database.open(key: keyring.unlock(secret).databaseKey())
        #expect { try database.executeStatements(SQL(unsafe: sql)) } throws: { isRefusal($0) }
        // A temporary table is in no file.
        try database.executeStatements("CREATE TEMP TABLE cipherdb_keyring (x)")
        try keyring.unlock(secret).add(.keyFile(.random(count: 32)))
        database.close()
        #expect(try record(open()).count == 3)
    }

    @Test(arguments: [
        "DROP TABLE cipherdb_keyring; CREATE TABLE cipherdb_keyring (x)",
        "DROP TABLE cipherdb_keyring; CREATE VIEW cipherdb_keyring AS SELECT 1 AS identifier, 2 AS generation, 3 AS mac",
        "DROP TABLE cipherdb_keyring; CREATE INDEX cipherdb_keyring ON people (name)",
        "UPDATE cipherdb_keyring SET generation = 'junk'",
        "UPDATE cipherdb_keyring SET generation = 9223372036854775807",
        "UPDATE cipherdb_keyring SET generation = 0", "UPDATE cipherdb_keyring SET generation = -1",
        "UPDATE cipherdb_keyring SET mac = zeroblob(32)", "UPDATE cipherdb_keyring SET mac = ''",
        "ALTER TABLE cipherdb_keyring ADD COLUMN more",
        "CREATE TRIGGER hostile AFTER INSERT ON cipherdb_keyring BEGIN SELECT RAISE(FAIL, 'no'); END",
        "CREATE TRIGGER hostile BEFORE DELETE ON cipherdb_keyring BEGIN SELECT RAISE(IGNORE); END",
    ])
    func alteredRecordIsErrorAndRepaired(sql: String) throws {
        try alter(sql)
        expect(throws: KeyringError.recordAltered) { try open().close() }
        let repaired = try open { $0.acceptsOldCopies = true }
        #expect(try repaired.string(forQuery: SampleFile.question) == SampleFile.answer)
        repaired.close()
        #expect(try record(open()).count == 3)
        try oldCopiesAreFound()
    }

    private func oldCopiesAreFound() throws {
        try FileManager.default.copyItem(atPath: keyring.path, toPath: directory.file("old"))
        let unlocked = try keyring.unlock(secret)
        try unlocked.add(.keyFile(.random(count: 32)))
        try open().close()
        let generation = try keyring.content().generation
        try FileManager.default.removeItem(atPath: keyring.path)
        try FileManager.default.moveItem(atPath: directory.file("old"), toPath: keyring.path)
        expect(throws: KeyringError.outdated, where: { $0.generation == generation }) { try open().close() }
    }

    /// What the library wrote before there was a MAC.
    @Test func recordWithoutMACIsReplaced() throws {
        let legacy = """
            CREATE TABLE saved AS SELECT identifier, generation FROM cipherdb_keyring; DROP TABLE cipherdb_keyring;
            CREATE TABLE cipherdb_keyring (identifier BLOB PRIMARY KEY, generation INTEGER NOT NULL);
            INSERT INTO cipherdb_keyring SELECT identifier, generation FROM saved; DROP TABLE saved
            """
        try alter(legacy)
        #expect(try record(open()).count == 3)
        try oldCopiesAreFound()
        let present = try keyring.content().generation
        try open { $0.acceptsOldCopies = true }.close()
        try alter(legacy + "; UPDATE cipherdb_keyring SET generation = \(present + 100)")
        expect(throws: KeyringError.recordAltered) { try open().close() }
    }

    /// What a foreign key of another table would keep.
    @Test(arguments: [
        "CREATE TABLE child (x REFERENCES cipherdb_keyring(identifier)); INSERT INTO child SELECT identifier FROM cipherdb_keyring",
        "CREATE TABLE child (x REFERENCES cipherdb_keyring(generation))",
    ])
    func foreignKeyDoesNotFreezeRecord(sql: String) throws {
        let database = try open()
        try database.executeStatements(SQL(unsafe: sql))
        database.close()
        try oldCopiesAreFound()
        try open { $0.acceptsOldCopies = true }.close()
        let enforcing = try open()
        #expect(try enforcing.int(forQuery: "PRAGMA foreign_keys") == 1)
    }

    /// Whole databases are copied with it.
    @Test func everydayWorkGoesOnWithRecord() throws {
        let database = try open()
        for _ in 0..<2 { try database.executeUpdate("VACUUM") }
        #expect(try record(database).count == 3)
        let copy = Database(path: directory.file("copy.db"))
        try copy.open(key: .random())
        try database.backup(to: copy)
        #expect(try record(copy) == record(database))
        copy.close()
        let plain = Database(
            path: directory.file("plain.db"),
            configuration: Configuration { $0.allowsPlaintext = true }
        )
        try plain.open()
        try database.backup(to: plain, decrypting: true)
        #expect(try record(plain) == record(database))
        let (before, key) = (try record(database), try keyring.unlock(secret).databaseKey())
        database.close()
        if Engine.current.has(.exportFromAttached) {
            let again = Database(path: directory.file("again.db"))
            try again.open(key: key)
            try plain.backup(to: again)
            #expect(try record(again) == before)
        }
        plain.close()
        let recovered = try DatabaseFile(path: path).recover(key: key, to: directory.file("recovered.db"))
        #expect(recovered.isComplete && recovered.failures.isEmpty)
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 8192 }
        try DatabaseFile(path: path).migrate(key: key, format: format)
        try DatabaseFile(path: directory.file("plain.db")).encrypt(with: key)
        for name in ["test.db", "recovered.db", "plain.db"] {
            let found = Database(path: directory.file(name))
            try found.open(key: key)
            #expect(try record(found) == before, "\(name)")
            found.close()
        }
        try oldCopiesAreFound()
    }

    @Test func openingWritesRecordOnce() throws {
        try open().close()
        let before = try FileState(path)
        try open().close()
        #expect(try FileState(path) == before)
    }

    @Test func recordOfAnotherKeyringSaysNothing() throws {
        try alter("UPDATE cipherdb_keyring SET identifier = zeroblob(16)")
        #expect(try record(open()).first != .blob(Data(count: 16)))
    }

    #if DEBUG || FAULTS
        /// The database has noted a change that is in the keyring only after it was read.
        @Test func keyringThatIsWrittenMeanwhileIsNoOldCopy() throws {
            let old = try Data(FileState(keyring.path).bytes)
            try keyring.unlock(secret).add(.keyFile(.random(count: 32)))
            try open().close()
            let (new, place) = (try Data(FileState(keyring.path).bytes), URL(fileURLWithPath: keyring.path))
            for number in 0..<8 {
                let isFirst = Lock(true)
                // One of the reads finds the old content, all later ones the new.
                let order = FaultInjection.Order(
                    prefix: keyring.path,
                    call: .read,
                    after: number,
                    code: nil,
                    persists: true
                ) {
                    let content = isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst ? old : new
                    }
                    try? content.write(to: place)
                }
                let (outcome, _) = FaultInjection.with(order) { try open().close() }
                #expect(throws: Never.self, "read \(number)") { try outcome.get() }
                try new.write(to: place)
            }
        }
    #endif
}
