import CipherDB
import Rekeying

/// A keyring that is made for a database, or was made by a run that was killed.
struct NewKeyring {
    let keyring: Keyring
    let label: String
    let derivation: PassphraseDerivation

    func take(
        _ database: DatabaseFile,
        from oldKey: DatabaseKey?,
        _ secret: KeyringSecret,
        keepingOldAs keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        let unlocked: UnlockedKeyring
        var isMade = true
        do {
            unlocked = try keyring.create(with: secret, label: label, derivation: derivation, for: database.path)
        } catch let error as KeyringError where error.problem == .exists {
            unlocked = try keyring.unlock(secret)
            isMade = false
        }
        do {
            return try database.moveToKeyring(unlocked, from: oldKey, keepingOldAs: keptAs, progress: progress)
        } catch {
            // As it was, where that is certain.
            if isMade { try? unlocked.eraseUnused { try database.position(in: unlocked) != .other } }
            throw error
        }
    }
}
