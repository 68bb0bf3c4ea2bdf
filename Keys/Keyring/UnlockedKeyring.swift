#if canImport(FoundationEssentials)
    package import FoundationEssentials
#else
    package import Foundation
#endif

/// A keyring that a secret has opened. It holds the master key in locked memory, and none of the passphrases.
///
/// Each call reads the file again and verifies it, so several processes can use one keyring.
public struct UnlockedKeyring: Sendable {
    /// The file.
    public let keyring: Keyring
    /// The number of the slot that opened it.
    public var slot: Int { opened.number }

    /// The slot as it was then.
    let opened: KeyringSlot
    private let identifier: [UInt8]
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
    /// - Throws: ``KeyringError``; ``KeyringError/Problem/rotationPending`` while the key is changed.
    public func databaseKey() throws -> DatabaseKey {
        let keys = try databaseKeys()
        guard keys.next == nil else { throw KeyringError(path: keyring.path, problem: .rotationPending) }
        return keys.current
    }

    /// The database's key as 64 hexadecimal digits in ASCII, for the shells of SQLCipher: `PRAGMA key = "x'…'"`. Whoever has it
    /// has the database.
    ///
    /// - Throws: as ``databaseKey()``.
    public func exportDatabaseKey() throws -> SecretBytes {
        guard case .raw(let key) = try databaseKey().material else {
            throw KeyringError(path: keyring.path, problem: .altered)
        }
        return try key.withUnsafeBytes { key in
            try SecretBytes(count: 2 * key.count) { Hexadecimal.encode(key, into: $0) }
        }
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

    /// Keys that the database was under, the latest first, with the day on which each was given up.
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

    private func read() throws -> KeyringContent {
        let (bytes, content) = try KeyringFile.read(keyring.path)
        guard content.identifier == identifier else { throw KeyringError.Problem.replaced }
        try content.authenticate(bytes, masterKey)
        return content
    }

    // MARK: Slots

    /// Adds a slot; any slot opens the same database.
    ///
    /// - Parameters: as of ``Keyring/create(with:label:derivation:)``.
    /// - Returns: its number.
    /// - Throws: ``KeyringError``; a recovery code is added by ``add(_:typedBack:label:)`` only.
    @discardableResult
    public func add(
        _ secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard
    ) throws -> Int {
        guard secret.kind != .recoveryCode else { throw KeyringError(path: keyring.path, problem: .notConfirmed) }
        return try append(secret, label, derivation)
    }

    /// Adds a recovery code, once it has been typed back: a code that was written down wrong opens nothing.
    ///
    /// - Parameter typed: What the user typed, in ASCII.
    /// - Returns: the slot's number.
    /// - Throws: ``KeyringError/Problem/notConfirmed`` where that is another code, ``MalformedRecoveryCode`` where it is none.
    @discardableResult
    public func add(_ code: RecoveryCode, typedBack typed: SecretBytes, label: String = "") throws -> Int {
        guard try RecoveryCode(typed: typed) == code else {
            throw KeyringError(path: keyring.path, problem: .notConfirmed)
        }
        return try append(.recoveryCode(code), label, .standard)
    }

    private func append(_ secret: KeyringSecret, _ label: String, _ derivation: PassphraseDerivation) throws -> Int {
        let stretched = try KeyringContent.Stretched(secret, derivation)
        return try update { content in
            try KeyringContent.check(label: label)
            let number = (content.slots.map(\.number).max() ?? 0) + 1
            guard content.slots.count < KeyringContent.mostSlots, number <= 0xffff else {
                throw KeyringError.Problem.full
            }
            content.slots.append(try content.makeSlot(number, stretched, label, masterKey))
            return number
        }
    }

    /// Gives a slot another secret. The database is not touched.
    ///
    /// - Parameter derivation: How a passphrase is stretched.
    /// - Throws: ``KeyringError``.
    public func change(
        slot number: Int,
        to secret: KeyringSecret,
        derivation: PassphraseDerivation = .standard
    ) throws {
        guard secret.kind != .recoveryCode else { throw KeyringError(path: keyring.path, problem: .notConfirmed) }
        guard let slot = try content().slot(number) else {
            throw KeyringError(path: keyring.path, problem: .noSuchSlot(number))
        }
        try change(slot, to: KeyringContent.Stretched(secret, derivation))
    }

    /// Changes the slot where it is still what it was: somebody else may have given it another secret meanwhile.
    func change(
        _ old: KeyringSlot,
        to secret: KeyringContent.Stretched,
        waiting: Duration = .seconds(5)
    ) throws {
        try withLock(waiting: waiting) { locked in
            try locked.write { content in
                guard let index = content.slots.firstIndex(of: old) else {
                    throw KeyringError.Problem.slotChanged(old.number)
                }
                content.slots[index] = try content.makeSlot(
                    old.number,
                    secret,
                    old.label,
                    masterKey,
                    created: old.created
                )
                try content.checkWayIn(without: old)
            }
        }
    }

    /// Stretches the passphrase anew that opened the keyring, where it was stretched too little by today's figures.
    package func upgrade(_ secret: KeyringSecret) throws {
        guard opened.derivation?.isWeak == true else { return }
        do {
            // Nobody is waited for: the next opening does it.
            try change(opened, to: KeyringContent.Stretched(secret, .standard), waiting: .zero)
        } catch let error as KeyringError where error.isOfTheSystem || error.problem == .slotChanged(slot) {
            // A keyring that cannot be written opens all the same.
        }
    }

    /// Removes a slot. Whoever has an old copy of the keyring can still open that with it, and a database that has had no
    /// new keyring since.
    ///
    /// - Parameter force: Also where no passphrase and no recovery code would be left; but never the only slot.
    /// - Throws: ``KeyringError``, with ``KeyringError/Problem/lastSlot``.
    public func remove(slot number: Int, force: Bool = false) throws {
        try update { content in
            guard let index = content.slots.firstIndex(where: { $0.number == number }) else {
                throw KeyringError.Problem.noSuchSlot(number)
            }
            let old = content.slots.remove(at: index)
            guard !content.slots.isEmpty else { throw KeyringError.Problem.lastSlot }
            if !force { try content.checkWayIn(without: old) }
        }
    }

    /// Copies the keyring, as it is now, to a file that must not exist.
    ///
    /// - Throws: ``KeyringError`` naming either.
    public func backUp(to path: String) throws {
        let (bytes, content) = try KeyringFile.read(keyring.path)
        try keyring.naming {
            guard content.identifier == identifier else { throw KeyringError.Problem.replaced }
            try content.authenticate(bytes, masterKey)
        }
        try KeyringFile.create(path, bytes)
    }

    /// Puts this keyring, a backup, in the place of `other`, where that is missing, damaged, or the same with other slots and the
    /// same keys of the database. It then counts as the newer.
    ///
    /// Whether it opens the database is not looked at; `DatabaseFile.restoreKeyring(_:from:)` does.
    ///
    /// - Parameter generation: One that the keyring must be newer than, such as that which the database has noted.
    /// - Throws: ``KeyringError``; ``KeyringError/Problem/otherKeys`` where the database was given another key since,
    ///   ``KeyringError/Problem/exists`` where another keyring stands there.
    public func restore(to other: Keyring, overtaking generation: UInt64 = 0) throws {
        var saved = try content()
        saved.generation = max(saved.generation, generation)
        do {
            saved.noteWriting()
            return try KeyringFile.create(other.path, saved.sealed(masterKey))
        } catch let error as KeyringError where error.problem == .exists {
            // Then it is compared, and kept from changing meanwhile.
        }
        let file = try KeyringFile(locking: other.path, waiting: .seconds(5))
        do {
            let (bytes, present) = try KeyringFile.read(other.path)
            guard present.identifier == identifier else { throw KeyringError(path: other.path, problem: .exists) }
            // What somebody without a secret wrote says nothing.
            if (try? present.authenticate(bytes, masterKey)) != nil {
                guard present.current.wrapped == saved.current.wrapped, present.next?.wrapped == saved.next?.wrapped
                else { throw KeyringError(path: other.path, problem: .otherKeys) }
                saved.generation = max(saved.generation, present.generation)
            }
        } catch let error as KeyringError where error.isDamage {
            // Nothing is lost with it.
        }
        saved.noteWriting()
        try file.replace(with: saved.sealed(masterKey))
    }

    /// Removes the keyring, which was just made, unless a database is under it.
    package func eraseUnused(unless isInUse: () throws -> Bool) throws {
        try withLock { locked in
            guard !locked.content.isInUse, try !isInUse() else { return }
            try locked.erase()
        }
    }

    // MARK: Writing

    private func update<Result>(_ change: (inout KeyringContent) throws -> Result) throws -> Result {
        try withLock { try $0.write(change) }
    }

    /// Runs `body` with the keyring kept from all other writers.
    package func withLock<Result>(
        waiting: Duration = .seconds(5),
        _ body: (LockedKeyring) throws -> Result
    ) throws -> Result {
        try keyring.naming {
            let file = try KeyringFile(locking: keyring.path, waiting: waiting)
            return try body(LockedKeyring(file: file, content: read(), masterKey: masterKey))
        }
    }
}

extension UnlockedKeyring: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The path and nothing of the keys.
    public var description: String { "UnlockedKeyring(\(keyring.path), slot \(slot), redacted)" }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without children, so that `dump` shows the description only.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
