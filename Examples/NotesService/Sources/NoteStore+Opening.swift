import CipherDB
import Foundation
import Logging

extension NoteStore {
    /// The notes of a database whose key is in the keyring beside it. Both are made at the first start; later a missing keyring is an error,
    /// so that no second one is made for a database that it does not open.
    static func open(_ path: String, _ secret: KeyringSecret, _ logger: Logger) async throws -> (
        NoteStore, UnlockedKeyring
    ) {
        let keyring = Keyring(besideDatabase: path)
        let exists = { FileManager.default.fileExists(atPath: $0) }
        if !exists(keyring.path), exists(path) { throw KeyringMissing(path: keyring.path) }
        let unlocked =
            exists(keyring.path)
            ? try await keyring.unlock(secret) : try await keyring.create(with: secret, label: "service")
        return (try await NoteStore(path: path, keyring: unlocked, logger: logger), unlocked)
    }

    struct KeyringMissing: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) is missing, which has the key of the database; restore it from a backup" }
    }
}
