import CipherKeys
import Foundation
import TestSupport
import Testing

@testable import CipherDB

/// What errors of locks, disks and directories say.
@Suite struct StorageFailureTests {
    private let directory: TemporaryDirectory
    private let key: DatabaseKey
    private var path: String { directory.file("vault.db") }

    init() throws {
        directory = try TemporaryDirectory()
        key = try .raw(SecretBytes(copying: (0..<32).map { UInt8($0) }))
    }

    private func make(_ path: String, _ mode: JournalMode = .delete) throws {
        let database = Database(path: path, configuration: Configuration { $0.journalMode = mode })
        try database.open(key: key)
        try database.executeUpdate("CREATE TABLE notes (text)")
        database.close()
    }

    private func failure(_ body: () throws -> Void) throws -> DatabaseError {
        try #require(#expect(throws: DatabaseError.self) { try body() })
    }

    @Test(arguments: [JournalMode.delete, .wal])
    func lockNamesPathTimeAndProcess(_ mode: JournalMode) async throws {
        try make(path, mode)
        let holder = try StartedProgram(
            Program.built("OpeningProcess"),
            ["hold", path],
            input: .typed,
            output: .piped
        )
        _ = holder.output.availableData
        let database = Database(path: path, configuration: Configuration { $0.busyTimeout = .milliseconds(200) })
        try database.open(key: key)
        let error = try failure { try database.executeUpdate("INSERT INTO notes VALUES ('milk')") }
        #expect(error.code.primary == .busy)
        #expect(error.message.hasPrefix("\(path): database is locked: waited "))
        #expect(error.message.contains("process \(holder.number) holds a lock for writing"))
    }

    @Test func lockOfThisProcessIsNamed() throws {
        try make(path)
        let (one, other) = (Database(path: path), Database(path: path))
        try one.open(key: key)
        try other.open(key: key)
        other.busyTimeout = .milliseconds(120)
        try one.beginTransaction()
        let error = try failure { try other.beginTransaction() }
        #expect(
            error.message.contains(/waited \d+\.\d s/) && !error.message.contains("waited 0.0 s")
                && error.message.contains("another connection")
        )
    }

    @Test func lockOfAttachedFileIsNamed() throws {
        let other = directory.file("other.db")
        try make(path)
        try make(other)
        let (one, holder) = (Database(path: path), Database(path: other))
        try one.open(key: key)
        try holder.open(key: key)
        one.busyTimeout = .zero
        try one.attach(other, as: "other", key: key)
        try holder.beginTransaction()
        let insert: () throws -> Void = { try one.executeUpdate("INSERT INTO other.notes VALUES ('milk')") }
        #expect(try failure(insert).message.hasPrefix("\(other): database is locked"))
        try holder.commit()
        try insert()
        try one.executeUpdate("DETACH other")
        try holder.beginTransaction()
        let main = Database(path: path)
        try main.open(key: key)
        try main.beginTransaction()
        #expect(try failure { try one.beginTransaction() }.message.hasPrefix("\(path): database is locked"))
    }

    @Test func oldSnapshotIsNamed() throws {
        try make(path, .wal)
        let (one, other) = (Database(path: path), Database(path: path))
        try one.open(key: key)
        try other.open(key: key)
        try one.beginTransaction(.deferred)
        _ = try one.int(forQuery: "SELECT count(*) FROM notes")
        try other.executeUpdate("INSERT INTO notes VALUES ('milk')")
        let error = try failure { try one.executeUpdate("INSERT INTO notes VALUES ('eggs')") }
        #expect(error.code == .busySnapshot && error.message.contains("begin it again"))
    }

    @Test(.enabled(if: SmallDisk.isPossible)) func fullDiskTellsItsRoom() throws {
        let disk = try SmallDisk(bytes: 1 << 19)
        try make(disk.file("vault.db"))
        let database = Database(path: disk.file("vault.db"))
        try database.open(key: key)
        let error = try failure {
            for _ in 0..<1000 { try database.executeUpdate("INSERT INTO notes VALUES (randomblob(10000))") }
        }
        #expect(error.code.primary == .full)
        #expect(error.message.hasPrefix("\(disk.file("vault.db")): "))
        #expect(error.message.contains("bytes free in \(disk.path)"))
    }

    @Test(.enabled(if: SmallDisk.isPossible), arguments: [JournalMode.delete, .wal])
    func lackOfInodesIsNamed(_ mode: JournalMode) throws {
        let disk = try SmallDisk(bytes: 1 << 20, inodes: 4)
        let path = disk.file("vault.db")
        try make(path, mode)
        for number in 1... {
            guard FileManager.default.createFile(atPath: disk.file("\(number)"), contents: nil) else { break }
        }
        let database = Database(path: path)
        let error = try failure {
            try database.open(key: key)
            try database.executeUpdate("INSERT INTO notes VALUES ('milk')")
        }
        #expect(error.message.contains("no inode is left for another file in \(disk.path)"), "\(error)")
    }

    @Test(.enabled(if: SmallDisk.isPossible), arguments: [JournalMode.delete, .wal])
    func readOnlyMountIsNamed(_ mode: JournalMode) throws {
        let disk = try SmallDisk(bytes: 1 << 20)
        let path = disk.file("vault.db")
        try make(path, mode)
        let outcome = try Program.run("/bin/mount", ["-o", "remount,ro", disk.path])
        try #require(outcome.status == 0)
        let database = Database(path: path)
        let error = try failure {
            try database.open(key: key)
            try database.executeUpdate("INSERT INTO notes VALUES ('milk')")
        }
        #expect(error.message.hasPrefix("\(path): ") && error.message.contains("mounted read-only"))
        guard mode == .wal else { return }
        #expect(error.message.contains("file:\(path)?immutable=1"))
        database.close()
        let immutable = Database(path: "file:\(path)?immutable=1")
        try immutable.open(key: key, flags: [.readOnly, .uri])
        #expect(try immutable.int(forQuery: "SELECT count(*) FROM notes") == 0)
    }

    @Test func lackOfDescriptorsIsNamed() throws {
        try make(path)
        let outcome = try Program.run(Program.built("OpeningProcess"), ["descriptors", path])
        #expect(outcome.output.contains("all of the 32 descriptors"), "\(outcome.output) \(outcome.errors)")
        #expect(outcome.output.contains(path))
    }

    @Test func missingDirectoryIsNamed() throws {
        let path = directory.file("none/vault.db")
        let error = try failure { try Database(path: path).open(key: key) }
        #expect(
            error.message
                == "\(path): No such file or directory: the directory \(directory.file("none")) does not exist"
        )
    }

    @Test func longSQLIsCut() throws {
        let database = Database(path: nil)
        try database.open()
        try database.executeUpdate("CREATE TABLE notes (text)")
        let list = (0..<40000).map { "\($0)" }.joined(separator: ", ")
        let error = try failure { try database.executeUpdate(SQL(unsafe: "DELETE FROM note WHERE text IN (\(list))")) }
        #expect(error.description.count < 700 && error.sql?.hasPrefix("DELETE FROM note") == true)
        let quoted = try failure { try database.executeUpdate(SQL(unsafe: "DELETE FROM notes WHERE 'a\(list)")) }
        #expect(quoted.description.count < 1200)
    }

    @Test func failuresOfAKindAreLoggedOnceInAMinute() {
        let limit = FailureLimit()
        let now = ContinuousClock.now
        #expect(limit.count("a", .full, at: now) == 1)
        for second in 1..<60 { #expect(limit.count("a", .full, at: now + .seconds(second)) == nil) }
        #expect(limit.count("a", .busySnapshot, at: now) == 1 && limit.count("a", .busy, at: now) == nil)
        #expect(limit.count("b", .full, at: now) == 1)
        #expect(limit.count("a", .full, at: now + .seconds(60)) == 60)
        for number in 0..<2000 { _ = limit.count("\(number)", .full, at: now + .seconds(61)) }
        #expect(limit.count("c", .full, at: now + .seconds(62)) == nil)
        #expect(limit.count("c", .full, at: now + .seconds(122)) == 1)
    }
}
