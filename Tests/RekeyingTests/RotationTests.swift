import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import TestSupport
import Testing

@testable import Rekeying

/// The key of a file at rest in a keyring.
@Suite final class RotationTests: KeyringFixture {
    struct Stop: Error {}
    var file: DatabaseFile { DatabaseFile(path: path) }
    static let modes: [JournalMode] = [.delete, .wal]

    private func answer() throws -> String? {
        let database = Database(path: path)
        try database.open(key: .keyring(keyring, unlockedBy: secret))
        defer { database.close() }
        return try database.string(forQuery: SampleFile.question)
    }

    @Test(arguments: modes)
    func onlyRotatedKeyOpens(mode: JournalMode) throws {
        try make(mode)
        let old = try unlocked().databaseKey()
        let salt = try FileState(path).bytes.prefix(16)
        let done = try file.rotateKey(of: unlocked())
        #expect(done.pages == (try FileState(path).bytes.count) / done.pageSize)
        #expect(try FileState(path).bytes.prefix(16) != salt)
        expect(throws: KeyError.wrongKey) { try file.verify(key: old) }
        #expect(try file.verify(key: unlocked().databaseKey()).isSound)
        #expect(try answer() == SampleFile.answer)
        #expect(directory.names == ["test.db", "test.db.keyring"])
        expect(throws: KeyringError.noRotationPending) { try file.resumeRotation(of: unlocked()) }
        expect(throws: KeyringError.noRotationPending) { try file.cancelRotation(of: unlocked()) }
    }

    /// Between a look at the keyring and one at the file.
    @Test func keyThatIsRotatedMeanwhileIsLookedForAgain() throws {
        try make(.wal)
        let unlocked = try unlocked()
        var looks = 0
        let found = try file.looking(in: unlocked) { current, next in
            looks += 1
            if looks == 1 { _ = try file.rotateKey(of: self.unlocked()) }
            return try file.find(current: current, next: next)?.position
        }
        #expect(found == .current && looks == 2)
        let none: Int? = try file.looking(in: unlocked) { _, _ in
            looks += 1
            return nil
        }
        #expect(none == nil && looks == 3)
    }

    @Test func rotationThatOthersKeepFromEndingSaysSo() throws {
        try make(.wal)
        let unlocked = try unlocked()
        var file = file
        file.configuration.busyTimeout = .milliseconds(50)
        let other = Database(path: path)
        expect(throws: RekeyError.checkpointPending) {
            try file.rotateKey(of: unlocked) { progress in
                guard progress.stage == .erasing, !other.isOpen else { return }
                try other.open(key: unlocked)
                #expect(try other.string(forQuery: SampleFile.question) == SampleFile.answer)
            }
        }
        #expect(try unlocked.content().isRotationPending)
        other.close()
        #expect(try file.resumeRotation(of: unlocked) == nil)
        #expect(try !unlocked.content().isRotationPending)
        #expect(try answer() == SampleFile.answer)
    }

    /// It tries one key on the old file, for whose lock it waits, and the other on the new file.
    @Test(arguments: modes)
    func openingDuringRotationSucceeds(mode: JournalMode) throws {
        try make(mode)
        let (path, unlocked) = (path, try unlocked())
        let opened = Lock<Result<String?, any Error>?>(nil)
        let isOver = DispatchSemaphore(value: 0)
        var stages: Set<FileProgress.Stage> = []
        var file = file
        file.configuration.busyTimeout = .seconds(60)
        try file.rotateKey(of: unlocked) { progress in
            guard stages.insert(progress.stage).inserted else { return }
            if progress.stage == .writing {
                Thread.detachNewThread {
                    let result = Result {
                        let database = Database(
                            path: path,
                            configuration: Configuration { $0.busyTimeout = .seconds(60) }
                        )
                        try database.open(key: unlocked)
                        defer { database.close() }
                        return try database.string(forQuery: SampleFile.question)
                    }
                    opened.withLock { $0 = result }
                    isOver.signal()
                }
                Thread.sleep(forTimeInterval: 0.2)
            }
            // The keyring still has both keys.
            if progress.stage == .erasing, isOver.wait(timeout: .now() + 2) == .success { isOver.signal() }
        }
        #expect(stages.contains(.writing) && stages.contains(.erasing))
        isOver.wait()
        #expect(try opened.withLock { $0 }?.get() == SampleFile.answer)
    }

    @Test func oldFileCopyIsReportedWithDate() throws {
        try make()
        try FileManager.default.copyItem(atPath: path, toPath: directory.file("old.db"))
        try file.rotateKey(of: unlocked())
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: directory.file("old.db"), toPath: path)
        #expect { try answer() } throws: { error in
            guard let day = (error as? KeyringError)?.retired, case KeyringError.oldDatabase = error else {
                return false
            }
            return day.timeIntervalSinceNow > -86400 && "\(error)".contains("old copy")
        }
    }

    @Test func cutOldCopyIsRecoveredUnderRetiredKey() throws {
        try make()
        let (old, key) = (DatabaseFile(path: directory.file("old.db")), try unlocked().databaseKey())
        try FileManager.default.copyItem(atPath: path, toPath: old.path)
        try file.rotateKey(of: unlocked())
        #expect(truncate(old.path, off_t(5 * (Engine.current.formats.first?.pageSize ?? 4096))) == 0)
        let found = try old.key(in: unlocked())
        #expect(try found == key)
        #expect(try !old.recover(key: found, to: directory.file("new.db")).missingPages.isEmpty)
        // No key of a damaged file becomes the one that counts.
        #expect(throws: (any Error).self) { try old.adopt(unlocked()) }
        #expect(try !(unlocked().databaseKey() == key))
    }

    @Test func stoppedRotationIsUndone() throws {
        try make()
        let before = try FileState(path)
        let old = try unlocked().databaseKey()
        #expect(throws: Stop.self) { try file.rotateKey(of: unlocked()) { _ in throw Stop() } }
        #expect(try FileState(path) == before)
        #expect(try unlocked().databaseKey() == old)
        #expect(try !unlocked().content().isRotationPending)
    }

    /// What a kill leaves before and after the exchange of the files, in both modes.
    @Test(arguments: modes, [false, true])
    func interruptedRotationIsResumed(mode: JournalMode, isExchanged: Bool) throws {
        try make(mode)
        let old = try unlocked().databaseKey()
        let next = try unlocked().withLock { try $0.beginRotation() }
        if isExchanged { try file.changeKey(from: old, to: next) }
        #expect(try file.position(in: unlocked()) == (isExchanged ? .next : .current))
        expect(throws: KeyringError.rotationPending) { try file.rotateKey(of: unlocked()) }
        #expect((try file.resumeRotation(of: unlocked()) == nil) == isExchanged)
        #expect(try unlocked().databaseKey() == next)
        #expect(try file.position(in: unlocked()) == .current)
        #expect(try answer() == SampleFile.answer)
    }

    @Test func interruptedRotationIsCancelled() throws {
        try make()
        let old = try unlocked().databaseKey()
        _ = try unlocked().withLock { try $0.beginRotation() }
        let leftover = try directory.write(Array(repeating: 1, count: 5000), to: "test.db.rekey-0123456789abcdef")
        try file.cancelRotation(of: unlocked())
        #expect(try unlocked().databaseKey() == old)
        #expect(!FileManager.default.fileExists(atPath: leftover))
        let next = try unlocked().withLock { try $0.beginRotation() }
        try file.changeKey(from: old, to: next)
        #expect(throws: RekeyError.self) { try file.cancelRotation(of: unlocked()) }
        try file.resumeRotation(of: unlocked())
        #expect(try answer() == SampleFile.answer)
    }

    @Test func foreignDatabaseIsNotRotated() throws {
        try make()
        let other = directory.file("other.db")
        try DatabaseQueue(path: other, key: .sample("other")).close()
        let file = DatabaseFile(path: other)
        #expect(try file.position(in: unlocked()) == .other)
        expect(throws: KeyringError.otherDatabase) { try file.rotateKey(of: unlocked()) }
        _ = try unlocked().withLock { try $0.beginRotation() }
        expect(throws: KeyringError.otherDatabase) { try file.resumeRotation(of: unlocked()) }
        expect(throws: KeyringError.otherDatabase) { try file.cancelRotation(of: unlocked()) }
        #expect(try unlocked().content().isRotationPending)
    }

    @Test(arguments: modes)
    func fileMovesFromPassphraseToKeyringAndBack(mode: JournalMode) throws {
        let before = try DatabaseKey.sample("before")
        let queue = try DatabaseQueue(
            path: path,
            key: before,
            configuration: Configuration { $0.journalMode = mode }
        )
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        try keyring.create(with: secret, for: path)
        #expect(try file.position(in: unlocked()) == .other)
        try file.moveToKeyring(unlocked(), from: before)
        #expect(try answer() == SampleFile.answer)
        expect(throws: KeyError.wrongKey) { try file.verify(key: before) }
        #expect(throws: RekeyError.self) { try file.moveToKeyring(unlocked(), from: before) }

        try file.changeKey(from: unlocked().databaseKey(), to: before)
        #expect(try file.verify(key: before).isSound)
        expect(throws: KeyringError.otherDatabase) { _ = try answer() }
        expect(throws: KeyringError.inUse) { try file.moveToKeyring(unlocked(), from: before) }
    }

    @Test func plaintextFileMovesToKeyring() throws {
        let queue = try DatabaseQueue(path: path, configuration: Configuration { $0.allowsPlaintext = true })
        try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
        try queue.close()
        try keyring.create(with: secret, for: path)
        try file.moveToKeyring(unlocked(), from: nil)
        #expect(try answer() == SampleFile.answer)
        try FileManager.default.removeItem(atPath: path)
        expect(throws: KeyringError.databaseMissing) { _ = try answer() }
    }

    @Test func moveThatIsStoppedLeavesOldKey() throws {
        let before = try DatabaseKey.sample("before")
        try DatabaseQueue(path: path, key: before).close()
        try keyring.create(with: secret, for: path)
        #expect(throws: Stop.self) { try file.moveToKeyring(unlocked(), from: before) { _ in throw Stop() } }
        #expect(try file.verify(key: before).isSound)
        try file.moveToKeyring(unlocked(), from: before)
        #expect(try file.verify(key: unlocked().databaseKey()).isSound)
    }

    /// Every system call that the change makes fails once.
    @Test(arguments: Extent.share(FaultInjection.Call.allCases))
    func keyringOpensFileAfterAnyFailure(call: FaultInjection.Call) throws {
        var number = 0
        while true {
            try make()
            let (outcome, met) = FaultInjection.with(
                FaultInjection.Order(prefix: path, call: call, after: number, code: EIO),
                { try file.rotateKey(of: unlocked()) }
            )
            #expect(try answer() == SampleFile.answer, "\(call) \(number)")
            #expect(try !unlocked().content().isRotationPending)
            if !met {
                _ = try outcome.get()
                break
            }
            number += 1
            try keyring.erase()
            for name in directory.names { try FileManager.default.removeItem(atPath: directory.file(name)) }
        }
        #expect(number > 0)
    }
}
