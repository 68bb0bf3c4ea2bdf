#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// A keyring that is open and kept from all other writers: what a rotation needs from its beginning to
/// its end.
package final class LockedKeyring {
    package private(set) var content: KeyringContent
    private let file: KeyringFile
    private let masterKey: SecretBytes

    init(file: KeyringFile, content: KeyringContent, masterKey: SecretBytes) {
        self.file = file
        self.content = content
        self.masterKey = masterKey
    }

    /// - Parameter raisesSequenceNumber: False for what an old copy of the keyring need not have.
    func write<Result>(
        raisesSequenceNumber: Bool = true,
        _ change: (inout KeyringContent) throws -> Result
    ) throws -> Result {
        var next = content
        let result = try change(&next)
        next.noteWriting(raisesSequenceNumber: raisesSequenceNumber)
        do {
            try file.replace(with: next.sealed(masterKey))
        } catch let error as KeyringError where error.isInForce {
            content = next
            throw error
        }
        content = next
        return result
    }

    package var current: DatabaseKey {
        get throws { try content.databaseKey(content.current, masterKey) }
    }

    package var next: DatabaseKey? {
        get throws { try content.next.map { try content.databaseKey($0, masterKey) } }
    }

    /// Notes a generation of a repository of backups, as ``UnlockedKeyring/note(_:of:lowering:)``.
    func note(_ generation: UInt64, of repository: [UInt8], lowering: Bool) throws {
        guard content.backupNotes.isDue(generation, of: repository, lowering: lowering) else { return }
        try write(raisesSequenceNumber: false) { try $0.note(generation, of: repository, lowering: lowering) }
    }

    /// Notes the salt of the first file that was made with the current key.
    package func note(salt: [UInt8]) throws {
        guard !content.isInUse else { return }
        try write { $0.current.salt = salt }
    }

    /// Notes, before it is so, that the file at `path` comes under the current key: a run that is killed then leaves a keyring that
    /// no other database takes.
    ///
    /// - Parameter path: Without links.
    package func claim(for path: String) throws {
        let claim = try content.claim(for: path)
        try write { $0.current.salt = claim }
    }

    /// Notes the salt of the file at `path`, which came under the current key, in the place of the claim.
    package func fulfil(claimFor path: String, salt: [UInt8]) throws {
        guard try content.isClaimed(for: path) else { return try note(salt: salt) }
        try write { $0.current.salt = salt }
    }

    /// Takes the claim back, because the file did not come under the current key.
    package func releaseClaim() throws {
        try write { $0.current.salt = nil }
    }

    /// Returns when the keyring is on the disk, also where the process that wrote it was killed before it knew.
    package func sync() throws {
        try file.sync()
    }

    /// Throws where the keyring could not be written.
    package func checkMayWrite() throws {
        try file.checkMayReplace()
    }

    func erase() throws {
        try file.erase()
    }

    /// Writes down a new key, before any page is under it.
    package func beginRotation() throws -> DatabaseKey {
        guard content.next == nil else { throw KeyringError(.rotationPending) }
        // What has begun must have room to end.
        var ended = content
        ended.retire(content.current)
        _ = try ended.sealed(masterKey)
        let key = try write { content in
            let next = try KeyringContent.newKey(content.identifier, masterKey)
            content.next = next
            return next
        }
        return try content.databaseKey(key, masterKey)
    }

    /// Gives up the old key. Only when the database is proved to be under the new one, and is on the disk so.
    package func finishRotation(salt: [UInt8]) throws {
        try write { content in
            guard var next = content.next else { throw KeyringError(.noRotationPending) }
            content.retire(content.current)
            next.salt = salt
            content.current = next
            content.next = nil
        }
    }

    /// Gives up the new key. Only when the database is proved to be under the old one, and is on the disk so.
    ///
    /// - Parameter wasUsed: Whether a page may have been written under it. What was looked at may be a copy of the database.
    package func cancelRotation(wasUsed: Bool = true) throws {
        try write { content in
            guard let next = content.next else { throw KeyringError(.noRotationPending) }
            if wasUsed { content.retire(next) }
            content.next = nil
        }
    }

    /// Makes a retired key the current key; the current key is retired.
    package func adopt(_ key: DatabaseKey, salt: [UInt8]) throws {
        try write { content in
            guard content.next == nil else { throw KeyringError(.rotationPending) }
            let place = try content.retired.lastIndex { try content.databaseKey($0.key, masterKey) == key }
            guard let place else { throw KeyringError(.otherDatabase) }
            var adopted = content.retired.remove(at: place).key
            adopted.salt = salt
            content.retire(content.current)
            content.current = adopted
        }
    }

    /// Makes this copy the newer one of two, whatever was written to the other.
    package func overtake(generation: UInt64) throws {
        try write { $0.generation = max($0.generation, generation) }
    }
}
