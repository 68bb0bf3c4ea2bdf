import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying
import TestSupport
import Testing

#if DEBUG || FAULTS
    /// A keyring that a file is brought under, and what happens where that cannot be written down.
    @Suite final class KeyringClaimTests: KeyringFixture {
        private let key: DatabaseKey
        private var file: DatabaseFile { DatabaseFile(path: path) }

        override init() throws {
            key = try .random()
            try super.init()
            for name in ["test.db", "other.db"] {
                let queue = try DatabaseQueue(path: directory.file(name), key: key)
                try queue.inDatabase { try $0.executeStatements(SampleFile.content) }
                try queue.close()
            }
            try keyring.create(with: secret, for: path)
        }

        /// Lets the writing of the keyring fail, after so many times that it goes well.
        private func failing(after count: Int, _ body: () throws -> Void) -> any Error {
            let order = FaultInjection.Order(
                prefix: keyring.path + ".new-",
                call: .write,
                after: count,
                code: ENOSPC,
                persists: true
            )
            let (outcome, met) = FaultInjection.with(order, body)
            #expect(met)
            if case .failure(let error) = outcome { return error }
            return CancellationError()
        }

        @Test func unwritableKeyringTakesNoFile() throws {
            let before = try FileState(path)
            let unlocked = try unlocked()
            let error = failing(after: 0) { try file.moveToKeyring(unlocked, from: key) }
            #expect((error as? KeyringError)?.code == .system && (error as? KeyringError)?.errno == ENOSPC)
            #expect(try FileState(path) == before)
            #expect(try !unlocked.content().isInUse)
        }

        @Test func keyringNotWrittenAfterwardsTakesNoOther() throws {
            let unlocked = try unlocked()
            let error = failing(after: 1) { try file.moveToKeyring(unlocked, from: key) }
            #expect(error is CancellationError, "the file is under the keyring, and that is noted: \(error)")
            #expect(try file.key(in: unlocked) == unlocked.databaseKey())
            expect(throws: KeyringError.inUse) {
                try DatabaseFile(path: directory.file("other.db")).moveToKeyring(unlocked, from: key)
            }
        }

        @Test func killedMoveCanBeRepeated() throws {
            let unlocked = try unlocked()
            try unlocked.withLock { try $0.claim(for: Platform.resolved(path)) }
            expect(throws: KeyringError.inUse) {
                try DatabaseFile(path: directory.file("other.db")).moveToKeyring(unlocked, from: key)
            }
            try file.moveToKeyring(unlocked, from: key)
            #expect(try file.key(in: unlocked) == unlocked.databaseKey())
            #expect(try unlocked.content().isInUse)
            #expect(try !unlocked.content().isClaimed(for: Platform.resolved(path)))
        }

        @Test func failedMoveReleasesKeyring() throws {
            let unlocked = try unlocked()
            expect(throws: KeyError.wrongKey) { try file.moveToKeyring(unlocked, from: .random()) }
            #expect(try !unlocked.content().isInUse)
            try DatabaseFile(path: directory.file("other.db")).moveToKeyring(unlocked, from: key)
        }
    }
#endif
