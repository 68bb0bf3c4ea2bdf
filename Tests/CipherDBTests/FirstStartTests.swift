import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import CipherDB
@testable import CipherKeys

/// Opening with a keyring and a secret: both files are made at the first start, and a keyring that is lost is not replaced.
@Suite final class FirstStartTests: KeyringFixture {
    enum Opening: CaseIterable { case database, queue, pool, asyncQueue, asyncPool }

    private static func count(_ database: Database) throws -> Int? {
        try database.executeUpdate("CREATE TABLE IF NOT EXISTS starts (number)")
        try database.executeUpdate("INSERT INTO starts VALUES (1)")
        return try database.int(forQuery: "SELECT count(*) FROM starts")
    }

    private func startAtOnce(_ opening: Opening, _ flags: OpenFlags) throws -> Int? {
        switch opening {
        case .database:
            let database = Database(path: path)
            defer { database.close() }
            try database.open(key: .keyring(keyring, unlockedBy: secret), flags: flags)
            return try Self.count(database)
        case .queue, .asyncQueue:
            let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            defer { try? queue.close() }
            return try queue.inTransaction { try FirstStartTests.count($0) }
        case .pool, .asyncPool:
            let pool = try DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            defer { try? pool.close() }
            return try pool.write { try FirstStartTests.count($0) }
        }
    }

    /// Counts the starts.
    private func start(_ opening: Opening, flags: OpenFlags = [.readWrite, .create]) async throws -> Int? {
        switch opening {
        case .asyncQueue:
            let queue = try await DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            let found = try await queue.inTransaction { try FirstStartTests.count($0) }
            try await queue.close()
            return found
        case .asyncPool:
            let pool = try await DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            let found = try await pool.write { try FirstStartTests.count($0) }
            try await pool.close()
            return found
        case .database, .queue, .pool: return try startAtOnce(opening, flags)
        }
    }

    @Test(arguments: Opening.allCases)
    func firstStartMakesBothAndLaterOnesNeither(_ opening: Opening) async throws {
        #expect(try await start(opening) == 1)
        #expect(directory.names.filter { !$0.contains("-") } == ["test.db", "test.db.keyring"])
        let identifier = try await keyring.content().identifier
        #expect(try await keyring.content().isInUse)
        #expect(try await keyring.content().slots.map(\.number) == [1])
        #expect(try await start(opening) == 2)
        #expect(try await keyring.content().identifier == identifier)
    }

    @Test(arguments: Opening.allCases)
    func lostKeyringIsNotReplaced(_ opening: Opening) async throws {
        try make()
        try FileManager.default.removeItem(atPath: keyring.path)
        let before = try FileState(path)
        for flags in [[.readWrite, .create], .readWrite, .readOnly] as [OpenFlags] {
            await #expect(throws: KeyringError(.lost, path: keyring.path, database: path)) {
                try await start(opening, flags: flags)
            }
        }
        #expect(try directory.names == ["test.db"] && FileState(path) == before)
        let told = "\(KeyringError(.lost, path: keyring.path, database: path))"
        #expect(told.contains(path) && told.contains("rekey keyring restore"))
    }

    @Test func databaseWithoutBytesCountsAsNone() async throws {
        _ = try directory.write([], to: "test.db")
        #expect(try await start(.queue) == 1)
        #expect(directory.names == ["test.db", "test.db.keyring"])
    }

    @Test func keyringThatNoDatabaseCameUnderIsTaken() async throws {
        // What a kill between the making of the two leaves.
        try await keyring.create(with: secret)
        #expect(try await start(.pool) == 1)
        #expect(try await keyring.content().isInUse)
    }

    @Test(arguments: [.readOnly, .readWrite] as [OpenFlags])
    func nothingIsMadeThatIsNotAskedFor(_ flags: OpenFlags) async throws {
        await #expect(throws: KeyringError(.missing, path: keyring.path)) {
            try await start(.database, flags: flags)
        }
        expect(throws: KeyringError.missing) {
            _ = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret, slot: 2))
        }
        #expect(directory.names.isEmpty)
    }

    @Test func keyringIsNotCreatedBesideDatabase() async throws {
        try make()
        try FileManager.default.removeItem(atPath: keyring.path)
        let lost = KeyringError(.lost, path: keyring.path, database: path)
        #expect(throws: lost) { try keyring.create(with: secret) }
        await #expect(throws: lost) { try await keyring.create(with: secret) }
        #expect(directory.names == ["test.db"])
        let none = directory.file("none")
        #expect(throws: KeyringError(.databaseMissing, path: keyring.path, database: none)) {
            try keyring.create(with: secret, for: none)
        }
        // To move it there.
        try await keyring.create(with: secret, for: path)
        expect(throws: KeyringError.otherDatabase) {
            _ = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
        }
    }

    /// These join with the dot behind them.
    @Test(arguments: ["a\u{0600}", "a\u{0D4E}"]) func keyringIsNotCreatedBesideNameThatJoins(_ name: String) throws {
        let database = try directory.write([1], to: name)
        expect(throws: KeyringError.lost) { try Keyring(besideDatabase: database).create(with: secret) }
    }

    @Test(arguments: ["directory", "empty file", "other name"]) func keyringIsCreatedBeside(_ what: String) throws {
        switch what {
        case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "empty file": _ = try directory.write([], to: "test.db")
        default: _ = try directory.write([1], to: "test")
        }
        try keyring.create(with: secret)
    }

    @Test func firstStartThatFailsLeavesNoKeyring() async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        await #expect(throws: DatabaseError.self) { try await start(.queue) }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.file("nothing"))
        await #expect(throws: DatabaseError.self) { try await start(.queue) }
        try FileManager.default.removeItem(atPath: path)
        _ = try directory.write([1], to: "test.db-journal")
        await expect(throws: KeyError.notADatabase) { try await start(.queue) }
        #expect(directory.names == ["test.db-journal"])
    }

    @Test func missingDirectoryIsNamed() throws {
        let none = directory.file("none")
        let error = #expect(throws: KeyringError.self) {
            try DatabaseQueue(
                path: none + "/a.db",
                key: .keyring(Keyring(besideDatabase: none + "/a.db"), unlockedBy: secret)
            )
        }
        #expect(error?.path == none && error?.code == .system && error?.errno == ENOENT)
    }

    @Test(arguments: [ENOSPC, EROFS, EACCES])
    func firstStartThatCannotWriteLeavesNothing(_ code: Int32) throws {
        for call in [FaultInjection.Call.open, .write, .sync] {
            let order = FaultInjection.Order(prefix: keyring.path + ".new-", call: call, after: 0, code: code)
            let (outcome, met) = FaultInjection.with(order) {
                try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
            }
            #expect(throws: KeyringError(.system, path: keyring.path, errno: code)) { try outcome.get() }
            #expect(met && directory.names.isEmpty, "\(call)")
        }
    }

    /// Another process has unlocked it meanwhile, and would make a database that nobody can open.
    @Test func keyringThatWasTakenBackMakesNoDatabase() async throws {
        let maker = try await keyring.create(with: secret)
        let other = try unlocked()
        let path = path
        let opening = try maker.withLock { locked in
            let opened = Lock<Result<DatabaseQueue, any Error>?>(nil)
            // A task may find no thread while another test blocks one, as this one does.
            Thread.detachNewThread {
                let result = Result { try DatabaseQueue(path: path, key: other) }
                opened.withLock { $0 = result }
            }
            while !FileManager.default.fileExists(atPath: path) { usleep(1000) }
            // It waits for the lock by now, or does so when the keyring is gone.
            usleep(100_000)
            try locked.erase()
            return opened
        }
        try await eventually { opening.withLock { $0 != nil } }
        #expect(throws: KeyringError(.missing, path: keyring.path)) { try opening.withLock { try $0?.get() } }
        #expect(directory.names.isEmpty)
    }

    /// Another process has opened the new keyring, and noted the salt of the database that it made.
    @Test func keyringThatWasWrittenAgainStays() throws {
        let order = FaultInjection.Order(prefix: keyring.path + ".new-", call: .link, after: 0, code: nil) {
            [directory] in
            for name in directory.names where name.contains(".new-") {
                let bytes = FileManager.default.contents(atPath: directory.file(name)) ?? Data()
                try? FileManager.default.removeItem(atPath: directory.file(name))
                _ = try? directory.write(bytes, to: name)
            }
        }
        let (outcome, met) = FaultInjection.with(order) { try keyring.create(with: secret) }
        #expect(try met && outcome.get().content() == unlocked().content())
        #expect(directory.names == ["test.db.keyring"])
    }

    @Test func keyringOfOtherOwnerMakesDatabase() throws {
        try keyring.create(with: secret)
        let order = FaultInjection.Order(prefix: keyring.path, call: .open, after: 0, code: EACCES, persists: true)
        let (outcome, met) = FaultInjection.with(order) {
            try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret)).inDatabase(Self.count)
        }
        #expect(try met && outcome.get() == 1)
    }
}

/// The same on disks that are full or read-only.
@Suite(.enabled(if: SmallDisk.isPossible, "only root can mount a small disk")) struct FirstStartDiskTests {
    private let disk: SmallDisk
    private let path: String
    private let keyring: Keyring
    private let secret: KeyringSecret

    init() throws {
        disk = try SmallDisk(bytes: 1 << 20)
        path = disk.file("vault.db")
        keyring = Keyring(besideDatabase: path)
        secret = try .keyFile(.random(count: 32))
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: disk.path)) ?? []).sorted()
    }

    private func open() throws -> DatabasePool {
        try DatabasePool(path: path, key: .keyring(keyring, unlockedBy: secret))
    }

    /// Leaves room for so many blocks.
    private func fill(but blocks: Int) throws {
        let fill = "head -c \(blocks * 4096) /dev/zero > reserve; cat /dev/zero > filling 2>/dev/null; rm reserve"
        _ = try Program.run("/bin/sh", ["-c", "cd '\(disk.path)' && { \(fill); }"])
    }

    @Test func fullDiskLeavesNothingOrBoth() throws {
        var failures = 0
        for blocks in 0..<40 {
            try fill(but: blocks)
            let outcome = Result { try open() }
            try FileManager.default.removeItem(atPath: disk.file("filling"))
            if case .success(let pool) = outcome {
                try pool.close()
                break
            }
            failures += 1
            #expect(throws: (any Error).self) { try outcome.get() }
            if case .failure(let error) = outcome { #expect("\(error)".contains(path), "\(blocks): \(error)") }
            let left = names.filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }
            #expect(left == [] || left == ["vault.db", "vault.db.keyring"], "\(blocks): \(names)")
            // What is left is a whole database.
            try open().close()
            for name in names { try FileManager.default.removeItem(atPath: disk.file(name)) }
        }
        #expect(failures > 2)
    }

    @Test func pairOpensToReadOnFullDisk() throws {
        let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE notes (text); INSERT INTO notes VALUES ('milk')")
        }
        try queue.close()
        try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret)).close()
        try fill(but: 0)
        for flags in [[.readWrite, .create], .readOnly] as [OpenFlags] {
            let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            #expect(try queue.inDatabase { try $0.string(forQuery: "SELECT text FROM notes") } == "milk")
            try queue.close()
        }
    }

    @Test func readOnlyDiskOpensPairAndMakesNone() throws {
        let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret))
        try queue.inDatabase {
            try $0.executeStatements("CREATE TABLE notes (text); INSERT INTO notes VALUES ('milk')")
        }
        try queue.close()
        let outcome = try Program.run("/bin/mount", ["-o", "remount,ro", disk.path])
        try #require(outcome.status == 0)
        for flags in [[.readWrite, .create], .readOnly] as [OpenFlags] {
            let queue = try DatabaseQueue(path: path, key: .keyring(keyring, unlockedBy: secret), flags: flags)
            #expect(try queue.inDatabase { try $0.string(forQuery: "SELECT text FROM notes") } == "milk")
            try queue.close()
        }
        let other = Keyring(besideDatabase: disk.file("other.db"))
        #expect(throws: KeyringError(.system, path: other.path, errno: EROFS)) {
            try DatabaseQueue(path: disk.file("other.db"), key: .keyring(other, unlockedBy: secret))
        }
        #expect(names == ["vault.db", "vault.db.keyring"])
    }
}
