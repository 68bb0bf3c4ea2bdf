import CipherDB
import FMDBCompat
import TestSupport
import Testing

/// What programs with FMDB and SQLCipher do, that they can go on doing.
final class FMDBMovingTests: RawKeyFixture {
    private func opened(_ path: String? = nil) -> FMDatabase {
        let db = FMDatabase(path: path ?? self.path)
        db.logsErrors = false
        #expect(db.open())
        return db
    }

    private func make(_ format: CipherFormat) throws {
        let database = Database(path: path, configuration: Configuration { $0.format = format })
        try database.open(key: .passphrase("secret"))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        database.close()
    }

    @Test(arguments: [CipherFormat.v2, .v3, .v4].filter { Engine.current.writes($0) })
    func setKeyDetectsFileFormat(format: CipherFormat) throws {
        try make(format)
        let db = opened()
        #expect(db.setKey("secret") && db.intForQuery("SELECT a FROM t") == 1)
        #expect(db.executeUpdate("INSERT INTO t VALUES (2)", withArgumentsIn: []))
        db.close()
        #expect(db.open() && !db.setKey("wrong") && !db.isOpen)
        let queue = try #require(FMDatabaseQueue(path: path))
        queue.inDatabase { #expect($0.setKey("secret") && $0.intForQuery("SELECT count(*) FROM t") == 2) }
        queue.close()
        queue.inDatabase { #expect($0.intForQuery("SELECT count(*) FROM t") == 2) }
        queue.close()
        let database = Database(path: path, configuration: Configuration { $0.format = format })
        try database.open(key: .passphrase("secret"))
        #expect(database.cipherFormat == format)
    }

    @Test(.enabled(if: Engine.current.writes(.v3) && Engine.current.writes(.v4), "this engine has one format only"))
    func onlyMatchingPragmasAreAccepted() throws {
        try make(.v3)
        let db = opened()
        #expect(db.setKey("secret"))
        let so = [
            "PRAGMA cipher_compatibility = 3", "PRAGMA cipher_page_size = 1024;", "pragma KDF_ITER=64000",
            "PRAGMA cipher_use_hmac = ON",
            "PRAGMA cipher_hmac_algorithm = HMAC_SHA1", "PRAGMA cipher_kdf_algorithm = 'PBKDF2_HMAC_SHA1'",
            "PRAGMA cipher_plaintext_header_size = 0", "PRAGMA temp_store = MEMORY", "PRAGMA temp_store(2)",
            "PRAGMA cipher_page_size = 1024; PRAGMA kdf_iter = 64000; PRAGMA cipher_hmac_algorithm = HMAC_SHA1",
        ]
        for sql in so {
            #expect(db.executeStatements(sql), "\(sql)")
            #expect(db.executeUpdate(sql, withArgumentsIn: []) || sql.contains("; P"), "\(sql)")
            #expect(db.executeQuery(sql, withArgumentsIn: []) != nil, "\(sql)")
        }
        let others = [
            "PRAGMA cipher_compatibility = 4", "PRAGMA cipher_page_size = 4096", "PRAGMA kdf_iter = 1",
            "PRAGMA cipher_use_hmac = OFF",
            "PRAGMA cipher_hmac_algorithm = HMAC_SHA512", "PRAGMA cipher_plaintext_header_size = 32",
            "PRAGMA temp_store = FILE",
            "PRAGMA cipher_migrate", "PRAGMA cipher_page_size = 1024; PRAGMA kdf_iter = 1",
        ]
        for sql in others {
            #expect(!db.executeStatements(sql), "\(sql)")
            #expect(db.lastErrorMessage().contains("PRAGMA") && db.isOpen, "\(sql)")
        }
        #expect(db.intForQuery("SELECT a FROM t") == 1)
        db.close()
        try FileManager.default.removeItem(atPath: path)
        #expect(db.open() && db.setKey("secret"))
        #expect(
            db.stringForQuery("PRAGMA cipher_migrate") == "0" && db.executeStatements("PRAGMA cipher_compatibility = 4")
        )
    }

    @Test func plaintextHeaderIsComparedWithTheFile() throws {
        var format = CipherFormat.v4
        format.plaintextHeaderSize = 32
        guard Engine.current.writes(format) else { return }
        let salt = String(repeating: "c7", count: 16)
        let text = "x'\(String(repeating: "5b", count: 32))\(salt)'"
        let database = Database(path: path, configuration: Configuration { $0.format = format })
        try database.open(key: .raw(hex: String(text.dropFirst(2).dropLast())))
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        database.close()
        let db = opened()
        #expect(db.setKey(text) && db.intForQuery("SELECT a FROM t") == 1)
        for value in ["32", "(32)", "'32'"] {
            let sql = "PRAGMA cipher_plaintext_header_size" + (value.hasPrefix("(") ? value : " = \(value)")
            #expect(db.executeStatements(sql), "\(sql)")
        }
        #expect(db.executeStatements("PRAGMA cipher_salt = \"x'\(salt.uppercased())'\""))
        for sql in [
            "PRAGMA cipher_plaintext_header_size = 0", "PRAGMA cipher_plaintext_header_size = 16",
            "PRAGMA cipher_salt = \"x'\(String(repeating: "00", count: 16))'\"", "PRAGMA cipher_salt = ''",
        ] { #expect(!db.executeStatements(sql) && db.isOpen, "\(sql)") }
    }

    @Test func keyAsPragmaClosesDatabase() throws {
        for isNew in [true, false] {
            if !isNew {
                let database = Database(path: path)
                try database.open(key: key)
                database.close()
            }
            for sql in ["PRAGMA key = 'secretvalue'", "PRAGMA key='secretvalue'; SELECT 1"] {
                let db = opened()
                #expect(!db.executeStatements(sql))
                #expect(db.lastErrorMessage().contains("setKey") && !db.lastErrorMessage().contains("secretvalue"))
                #expect(!db.isOpen && !db.executeStatements("CREATE TABLE t (a)"))
            }
        }
    }

    @Test func refusedPragmaLeavesPlaintextDatabaseOpen() {
        let db = opened()
        #expect(db.executeStatements("CREATE TABLE t (a)"))
        #expect(!db.executeStatements("PRAGMA cipher_default_kdf_iter = 1") && db.isOpen)
        #expect(db.intForQuery("SELECT count(*) FROM t") == 0)
    }

    @Test func handleIsAvailableBeforeKey() throws {
        let db = opened()
        #expect(db.sqliteHandle != nil && db.setKey("secret") && db.executeStatements("CREATE TABLE t (a)"))
        db.close()
        #expect(db.sqliteHandle == nil)
        let again = opened()
        #expect(again.sqliteHandle != nil && again.setKey("secret") && again.intForQuery("SELECT count(*) FROM t") == 0)
    }

    @Test func externallyKeyedHandleIsUsed() throws {
        typealias SetKey = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int32) -> Int32
        let address = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "sqlite3_key"))
        // It holds because this is the signature that SQLCipher's header has.
        let setKey = unsafeBitCast(address, to: SetKey.self)
        for _ in 0..<2 {
            let db = opened()
            #expect(setKey(db.sqliteHandle, "secret", 6) == 0)
            #expect(db.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)"))
            db.close()
        }
        let wrong = opened()
        #expect(setKey(wrong.sqliteHandle, "wrong!", 6) == 0)
        #expect(!wrong.executeStatements("SELECT * FROM t"))
        let database = Database(path: path)
        try database.open(key: .passphrase("secret"))
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 2)
    }

    private final class Counting: FMDatabase {
        var updates = 0
        let name: String

        init(name: String) {
            self.name = name
            super.init(path: nil)
        }

        override func executeUpdate(_ sql: String, withArgumentsIn arguments: [Any]) -> Bool {
            updates += 1
            return super.executeUpdate(sql, withArgumentsIn: arguments)
        }
    }

    @Test func subclassOverridesAndHasItsOwnInitialiser() throws {
        let db = Counting(name: "notes")
        #expect(db.open() && db.executeUpdate("CREATE TABLE t (a)", withArgumentsIn: []))
        #expect(db.executeUpdate(withFormat: "INSERT INTO t VALUES (\(CGFloat(2.5)))") && db.updates == 2)
        #expect(db.doubleForQuery("SELECT a FROM t") == 2.5)
    }

    @Test func nonconformingClassMakesNoQueue() {
        final class Plain: FMDatabase {}
        final class PlainQueue: FMDatabaseQueue, @unchecked Sendable {
            override class func databaseClass() -> AnyClass { Plain.self }
        }
        #expect(PlainQueue(path: nil) == nil)
    }

    @Test func flagsOfOtherSQLitesAreAccepted() {
        let db = FMDatabase(path: path)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        #expect(db.open(withFlags: flags | SQLITE_OPEN_FILEPROTECTION_NONE | SQLITE_OPEN_SHAREDCACHE) && db.close())
        #expect(directory.names == ["test.db"] || directory.names.isEmpty)
        let memory = FMDatabase(path: directory.file("name"))
        #expect(memory.open(withFlags: flags | SQLITE_OPEN_MEMORY) && memory.executeStatements("CREATE TABLE t (a)"))
        #expect(!directory.names.contains("name"))
    }

    @Test func openTransactionOfQueueStaysOpen() throws {
        let queue = try #require(FMDatabaseQueue(path: path))
        queue.inDatabase { db in
            #expect(db.executeStatements("CREATE TABLE t (a)") && db.beginTransaction())
            #expect(db.executeUpdate("INSERT INTO t VALUES (1)", withArgumentsIn: []))
        }
        queue.inDatabase { db in
            #expect(db.isInTransaction && db.commit() && db.intForQuery("SELECT count(*) FROM t") == 1)
        }
    }

    @Test func attachIsAvailableOnCipherDatabase() throws {
        let db = opened()
        #expect(db.setKey("secret") && db.executeStatements("CREATE TABLE t (a)"))
        let other = directory.file("other.db")
        #expect(!db.executeUpdate("ATTACH ? AS other", withArgumentsIn: [other]) && db.isOpen)
        try db.cipherDatabase.attach(other, as: "other", key: .passphrase("other"))
        #expect(db.executeStatements("CREATE TABLE other.u (a)") && db.intForQuery("SELECT count(*) FROM u") == 0)
        #expect(!db.executeStatements("VACUUM INTO '\(directory.file("copy.db"))'"))
    }

    @Test func lastOfDuplicateColumnsIsRead() throws {
        let db = opened()
        let rows = try #require(
            db.executeQuery("SELECT 1 AS id, 'a' AS name, 2 AS ID, 3 AS other", withArgumentsIn: [])
        )
        #expect(
            rows.next() && rows.int(forColumn: "id") == 2 && rows.int(forColumn: "ID") == 2
                && rows.string(forColumn: "Name") == "a"
        )
        #expect(rows.columnIndex(forName: "Id") == 2 && rows.columnIndex(forName: "no") == -1)
        #expect(rows.columnNameToIndexMap["id"] as? Int32 == 2)
        rows.close()
        #expect(rows.columnIndex(forName: "id") == -1)
        let twins = try #require(db.executeQuery("SELECT 1 AS id, 2 AS id", withArgumentsIn: []))
        #expect(twins.next() && twins.resultDictionary?["id"] as? Int64 == 2)
    }

    private enum State: Int32 { case synced = 7 }

    @Test func rawValueOfEnumerationIsBound() throws {
        let db = opened()
        #expect(db.intForQuery("SELECT ?", State.synced) == 7)
        try db.executeUpdate("CREATE TABLE t (a)", values: nil)
        try db.executeUpdate("INSERT INTO t VALUES (?)", values: [State.synced])
        #expect(db.stringForQuery("SELECT typeof(a) FROM t") == "integer")
    }

    @Test func memoryURICreatesNoFile() throws {
        let db = opened("file::memory:?cache=shared")
        #expect(db.executeStatements("CREATE TABLE t (a)") && db.close())
        for name in ["file::memory:?cache=shared", "file::memory:", ":memory:"] {
            #expect(!FileManager.default.fileExists(atPath: name))
        }
    }

    @Test func reopenedQueueIsInterrupted() throws {
        let queue = try #require(FMDatabaseQueue(path: path))
        queue.inDatabase { #expect($0.executeStatements("CREATE TABLE t (a)")) }
        queue.close()
        let began = DispatchSemaphore(value: 0)
        let ended = Gate()
        Thread.detachNewThread {
            began.wait()
            // One that comes before the statement stops nothing.
            while !ended.passed {
                queue.interrupt()
                Thread.sleep(forTimeInterval: 0.005)
            }
        }
        queue.inDatabase { db in
            began.signal()
            defer { ended.open() }
            let endless =
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n WHERE i < 0"
            #expect(db.intForQuery(endless) == nil && db.lastErrorCode() == SQLITE_INTERRUPT)
        }
    }

    @Test(arguments: ["PRAGMA key = 'k'", "PRAGMA hexkey = '00'"]) func keyPragmaOnHandleIsRefused(
        sql: String
    ) throws {
        typealias Execute =
            @convention(c) (
                UnsafeMutableRawPointer?, UnsafePointer<CChar>?, UnsafeRawPointer?, UnsafeRawPointer?, UnsafeRawPointer?
            ) -> Int32
        let address = try #require(dlsym(UnsafeMutableRawPointer(bitPattern: 0), "sqlite3_exec"))
        // It holds because this is the signature that SQLite's header has, with null for the callback.
        let execute = unsafeBitCast(address, to: Execute.self)
        let db = opened()
        #expect(execute(db.sqliteHandle, sql, nil, nil, nil) == SQLITE_AUTH)
        #expect(!db.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES ('PLAINMARK')") && !db.isOpen)
        #expect(try !FileManager.default.fileExists(atPath: path) || FileState(path).bytes.isEmpty)
    }

    @Test func failedKeyLeavesNoHandle() {
        let db = opened()
        #expect(!db.setKey("") && db.open() && db.sqliteHandle == nil && !db.executeStatements("CREATE TABLE t (a)"))
    }

    @Test(arguments: [
        "SELECT 1; PRAGMA key = 'k'", "PRAGMA user_version; /* */ PRAGMA main.key='k'", "-- x\n;PRAGMA hexkey = '00'",
    ])
    func laterKeyPragmaClosesDatabase(sql: String) throws {
        for call in [
            { $0.executeUpdate(sql, withArgumentsIn: []) }, { $0.executeQuery(sql, withArgumentsIn: []) != nil },
            { $0.executeStatements(sql) }, { (try? $0.validateSQL(sql)) != nil },
        ] as [(FMDatabase) -> Bool] {
            let db = opened()
            #expect(!call(db) && !db.isOpen && !db.executeStatements("CREATE TABLE t (a)"))
        }
    }

    @Test(.enabled(if: Engine.current.writes(.v3) && Engine.current.writes(.v4), "this engine has one format only"))
    func functionsSurviveFormatDetection() throws {
        try make(.v3)
        let db = opened()
        db.makeFunctionNamed("one", arguments: 0) { context, _, _ in db.resultInt(1, context: context) }
        #expect(db.setKey("secret") && db.intForQuery("SELECT one()") == 1)
    }
}
