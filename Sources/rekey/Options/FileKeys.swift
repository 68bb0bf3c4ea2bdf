import CipherDB
import Rekeying

/// The secret that options name, read once for all files, and the key that it gives for each of them.
final class FileKeys {
    private let options: KeyOptions
    // Failures too: what cannot be read twice, such as standard input, fails for the same cause for each file.
    private var keyring: Result<UnlockedKeyring, any Error>?
    private var key: Result<DatabaseKey, any Error>?

    init(_ options: KeyOptions) {
        self.options = options
    }

    /// The key that opens `file`, which is recognised before a secret is asked for that would not help.
    func key(for file: String, despiteDamagedSalt: Bool = false) throws -> DatabaseKey {
        try DatabaseFile(path: file).checkMayBeEncrypted()
        return try find(for: file, despiteDamagedSalt: despiteDamagedSalt).key
    }

    /// The key that opens `file`, where options say where it comes from.
    func keyIfNamed(for file: String) throws -> DatabaseKey? {
        guard options.namesKey else {
            try options.checkNoKeyring()
            return nil
        }
        return try find(for: file).key
    }

    /// The keyring that options name.
    func unlockedKeyring() throws -> UnlockedKeyring? {
        guard let path = options.keyring else { return nil }
        let unlocked = keyring ?? Result { try options.unlock(Keyring(path: path), upgrades: false) }
        keyring = unlocked
        return try unlocked.get()
    }

    /// Uses this keyring, which was unlocked by the same options, as the one that they name.
    func use(_ unlocked: UnlockedKeyring) { keyring = .success(unlocked) }

    /// All keys that options name, those of a keyring with its retired ones; nil where they name none.
    func allIfNamed(for file: String) throws -> [DatabaseKey]? {
        guard let unlocked = try unlockedKeyring() else { return try keyIfNamed(for: file).map { [$0] } }
        let keys = try unlocked.databaseKeys()
        let all = try [keys.next, keys.current].compactMap { $0 } + unlocked.retiredKeys().map(\.key)
        return try all.map(options.fileFormat.salted)
    }

    /// The key that opens `file`, and for a retired one of the keyring the day on which another took its place.
    func find(
        for file: String,
        despiteDamagedSalt: Bool = false
    ) throws -> (key: DatabaseKey, retired: String?) {
        if let unlocked = try unlockedKeyring() {
            let database = try options.database(file)
            let found =
                despiteDamagedSalt
                ? try database.keyDespiteDamagedSalt(in: unlocked) : try database.keyAndRetirement(in: unlocked)
            return (try options.fileFormat.salted(found.key), found.retired)
        }
        try options.checkNoKeyring()
        let read = key ?? Result { try readKey(for: file) }
        key = read
        return (try options.fileFormat.salted(read.get()), nil)
    }

    /// Reads the key. One that is typed is tried on `file`, which is not open yet; the last one is the caller's to try, with its own error.
    private func readKey(for file: String) throws -> DatabaseKey {
        try TypedSecret.ask(isTyped: !options.choice.isGiven) { isLast in
            let key = try options.choice.read(prompt: "Passphrase of \(file)")
            if !isLast {
                do {
                    try options.prove(options.fileFormat.salted(key), of: file)
                } catch let error as KeyError where error.code == .wrongKey {
                    throw error
                } catch {
                    // No matter of the key; the command finds it again, and reports it.
                }
            }
            return key
        }
    }

    /// Verifies `file`, which is recognised before a secret is asked for that would not help.
    func verify(
        _ file: String,
        checksStructure: Bool,
        progress: (FileProgress) throws -> Void
    ) throws -> (found: Verification, key: DatabaseKey, retired: String?) {
        var used: (key: DatabaseKey, retired: String?)?
        func key() throws -> DatabaseKey {
            let found = try find(for: file)
            used = found
            return found.key
        }
        let found = try options.database(file).verify(
            askingFor: key,
            checksStructure: checksStructure,
            progress: progress
        )
        let (key, retired) = try used ?? find(for: file)
        return (found, key, retired)
    }
}

/// A secret that is read when it is first needed, and once for all files.
final class Once<Value> {
    private var value: Value?

    func callAsFunction(_ read: () throws -> Value) rethrows -> Value {
        if let value { return value }
        let found = try read()
        value = found
        return found
    }
}
