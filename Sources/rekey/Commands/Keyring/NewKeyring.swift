import CipherDB
import CipherSystem
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

/// What to say of a new keyring that has not the owner or the group of its database, whose users then cannot read it.
enum OwnershipNote {
    static func lines(_ keyring: String, of database: String) -> [(String, String)] {
        guard let wanted = try? FileOwnership(of: database), let found = try? FileOwnership(of: keyring),
            let missing = wanted.missing(in: found)
        else { return [] }
        let names = "\(Platform.userName(wanted.user)):\(Platform.groupName(wanted.group))"
        // Without the group it got no permissions for it.
        let mode = (try? Platform.status(of: database).mode).map { $0 & 0o660 }
        let permissions = mode.flatMap { $0 & 0o060 == 0 ? nil : String($0, radix: 8) }
        return [
            (
                "note",
                "\(keyring) could not get \(missing.names) of the database; run `chown \(names) \(keyring)` as root"
                    + (permissions.map { ", and `chmod \($0) \(keyring)`" } ?? "")
            )
        ]
    }
}
