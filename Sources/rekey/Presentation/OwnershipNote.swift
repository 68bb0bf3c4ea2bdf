import CipherSystem

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
