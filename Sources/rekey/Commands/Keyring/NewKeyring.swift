import CipherDB
internal import CipherSystem
import Rekeying

/// A keyring that is made for a database, or was made by a run that was killed.
struct NewKeyring {
    let keyring: Keyring
    let label: String
    let derivation: PassphraseDerivation

    /// Refuses what ``take(_:from:_:keepingOldAs:_:)`` refuses, and changes nothing.
    ///
    /// - Parameter database: One of a dry run, which ends here.
    func plan(
        _ database: DatabaseFile,
        from oldKey: DatabaseKey?,
        _ secret: KeyringSecret,
        keepingOldAs keptAs: String?
    ) throws {
        try database.checkMayWrite()
        do {
            try keyring.checkMayCreate(label: label)
        } catch let error as KeyringError where error.code == .exists {
            let unlocked = try keyring.unlock(secret, upgrades: false)
            try database.moveToKeyring(unlocked, from: oldKey, keepingOldAs: keptAs)
        }
        try database.askBeforeMove(from: oldKey, keepingOldAs: keptAs)
    }

    func take(
        _ database: DatabaseFile,
        from oldKey: DatabaseKey?,
        _ secret: KeyringSecret,
        keepingOldAs keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        // A keyring gets the permissions of the database, and could not be written either.
        try database.checkMayWrite()
        let unlocked: UnlockedKeyring
        var isMade = true
        do {
            unlocked = try keyring.create(with: secret, label: label, derivation: derivation, for: database.path)
        } catch let error as KeyringError where error.code == .exists {
            unlocked = try keyring.unlock(secret)
            isMade = false
        }
        do {
            return try database.moveToKeyring(unlocked, from: oldKey, keepingOldAs: keptAs, progress: progress)
        } catch {
            // As it was, where that is certain.
            if isMade {
                let place = try? Platform.resolved(database.path)
                try? unlocked.eraseUnused(claimedFor: place) { try database.position(in: unlocked) != .other }
            }
            throw error
        }
    }
}
