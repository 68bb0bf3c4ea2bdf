internal import CipherSystem

/// A small file that stores the random key of a database, wrapped under a master key, which is wrapped once for each
/// passphrase, recovery code, key file or external secret.
///
/// ```swift
/// let keyring = Keyring(path: "vault.db.keyring")
/// let secret = try KeyringSecret.passphrase("correct horse battery staple")
/// let queue = try DatabaseQueue(path: "vault.db", key: .keyring(keyring, unlockedBy: secret))
/// ```
///
/// Changing a passphrase rewrites a few hundred bytes, whatever the size of the database. The file is authenticated, so
/// tampering without one of its secrets is detected. Without the keyring the database cannot be opened: back it up.
public struct Keyring: Sendable, Equatable {
    /// Where the file is.
    public let path: String
    /// The file, where it was read already; nil where each call reads it again.
    private let bytes: [UInt8]?

    /// The keyring at `path`; nothing is read yet.
    public init(path: String) {
        self.init(path: path, bytes: nil)
    }

    /// A keyring that was read from a place to which it is never written.
    ///
    /// - Parameter place: For errors.
    package init(_ bytes: [UInt8], readFrom place: String) {
        self.init(path: place, bytes: bytes)
    }

    private init(path: String, bytes: [UInt8]?) {
        self.path = path
        self.bytes = bytes
    }

    private static let suffix = ".keyring"

    /// The keyring beside a database, where the `rekey` command looks for it: its path and `.keyring`.
    public init(besideDatabase path: String) {
        self.init(path: path + Keyring.suffix)
    }

    /// Makes a keyring with one slot, and a new random key for a database that is not there yet.
    ///
    /// Opening a database with a keyring and a secret does it at the first start.
    ///
    /// - Parameters:
    ///   - label: What its owner calls the slot; 128 bytes of UTF-8 at most. It is not secret.
    ///   - derivation: The KDF of a passphrase; other secrets have none.
    ///   - database: The path of a database that is to be moved to the keyring, by `DatabaseFile.moveToKeyring(_:from:)`. The keyring
    ///     gets its owner, its group and its permissions, as far as this process may give them, and none for others.
    /// - Throws: ``KeyringError``, before anything is written: `KeyringError.exists` where something stands at the path, also on a full or
    ///   read-only disk; `KeyringError.lost` for `FILE.keyring` where FILE has content, unless `database` is given;
    ///   `KeyringError.databaseMissing` where that is not there.
    @discardableResult
    public func create(
        with secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard,
        for database: String? = nil
    ) throws -> UnlockedKeyring {
        if let database {
            guard (try? Platform.status(of: database)) != nil else {
                throw KeyringError(.databaseMissing, path: path, database: database)
            }
        } else {
            try checkNoDatabaseIsBeside()
        }
        return try make(with: secret, label: label, derivation: derivation, for: database)
    }

    /// As ``create(with:label:derivation:for:)``, whatever is beside it.
    package func make(
        with secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard,
        for database: String? = nil
    ) throws -> UnlockedKeyring {
        try naming {
            try KeyringContent.check(label: label)
            guard !secret.isUntypedCode else { throw KeyringError(.notTypedBack) }
            // Before a passphrase is derived.
            try KeyringFile.checkIsFree(path)
            let (content, masterKey) = try KeyringContent.new(secret, label, derivation)
            try KeyringFile.create(path, try content.sealed(masterKey), for: database)
            return UnlockedKeyring(
                keyring: self,
                identifier: content.identifier,
                masterKey: masterKey,
                opened: content.slots[0]
            )
        }
    }

    /// Throws where a database is beside it, which may be under a keyring that is lost.
    private func checkNoDatabaseIsBeside() throws {
        // By bytes: a character before the dot may join with it.
        let (name, suffix) = (path.utf8, Keyring.suffix.utf8)
        guard name.suffix(suffix.count).elementsEqual(suffix),
            case let database = String(decoding: name.dropLast(suffix.count), as: UTF8.self),
            let status = try? Platform.status(of: database), status.kind == .regular, status.size > 0
        else { return }
        // Another process may have made both since.
        try KeyringFile.checkIsFree(path)
        throw KeyringError(.lost, path: path, database: database)
    }

    /// Writes a copy of another keyring to the path, where nothing must stand.
    package func create(copyOf other: Keyring) throws {
        try KeyringFile.create(path, other.read().bytes)
    }

    /// The bytes and the content.
    func read() throws -> (bytes: [UInt8], content: KeyringContent) {
        guard let bytes else { return try KeyringFile.read(path) }
        return (bytes, try naming { try KeyringContent(bytes) })
    }

    /// Locks the file, to write it.
    func lock(waiting: Duration) throws -> KeyringFile {
        guard bytes == nil else { throw KeyringError(.replaced, path: path) }
        return try KeyringFile(locking: path, waiting: waiting)
    }

    /// Throws where ``make(with:label:derivation:for:)`` could not make the keyring; nothing is left.
    package func checkMayCreate(label: String) throws {
        try naming {
            try KeyringContent.check(label: label)
            try KeyringFile.checkMayCreate(path)
        }
    }

    /// What the keyring stores unencrypted, not authenticated.
    ///
    /// - Throws: ``KeyringError``.
    public func content() throws -> KeyringContent { try read().content }

    /// Opens the keyring with the secret of any of its slots, and verifies all of it.
    ///
    /// Weak KDF parameters of the passphrase are upgraded, unless the keyring cannot be
    /// written.
    ///
    /// - Parameters:
    ///   - slot: The only slot to try; needed where passphrases are so many that trying each would take seconds.
    ///   - upgrades: False leaves such a slot as it is.
    /// - Throws: ``KeyringError``, `KeyringError.wrongSecret` where no slot opens.
    public func unlock(
        _ secret: KeyringSecret,
        slot: Int? = nil,
        upgrades: Bool = true
    ) throws -> UnlockedKeyring {
        try naming {
            let (bytes, content) = try read()
            let (masterKey, opened) = try content.unlock(secret, slot: slot)
            try content.authenticate(bytes, masterKey)
            let unlocked = UnlockedKeyring(
                keyring: self,
                identifier: content.identifier,
                masterKey: masterKey,
                opened: opened
            )
            if upgrades { try unlocked.upgrade(secret) }
            return unlocked
        }
    }

    /// Gives the slot that `secret` opens another secret. The database is not touched.
    ///
    /// Runs the KDF for the old and the new passphrase at the same time, and once for each other passphrase slot, which must not open
    /// with the new one.
    ///
    /// - Parameters:
    ///   - slot: The only slot to try.
    ///   - derivation: The KDF of a new passphrase.
    /// - Returns: the number of the slot.
    /// - Throws: ``KeyringError``, with `KeyringError.secretInUse` where another slot opens with the new secret.
    @discardableResult
    public func change(
        _ secret: KeyringSecret,
        to newSecret: KeyringSecret,
        slot: Int? = nil,
        derivation: PassphraseDerivation = .standard
    ) throws -> Int {
        guard !newSecret.isUntypedCode else { throw KeyringError(.notTypedBack, path: path) }
        let (unlocked, derived) = SideBySide.run({ try unlock(secret, slot: slot, upgrades: false) }) {
            try KeyringContent.DerivedSecret(newSecret, derivation)
        }
        let opened = try unlocked.get()
        let new = try derived.get()
        try opened.checkIsUnused(newSecret, in: opened.opened.number)
        try opened.change(opened.opened, to: new)
        return opened.slot
    }

    /// Overwrites and removes the keyring. Without a backup of it nobody can open the database any more. One that cannot be overwritten
    /// is removed all the same, and the error is thrown.
    ///
    /// - Throws: ``KeyringError``, also for a file that is no keyring: it must not be lost by a mistyped path.
    public func erase() throws {
        let file = try lock(waiting: .seconds(5))
        do {
            _ = try content()
        } catch let error as KeyringError where error.isOfAKeyring {
            // A damaged keyring is one, too.
        }
        try file.erase()
    }

    /// Removes what killed writers left beside the keyring, and returns the paths.
    package func cleanUp() -> [String] { KeyringFile.removeLeftovers(of: path) }

    /// Names the keyring in a problem that was found in its content.
    func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as KeyringError {
            throw error.naming(path)
        }
    }
}
