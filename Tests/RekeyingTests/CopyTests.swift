import CipherDB
import Foundation
import Rekeying
import TestSupport
import Testing

@Suite(.enabled(if: StockShell.isAvailable, "the stock shells are missing: run make engines"))
struct CopyTests {
    struct Stop: Error {}
    let directory: TemporaryDirectory
    let path: String
    let copy: String
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let key = SampleKey.named("secret")
    static let other = SampleKey.named("other")

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        copy = directory.file("copy.db")
    }

    private func queue(_ mode: JournalMode) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(
            path: path,
            key: Self.key.key,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        return queue
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func copyOpensInShellWithOwnSalt(mode: JournalMode) throws {
        let queue = try queue(mode)
        let done = try file.copy(key: Self.key.key, to: copy, newKey: Self.other.key)
        try queue.close()
        #expect(done.format == Engine.current.formats.first)
        let shell = try #require(StockShell.ofThisFormat)
        #expect(
            try shell.run(copy, key: Self.other.pragma, SampleFile.query + "PRAGMA integrity_check;")
                == [SampleFile.answer, "ok"]
        )
        #expect(try FileState(copy).bytes.prefix(16) != FileState(path).bytes.prefix(16))
        #expect(try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int == 0o600)
        try file.copy(key: Self.key.key, to: directory.file("same.db"))
        #expect(try FileState(directory.file("same.db")).bytes.prefix(16) != FileState(path).bytes.prefix(16))
        #expect(directory.names == ["copy.db", "same.db", "test.db"])
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func copyBesideWriterIsConsistent(mode: JournalMode) throws {
        let queue = try queue(mode)
        // Two tables that change together: a copy of two states would have them differ.
        try queue.inTransaction { database in
            try database.executeStatements(
                "CREATE TABLE a (n); CREATE TABLE b (n); INSERT INTO a VALUES (0); INSERT INTO b VALUES (0)"
            )
        }
        let stop = Gate()
        let done = Gate()
        Thread {
            while !stop.passed {
                try? queue.inTransaction { database in
                    try database.executeStatements(
                        "UPDATE a SET n = n + 1; UPDATE people SET note = randomblob(80) WHERE id % 9 = 0; UPDATE b SET n = n + 1"
                    )
                }
                Thread.sleep(forTimeInterval: 0.001)
            }
            done.open()
        }.start()
        for number in 0..<5 {
            let copy = directory.file("copy\(number).db")
            try file.copy(key: Self.key.key, to: copy)
            let database = Database(path: copy)
            try database.open(key: Self.key.key)
            #expect(try database.int(forQuery: "SELECT (SELECT n FROM a) - (SELECT n FROM b)") == 0)
            #expect(try database.string(forQuery: "PRAGMA integrity_check") == "ok")
        }
        stop.open()
        done.wait()
        try queue.close()
    }

    @Test func nothingIsReplacedAndStopLeavesNothing() throws {
        try queue(.delete).close()
        _ = try directory.write([1], to: "copy.db")
        #expect(throws: FileError(.exists, path: copy)) { try file.copy(key: Self.key.key, to: copy) }
        try FileManager.default.removeItem(atPath: copy)
        for stage in [FileProgress.Stage.writing, .verifying] {
            #expect(throws: Stop.self) {
                try file.copy(key: Self.key.key, to: copy) { if $0.stage == stage { throw Stop() } }
            }
        }
        expect(throws: KeyError.wrongKey) { try file.copy(key: Self.other.key, to: copy) }
        #expect(directory.names == ["test.db"])
    }

    @Test func damagedPageIsNamedAndNotCopied() throws {
        try queue(.delete).close()
        let size = try #require(Engine.current.formats.first?.pageSize)
        try flipByte(of: path, at: 6 * size + 9)
        expect(throws: KeyError.damaged, where: { $0.damagedPages == [7] }) {
            try file.copy(key: Self.key.key, to: copy)
        }
        #expect(directory.names == ["test.db"])
    }

    @Test func busyWriterDoesNotStarveCopy() throws {
        let queue = try queue(.delete)
        try queue.inDatabase { database in
            try database.executeStatements(
                "PRAGMA busy_timeout = 10; CREATE TABLE filler AS SELECT randomblob(6000) FROM people"
            )
        }
        // After each mebibyte somebody writes.
        try file.copy(key: Self.key.key, to: copy) { step in
            guard step.stage == .writing else { return }
            try? queue.inDatabase { try $0.executeStatements("UPDATE people SET note = randomblob(9) WHERE id = 1") }
        }
        try queue.close()
        #expect(try DatabaseFile(path: copy).verify(key: Self.key.key).isSound)
    }

    @Test(arguments: ["-journal", "-wal", "-shm"])
    func nameThatBelongsToDatabaseIsRefused(suffix: String) throws {
        try queue(.delete).close()
        let name = path + suffix
        #expect(throws: FileError(.belongs, path: name)) { try file.copy(key: Self.key.key, to: name) }
        #expect(throws: FileError(.belongs, path: name)) { try file.recover(key: Self.key.key, to: name) }
        #expect(directory.names == ["test.db"])
    }
}
