package import CipherDB
package import CipherKeys

/// What a suite about a file under a keyring begins with: a directory, a path in it, and the secret of the keyring beside it,
/// a key file, which costs no derivation.
open class KeyringFixture {
    package let directory: TemporaryDirectory
    package let path: String
    package let keyring: Keyring
    package let secret: KeyringSecret

    package init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.db")
        keyring = Keyring(besideDatabase: path)
        secret = try .keyFile(.random(count: 32))
    }

    package func unlocked() throws -> UnlockedKeyring { try keyring.unlock(secret) }

    /// Makes the keyring and the database of ``SampleFile``, which is open nowhere.
    package func make(_ mode: JournalMode = .delete) throws {
        try SampleFile.make(at: path, under: keyring, secret, mode)
    }

    package func open(_ change: (inout Configuration) -> Void = { _ in }) throws -> Database {
        let database = Database(path: path, configuration: Configuration(change))
        try database.open(key: .keyring(keyring, unlockedBy: secret))
        return database
    }
}
