internal import CipherSystem

#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A keyring unlocked by a secret. It holds the master key in locked memory, and none of the passphrases.
///
/// Each call reads the file again and verifies it, so several processes can use one keyring.
public struct UnlockedKeyring: Sendable {
    /// The file.
    public let keyring: Keyring
    /// The number of the slot that opened it.
    public var slot: Int { opened.number }

    /// The slot as it was then.
    let opened: KeyringSlot
    let identifier: [UInt8]
    let masterKey: SecretBytes

    init(keyring: Keyring, identifier: [UInt8], masterKey: SecretBytes, opened: KeyringSlot) {
        self.keyring = keyring
        self.identifier = identifier
        self.masterKey = masterKey
        self.opened = opened
    }

    /// What the keyring says, verified.
    ///
    /// - Throws: ``KeyringError``.
    public func content() throws -> KeyringContent { try keyring.naming { try read() } }

    /// The random key of the database, as any SQLCipher takes it for a raw key.
    ///
    /// - Throws: ``KeyringError``; `KeyringError.rotationPending` while the key is changed.
    public func databaseKey() throws -> DatabaseKey {
        let keys = try databaseKeys()
        guard keys.next == nil else { throw KeyringError(.rotationPending, path: keyring.path) }
        return keys.current
    }

    /// The key of the database as 64 hexadecimal digits in ASCII, for the shells of SQLCipher: `PRAGMA key = "x'…'"`. Everyone who has it
    /// has the database.
    ///
    /// - Throws: as `databaseKey()`.
    public func exportDatabaseKey() throws -> SecretBytes {
        try databaseKey().exported()
    }

    /// The key that the database is under, and the one that it is to be under.
    package func databaseKeys() throws -> (content: KeyringContent, current: DatabaseKey, next: DatabaseKey?) {
        try keyring.naming {
            let content = try read()
            return (
                content, try content.databaseKey(content.current, masterKey),
                try content.next.map { try content.databaseKey($0, masterKey) }
            )
        }
    }

    /// Retired keys of the database, the latest first, with the day on which each was retired.
    package func retiredKeys() throws -> [(key: DatabaseKey, day: Date)] {
        try keyring.naming {
            let content = try read()
            return try content.retired.reversed().map { (try content.databaseKey($0.key, masterKey), $0.retired) }
        }
    }

    /// Gives up for good the keys that the database was under: copies of it from before can then not be opened any more.
    ///
    /// - Throws: ``KeyringError``.
    public func forgetOlderKeys() throws {
        try update { $0.retired = [] }
    }

    /// The MAC of a generation that the database remembers.
    package func recordMAC(generation: UInt64) throws -> [UInt8] {
        try KeyringContent.recordMAC(identifier, generation, masterKey)
    }

    private func read() throws -> KeyringContent { try readFile().content }

    private func readFile() throws -> (bytes: [UInt8], content: KeyringContent) {
        let (bytes, content) = try keyring.read()
        guard content.identifier == identifier else { throw KeyringError(.replaced) }
        try content.authenticate(bytes, masterKey)
        return (bytes, content)
    }

    // MARK: Backups

    /// Copies the keyring, as it is now, to a file that must not exist.
    ///
    /// - Throws: ``KeyringError`` naming either.
    public func backUp(to path: String) throws {
        let bytes = try keyring.naming { try readFile().bytes }
        try KeyringFile.create(path, bytes)
    }

    /// As ``backUp(to:)``; returns the copy.
    package func copied(to copy: Keyring) throws -> UnlockedKeyring {
        try backUp(to: copy.path)
        return UnlockedKeyring(keyring: copy, identifier: identifier, masterKey: masterKey, opened: opened)
    }

    /// The file, verified, and all keys that it holds.
    package func copy() throws -> (file: [UInt8], keys: [DatabaseKey]) {
        try keyring.naming {
            let (bytes, content) = try readFile()
            return (bytes, try keys(content))
        }
    }

    /// All keys that a file holds, which is this keyring, as it is or was.
    package func keys(of file: [UInt8]) throws -> [DatabaseKey] { try keys(KeyringContent(file)) }

    private func keys(_ content: KeyringContent) throws -> [DatabaseKey] {
        let keys = [content.current] + (content.next.map { [$0] } ?? []) + content.retired.map(\.key)
        return try keys.map { try content.databaseKey($0, masterKey) }
    }

    /// Whether a file is this keyring, as it is or was.
    package func proves(_ file: [UInt8]) -> Bool {
        guard let content = try? KeyringContent(file), content.identifier == identifier else { return false }
        return (try? content.authenticate(file, masterKey)) != nil
    }

    /// Whether a file is the keyring as it became after this one.
    package func isOlder(than file: [UInt8]) throws -> Bool {
        guard let copy = try? KeyringContent(file), copy.identifier == identifier else { return false }
        return try content().generation < copy.generation
    }

    /// An older state of this keyring with the slots that it has now; nil for another keyring, and where it has them.
    package func givingSlots(to file: [UInt8]) throws -> [UInt8]? {
        guard proves(file), var old = try? KeyringContent(file), case let present = try content(),
            old.slots != present.slots
        else { return nil }
        old.slots = present.slots
        return try old.sealed(masterKey)
    }

    /// Whether a file is a copy of the keyring as it is now, but for notes of backups.
    package func isCurrent(in file: [UInt8]?) throws -> Bool {
        guard let file, let copy = try? KeyringContent(file) else { return false }
        return try content().isSame(as: copy)
    }

    /// Puts this keyring, a backup, in the place of `other`, where that is missing, damaged, or the same with other slots and the
    /// same keys of the database. It then counts as the newer. What is replaced is kept beside it, unless it has the same slots and keys.
    ///
    /// Whether it opens the database is not looked at; `DatabaseFile.restoreKeyring(_:from:)` does.
    ///
    /// - Parameter generation: One that the keyring must be newer than, such as that which the database has noted.
    /// - Throws: ``KeyringError``; `KeyringError.otherKeys` where the database was given another key since,
    ///   `KeyringError.exists` where another keyring stands there.
    public func restore(to other: Keyring, overtaking generation: UInt64 = 0) throws {
        try restore(to: other, overtaking: generation, opening: nil)
    }

    /// As ``restore(to:overtaking:)``, with the proof that this keyring opens a database: then a keyring that does not is replaced, too.
    ///
    /// - Parameter database: That database, and the key that it is under. A keyring that is missing gets the owner, the group and the
    ///   permissions of the database.
    /// - Returns: Where the replaced keyring is kept, which may be that of another database; nil where it has the same slots and keys.
    @discardableResult
    package func restore(
        to other: Keyring,
        overtaking generation: UInt64,
        opening database: (path: String, key: DatabaseKey)?
    ) throws -> String? {
        var saved = try content()
        saved.generation = max(saved.generation, generation)
        do {
            saved.noteWriting()
            try KeyringFile.create(other.path, saved.sealed(masterKey), for: database?.path)
            return nil
        } catch let error as KeyringError where error.code == .exists {
            // Then it is compared, and kept from changing meanwhile.
        }
        let file = try KeyringFile(locking: other.path, waiting: .seconds(5))
        var replaced: [UInt8]?
        do {
            let (bytes, present) = try KeyringFile.read(other.path)
            if !present.hasSlotsAndKeys(of: saved) { replaced = bytes }
            if present.identifier != identifier {
                guard database != nil else { throw KeyringError(.exists, path: other.path) }
            } else if (try? present.authenticate(bytes, masterKey)) != nil {
                // What somebody without a secret wrote says nothing.
                if present.current.wrapped != saved.current.wrapped || present.next?.wrapped != saved.next?.wrapped {
                    guard let database, try !present.has(database.key, masterKey) else {
                        throw KeyringError(.otherKeys, path: other.path)
                    }
                }
                saved.generation = max(saved.generation, present.generation)
                for note in present.backupNotes.notes {
                    try saved.note(note.generation, of: note.repository, lowering: false)
                }
            }
        } catch let error as KeyringError where error.isDamage || error.code == .missing {
            // Nothing is lost with it.
        }
        saved.noteWriting()
        let kept = try replaced.map(file.keep)
        do {
            try file.replace(with: saved.sealed(masterKey))
        } catch {
            if let kept, (error as? KeyringError)?.isInForce != true { try? FileCalls.remove(kept) }
            throw error
        }
        return kept
    }

    /// Removes the keyring, which was just made, unless a database is under it.
    ///
    /// - Parameter path: The database that it may be claimed for, without links: on a full disk the claim cannot be taken back.
    package func eraseUnused(claimedFor path: String? = nil, unless isInUse: () throws -> Bool) throws {
        try withLock { locked in
            let isClaimed = try path.map { try locked.content.isClaimed(for: $0) } ?? false
            guard isClaimed || !locked.content.isInUse, try !isInUse() else { return }
            try locked.erase()
        }
    }

    // MARK: Writing

    func update<Result>(_ change: (inout KeyringContent) throws -> Result) throws -> Result {
        try withLock { try $0.write(change) }
    }

    /// Runs `body` with the keyring kept from all other writers.
    package func withLock<Result>(
        waiting: Duration = .seconds(5),
        _ body: (LockedKeyring) throws -> Result
    ) throws -> Result {
        try keyring.naming {
            let file = try keyring.lock(waiting: waiting)
            return try body(LockedKeyring(file: file, content: read(), masterKey: masterKey))
        }
    }
}

extension UnlockedKeyring: Redacted {
    /// The path and nothing of the keys.
    public var description: String { "UnlockedKeyring(\(keyring.path), slot \(slot), redacted)" }
}
