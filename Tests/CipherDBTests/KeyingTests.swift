import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@Suite struct KeyingTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
    }

    @Test func newFileIsEncryptedFromFirstWrite() throws {
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"))
        let bytes = try FileState(path).bytes
        #expect(bytes.count >= 1024 && !bytes.starts(with: Data("SQLite format 3".utf8)))
        expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: .passphrase("typo")) }
        try queue.close()
    }

    @Test func everyNewFileHasItsOwnSalt() throws {
        let key = try DatabaseKey.random()
        let salts = try (0..<20).map { number in
            let path = directory.file("\(number).db")
            _ = try DatabaseQueue(path: path, key: key)
            return try FileState(path).bytes.prefix(16)
        }
        #expect(Set(salts).count == salts.count)
    }

    @Test func fileTakesGivenSalt() throws {
        let both = try SecretBytes.random(count: 48)
        _ = try DatabaseQueue(path: path, key: .rawWithSalt(both))
        #expect(try Array(FileState(path).bytes.prefix(16)) == both.withUnsafeBytes { Array($0[32...]) })
        // The raw key alone opens it too.
        _ = try DatabaseQueue(path: path, key: .raw(SecretBytes(copying: both.withUnsafeBytes { Array($0[..<32]) })))
    }

    @Test func emptyFileBecomesDatabaseIfCreating() throws {
        _ = try directory.write([], to: "test.db")
        _ = try DatabaseQueue(path: path, key: .sample("secret"))
        expect(throws: KeyError.wrongKey) { _ = try DatabaseQueue(path: path, key: .sample("other")) }
    }

    @Test func emptyFileIsRefusedWithoutCreating() throws {
        _ = try directory.write([], to: "test.db")
        expect(throws: KeyError.notADatabase) {
            _ = try DatabaseQueue(path: path, key: .sample("secret"), flags: .readWrite)
        }
        #expect(try FileState(path).bytes.isEmpty)
    }

    @Test func connectionIsKeyedOnce() throws {
        let database = Database(path: path)
        try database.open()
        try database.setKey("secret")
        #expect(throws: DatabaseError.self) { try database.setKey("secret") }
        #expect(throws: DatabaseError.self) { try database.setKey("other") }
        try database.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        database.close()
        try Database(path: path).open(key: .passphrase("secret"))
    }

    @Test func afterWrongKeyConnectionIsClosed() throws {
        _ = try DatabaseQueue(path: path, key: .passphrase("secret"))
        let database = Database(path: path)
        try database.open()
        expect(throws: KeyError.wrongKey) { try database.setKey("wrong") }
        #expect(!database.isOpen)
        #expect(throws: DatabaseError.self) { try database.setKey("secret") }
        try database.open(key: .passphrase("secret"))
    }

    @Test func keyForDatabaseInMemoryIsRefused() throws {
        for path in [nil, ":memory:", ""] as [String?] {
            let database = Database(path: path)
            try database.open()
            #expect(throws: DatabaseError.self) { try database.setKey(.sampleKey("secret")) }
            try database.executeStatements("CREATE TABLE t (a)")
        }
    }

    @Test func keyingBeforeOpeningIsRefused() {
        let database = Database(path: path)
        #expect(throws: DatabaseError.self) { try database.setKey(.sampleKey("secret")) }
        #expect(directory.names.isEmpty)
    }

    @Test func malformedKeyTouchesNoFile() throws {
        let database = Database(path: path)
        try database.open()
        #expect(throws: MalformedKey.emptyPassphrase) { try database.setKey("") }
        #expect(throws: MalformedKey.emptyPassphrase) { try database.setKeyWithData(Data()) }
        #expect(throws: MalformedKey.malformedLiteral) { try database.setKey("x'abc'") }
        #expect(try FileState(path).bytes.isEmpty)
        try database.setKey("fine")
    }

    @Test func failedOpeningLeavesNoFile() throws {
        guard let lacking = CipherFormat.standard.first(where: { !Engine.current.formats.contains($0) }) else {
            #expect(throws: DatabaseError.self) {
                _ = try DatabaseQueue(path: directory.path + "/none/test.db", key: .sample("secret"))
            }
            return
        }
        expect(throws: KeyError.otherFormat, where: { $0.format == lacking }) {
            _ = try DatabaseQueue(
                path: path,
                key: .sample("secret"),
                configuration: Configuration { $0.format = lacking }
            )
        }
        #expect(directory.names.isEmpty)
    }

    @Test func queueDerivesOnce() async {
        // In a process of its own, because the count is the process's.
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let queue = try DatabaseQueue(path: directory.file("test.db"), key: .passphrase("secret"))
            try queue.inDatabase { try $0.executeStatements("CREATE TABLE t (a); INSERT INTO t VALUES (7)") }
            for _ in 0..<20 {
                let connection = try queue.openConnection()
                let value: Int = try connection.first("SELECT a FROM t")
                #expect(value == 7)
            }
            #expect(KeyDerivation.passphraseCount == 1)
            try queue.rekey(.passphrase("new"))
            _ = try queue.openConnection()
            #expect(KeyDerivation.passphraseCount == 2)
        }
    }

    @Test func laterConnectionsAreVerifiedToo() throws {
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: DatabaseError.self) { _ = try queue.openConnection() }
        #expect(directory.names.isEmpty, "nothing is made in its place")
        let other = directory.file("other.db")
        _ = try DatabaseQueue(path: other, key: .sample("another database"))
        // Into the same file: one that was replaced is told by its own error.
        let second = try DatabaseQueue(path: path, key: .sample("secret"))
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).write(contentsOf: FileState(other).bytes)
        expect(throws: KeyError.wrongKey) { _ = try second.openConnection() }
    }

    @Test func concurrentCreatorsAgreeOnKey() throws {
        // SQLCipher 3.4.1 gives each connection to an empty file a salt of its own, and locks one of them out.
        for round in 0..<10 {
            let path = directory.file("\(round).db")
            let results = Results()
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let queue = try DatabaseQueue(path: path, key: .sample("secret"))
                    try queue.inDatabase {
                        try $0.executeStatements("CREATE TABLE IF NOT EXISTS t (a); INSERT INTO t VALUES (1)")
                    }
                    results.add(nil)
                } catch {
                    results.add(error)
                }
            }
            let failures = results.errors.compactMap { $0 }
            #expect(failures.allSatisfy { ($0 as? DatabaseError)?.code.primary == .busy }, "\(failures)")
            let queue = try DatabaseQueue(path: path, key: .sample("secret"))
            let count: Int = try queue.inDatabase { try $0.first("SELECT count(*) FROM t") }
            #expect(count == 4 - failures.count)
        }
    }

    @Test func unusedNewFileIsRemovedSafely() throws {
        let first = Database(path: path)
        try first.open()
        let second = Database(path: path)
        try second.open()
        first.close()
        #expect(directory.names.isEmpty)
        // What it wrote now would be in a file without a name.
        #expect(throws: DatabaseError.self) { try second.setKey(.sampleKey("secret")) }
        try second.open(key: .sample("secret"))
        try second.executeStatements("CREATE TABLE t (a)")
        second.close()
        _ = try DatabaseQueue(path: path, key: .sample("secret"))
    }

    @Test func fileThatAnotherConnectionUsesStays() throws {
        let first = Database(path: path)
        try first.open()
        let second = Database(path: path)
        try second.open(key: .sample("secret"))
        try second.beginTransaction(.exclusive)
        first.close()
        try second.executeStatements("CREATE TABLE t (a)")
        try second.commit()
        second.close()
        let queue = try DatabaseQueue(path: path, key: .sample("secret"))
        #expect(try queue.inDatabase { try $0.first("SELECT count(*) FROM t") } as Int == 0)
    }

    @Test(arguments: [
        "key", "rekey", "hexkey", "hexrekey", "textkey", "textrekey", "main.key", "KEY",
    ])
    func keyPragmaIsRefused(pragma: String) throws {
        // SQLCipher 3.4.1 would write the next page under the second key, into a file under the first.
        let database = Database(path: path)
        try database.open(key: .sample("secret"))
        try database.executeStatements("CREATE TABLE t (a)")
        for sql in ["PRAGMA \(pragma) = 'hunter2'", "PRAGMA \(pragma)('hunter2')", "pragma  \(pragma)=\"6869\""] {
            for run in [
                { try database.executeUpdate(SQL(unsafe: $0)) }, { try database.executeStatements(SQL(unsafe: $0)) },
            ]
                as [(String) throws -> Void]
            {
                do {
                    try run(sql)
                    Issue.record("not refused: \(sql)")
                } catch let error as DatabaseError {
                    #expect(error.code == .notAuthorized && !"\(error)".contains("hunter2"))
                }
            }
        }
        try database.executeUpdate("INSERT INTO t VALUES (1)")
        database.close()
        try database.open(key: .sample("secret"))
        #expect(try database.first("SELECT a FROM t") == 1)
    }

    @Test(arguments: [
        "cipher_default_use_hmac = OFF", "cipher_default_page_size = 8192", "cipher_hmac_salt_mask = \"x'00'\"",
    ])
    func sqlCannotChangeCipherDefaults(pragma: String) throws {
        let database = Database(path: nil)
        try database.open()
        #expect(throws: DatabaseError.self) { try database.executeStatements(SQL(unsafe: "PRAGMA \(pragma)")) }
        _ = try DatabaseQueue(path: path, key: .sample("secret"))
    }

    @Test func linkThatLeadsNowhereIsRefused() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.file("target.db"))
        #expect(throws: DatabaseError.self) { _ = try DatabaseQueue(path: path, key: .sample("secret")) }
        #expect(directory.names == ["test.db"])
        _ = try DatabaseQueue(path: directory.file("target.db"), key: .sample("secret"))
        _ = try DatabaseQueue(path: path, key: .sample("secret"))
    }

    @Test func linkKeepsItsJournalsBesideFile() throws {
        let target = try TemporaryDirectory()
        let configuration = Configuration { $0.journalMode = .wal }
        let queue = try DatabaseQueue(
            path: target.file("t.db"),
            key: .sample("secret"),
            configuration: configuration
        )
        try queue.inDatabase { try $0.executeStatements("PRAGMA wal_autocheckpoint = 0; CREATE TABLE t (a)") }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target.file("t.db"))
        let other = try DatabaseQueue(path: path, key: .sample("secret"))
        #expect(try other.inDatabase { try $0.first("SELECT count(*) FROM t") } as Int == 0)
        #expect(directory.names == ["test.db"])
    }

    @Test func fileHasConfiguredCipherSettings() throws {
        let format = try CipherFormat(#require(Engine.current.formats.first)) {
            $0.pageSize = 8192
            $0.iterations = 300_000
        }
        let configuration = Configuration { $0.format = format }
        let queue = try DatabaseQueue(path: path, key: .passphrase("secret"), configuration: configuration)
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        #expect(try queue.inDatabase { $0.cipherFormat } == format)
        try queue.close()
        let shell = try #require(StockShell.all.first { $0.format == format.version }, "run make engines")
        let rows = try shell.run(
            path,
            key: "key = 'secret'",
            settings: ["cipher_page_size = 8192", "kdf_iter = 300000"],
            SampleFile.query
        )
        #expect(rows == [SampleFile.answer])
        expect(throws: KeyError.wrongKey, "another number of iterations is another key") {
            _ = try DatabaseQueue(path: path, key: .passphrase("secret"))
        }
    }
}

/// Collects errors from several threads.
private final class Results: Sendable {
    private let collected = Lock<[(any Error)?]>([])
    func add(_ error: (any Error)?) { collected.withLock { $0.append(error) } }
    var errors: [(any Error)?] { collected.withLock { $0 } }
}
