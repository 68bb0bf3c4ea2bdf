import CipherDB
import Logging

extension NoteStore {
    /// The notes of a database whose key is in the keyring beside it. Both are made at the first start; later a missing keyring is an error.
    static func open(_ path: String, _ secret: KeyringSecret, _ logger: Logger) async throws -> (
        NoteStore, UnlockedKeyring
    ) {
        let keyring = Keyring(besideDatabase: path)
        let store = try await NoteStore(path: path, keyring: keyring, unlockedBy: secret, logger: logger)
        return (store, try await keyring.unlock(secret))
    }
}
