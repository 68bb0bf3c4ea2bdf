import CipherDB
import Foundation
import TestSupport
import Testing

@Suite struct BackupTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory
    let source: Database

    init() throws {
        directory = try TemporaryDirectory()
        source = Database(path: directory.file("source.db"))
        try source.open(key: .sample("one"))
        try source.executeStatements(
            """
            CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT); CREATE INDEX i ON t (text);
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t (text) SELECT 'plaintextmarker ' || i FROM n;
            PRAGMA user_version = 7; PRAGMA application_id = 9;
            """
        )
    }

    private func encrypted(_ name: String, _ key: String, _ change: (inout Configuration) -> Void = { _ in }) throws
        -> Database
    {
        let database = Database(path: directory.file(name), configuration: Configuration(change))
        try database.open(key: .sample(key))
        return database
    }

    private func plaintext(_ name: String) throws -> Database {
        let database = Database(path: directory.file(name), configuration: Configuration { $0.allowsPlaintext = true })
        try database.open()
        return database
    }

    private func checkCopy(_ database: Database) throws {
        #expect(try database.int(forQuery: "SELECT count(*) FROM t") == 3000)
        #expect(try database.int(forQuery: "SELECT seq FROM sqlite_sequence") == 3000)
        #expect(try database.userVersion == 7 && database.applicationID == 9)
        #expect(try database.string(forQuery: "PRAGMA integrity_check") == "ok")
    }

    @Test func copyInStepsKeepsItsKey() throws {
        let copy = try encrypted("copy.db", "two")
        try copy.executeStatements("CREATE TABLE replaced (a)")
        var steps: [BackupProgress] = []
        try source.backup(to: copy, pagesPerStep: 7) { steps.append($0) }
        try checkCopy(copy)
        #expect(try !copy.tableExists("replaced"))
        #expect(steps.count > 3 && steps.last?.remaining == 0)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $0.remaining > $1.remaining && $0.total == $1.total })
        copy.close()
        expect(throws: KeyError.wrongKey) { try copy.open(key: .sample("one")) }
        try copy.open(key: .sample("two"))
        try checkCopy(copy)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file("copy.db")))
        #expect(bytes.range(of: Data("plaintextmarker".utf8)) == nil)
    }

    @Test func writersCommitBetweenSteps() throws {
        try source.executeStatements("PRAGMA journal_mode = WAL")
        let writer = try encrypted("source.db", "one")
        let copy = try encrypted("copy.db", "two")
        var wrote = false
        try source.backup(to: copy, pagesPerStep: 5) { _ in
            guard !wrote else { return }
            wrote = true
            try writer.executeUpdate("INSERT INTO t (text) VALUES ('late')")
        }
        #expect(try copy.int(forQuery: "SELECT count(*) FROM t") == 3001)
        #expect(try copy.string(forQuery: "PRAGMA integrity_check") == "ok")
    }

    @Test(.enabled(if: Engine.current.formats.first == .v4, "this engine writes one format with MACs"))
    func destinationHasSameRoomInPages() throws {
        let old = try encrypted("old.db", "two") { $0.format = .v3 }
        #expect(throws: DatabaseError.self) { try source.backup(to: old) }
        try old.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (5)")
        let older = try encrypted("older.db", "three") { $0.format = .v2 }
        try old.backup(to: older)
        #expect(try older.int(forQuery: "SELECT a FROM t") == 5)
    }

    @Test func plaintextDestinationNeedsDecrypting() throws {
        let plain = try plaintext("plain.db")
        let memory = Database(path: nil)
        try memory.open()
        for destination in [plain, memory] {
            #expect { try source.backup(to: destination) } throws: {
                ($0 as? DatabaseError)?.code == .misuse && "\($0)".contains("decrypting")
            }
        }
        plain.close()
        #expect(try FileState(directory.file("plain.db")).bytes.isEmpty)
        try plain.open()
        try source.backup(to: plain, decrypting: true)
        try checkCopy(plain)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file("plain.db")))
        #expect(bytes.range(of: Data("plaintextmarker".utf8)) != nil)
        #expect(throws: DatabaseError.self, "it is not empty any more") {
            try source.backup(to: plain, decrypting: true)
        }
        source.close()
        try source.open(key: .sample("one"), flags: .readOnly)
        #expect { try source.backup(to: memory, decrypting: true) } throws: { "\($0)".contains("open it for writing") }
        source.close()
        try source.open(key: .sample("one"))
        try source.backup(to: memory, decrypting: true)
        try checkCopy(memory)
        #expect(throws: DatabaseError.self, "it is not empty any more") {
            try source.backup(to: memory, decrypting: true)
        }
    }

    @Test func plaintextSourceIsEncrypted() throws {
        let plain = try plaintext("plain.db")
        try source.backup(to: plain, decrypting: true)
        let copy = try encrypted("copy.db", "two")
        guard Engine.current.has(.exportFromAttached) else {
            #expect { try plain.backup(to: copy) } throws: { "\($0)".contains("SQLCipher 4") }
            return
        }
        try plain.executeStatements(
            "CREATE TABLE log (a); CREATE TRIGGER r AFTER UPDATE ON t BEGIN INSERT INTO log VALUES (new.text); END"
        )
        try plain.backup(to: copy)
        try checkCopy(copy)
        // The connection that wrote the trigger has it, too.
        try copy.executeUpdate("UPDATE t SET text = 'one' WHERE id = 1")
        #expect(try copy.string(forQuery: "SELECT a FROM log") == "one")
        copy.close()
        try copy.open(key: .sample("two"))
        try checkCopy(copy)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: directory.file("copy.db")))
        #expect(bytes.range(of: Data("plaintextmarker".utf8)) == nil)
    }

    @Test func memoryDatabaseIsBackedUp() throws {
        let first = Database(path: nil)
        let second = Database(path: nil)
        try first.open()
        try second.open()
        try first.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (5)")
        try first.backup(to: second)
        #expect(try second.int(forQuery: "SELECT a FROM t") == 5)
    }

    @Test(arguments: [1024, 4096, 16384])
    func memoryDatabaseIsSavedEncryptedAndLoaded(_ pageSize: Int) throws {
        let pool = try DatabasePool(path: nil)
        try pool.inDatabase {
            try $0.executeStatements(
                """
                CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE TABLE log (a); INSERT INTO t (a) VALUES ('plaintextmarker');
                CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.a); END; PRAGMA user_version = 3;
                """
            )
        }
        let path = directory.file("saved.db")
        // It must not become plaintext unasked.
        expect(throws: KeyError.keyMissing) { try pool.backup(to: path) }
        #expect(directory.names == ["source.db"])
        let format = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = pageSize }
        let saved = try encrypted("saved.db", "two") { $0.format = format }
        guard Engine.current.has(.exportFromAttached) else {
            #expect { try pool.read { try $0.backup(to: saved) } } throws: { "\($0)".contains("SQLCipher 4") }
            return
        }
        try pool.read { try $0.backup(to: saved) }
        try pool.backup(to: directory.file("other.db"), key: .sample("three"))
        for name in ["saved.db", "other.db"] {
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: directory.file(name))).range(of: Data("plaintextmarker".utf8))
                    == nil
            )
        }
        for file in [saved, try encrypted("other.db", "three")] {
            let loaded = Database(path: nil)
            try loaded.open()
            try file.backup(to: loaded, decrypting: true)
            try loaded.executeUpdate("INSERT INTO t (a) VALUES (1)")
            #expect(try loaded.int(forQuery: "SELECT count(*) FROM log") == 1 && loaded.userVersion == 3)
            #expect(try loaded.int(forQuery: "SELECT max(id) FROM t") == 2)
            try #expect(loaded.integrityCheck().isEmpty)
        }
    }

    @Test func failedBackupLeavesDestination() throws {
        let copy = try encrypted("copy.db", "two")
        try copy.executeStatements("CREATE TABLE kept (a)")
        #expect(throws: Stop.self) { try source.backup(to: copy, pagesPerStep: 5) { _ in throw Stop() } }
        #expect(try copy.tableExists("kept") && !copy.tableExists("t"))
        #expect(throws: DatabaseError.self) { try source.backup(to: source) }
        #expect(throws: DatabaseError.self) { try source.backup(to: copy, pagesPerStep: 0) }
        #expect(throws: DatabaseError.self) { try source.backup(to: Database(path: directory.file("closed.db"))) }
        try copy.beginTransaction()
        #expect(throws: DatabaseError.self) { try source.backup(to: copy) }
        try copy.rollback()
        let larger = try CipherFormat(#require(Engine.current.formats.first)) { $0.pageSize = 8192 }
        let otherPages = try encrypted("pages.db", "two") { $0.format = larger }
        #expect { try source.backup(to: otherPages) } throws: { "\($0)".contains("format") }
        #expect(try copy.tableExists("kept"))
    }

    @Test func persistentLockIsBusy() throws {
        let copy = try encrypted("copy.db", "two") { $0.busyTimeout = .zero }
        let other = try encrypted("copy.db", "two")
        try other.beginTransaction(.exclusive)
        source.busyTimeout = .milliseconds(20)
        #expect { try source.backup(to: copy) } throws: {
            let error = $0 as? DatabaseError
            return error?.code.primary == .busy && error?.message.hasPrefix(directory.file("copy.db") + ": ") == true
                && error?.message.contains(/waited \d+\.\d s/) == true
        }
        try other.rollback()
        try source.backup(to: copy)
        try checkCopy(copy)
    }

    @Test func readingBlockOfPoolCanBeSource() throws {
        let copy = try encrypted("copy.db", "two")
        source.close()
        let pool = try DatabasePool(path: directory.file("source.db"), key: .sample("one"))
        nonisolated(unsafe) let destination = copy
        try pool.read { try $0.backup(to: destination) }
        try checkCopy(copy)
    }

    @Test func backupBlocksRekeyAndUseOfDestination() throws {
        let destination = try encrypted("copy.db", "two")
        try destination.executeStatements("CREATE TABLE precious (a)")
        var calls = 0
        try source.backup(to: destination, pagesPerStep: 10) { progress in
            calls += 1
            guard progress.remaining > 0 else { return }
            for database in [source, destination] {
                #expect(throws: (any Error).self) { try database.rekey(.sample("three")) }
            }
            #expect { try destination.executeStatements("CREATE TABLE t (a)") } throws: {
                ($0 as? DatabaseError)?.code == .busy
            }
            let count = try source.int(forQuery: "SELECT count(*) FROM t")
            #expect(count == 3000)
        }
        #expect(calls > 1)
        try checkCopy(destination)
        try destination.rekey(.sample("three"))
        try checkCopy(destination)
    }

    @Test(arguments: [true, false])
    func closingEitherSideUndoesBackup(closesSource: Bool) throws {
        let destination = try encrypted("copy.db", "two")
        try destination.executeStatements("CREATE TABLE precious (a)")
        #expect {
            try source.backup(to: destination, pagesPerStep: 10) { _ in
                (closesSource ? source : destination).close()
            }
        } throws: { ($0 as? DatabaseError)?.code == .misuse }
        if closesSource {
            try source.open(key: .sample("one"))
        } else {
            try destination.open(key: .sample("two"))
        }
        #expect(try destination.tableExists("precious") && !destination.tableExists("t"))
        try source.backup(to: destination)
        try checkCopy(destination)
    }

    @Test func decryptingBackupThatFailsLeavesNoPlaintext() throws {
        let destination = try plaintext("plain.db")
        #expect(throws: Stop.self) { try source.backup(to: destination, decrypting: true) { _ in throw Stop() } }
        #expect(try destination.int(forQuery: "SELECT count(*) FROM sqlite_master") == 0)
        #expect(try destination.userVersion == 0)
        destination.close()
        #expect(directory.names.contains("plain.db"))
        for name in directory.names {
            let left = try Data(contentsOf: URL(fileURLWithPath: directory.file(name)))
            #expect(left.range(of: Data("plaintextmarker".utf8)) == nil, "\(name)")
        }
    }
}
