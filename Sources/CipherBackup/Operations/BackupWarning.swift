/// What a backup has noticed in a repository. It stores all the same.
public enum BackupWarning: Sendable, Equatable {
    /// The database shares no page and no salt with the generation of this number, which was the newest: it is another database, or its key was
    /// changed.
    case sharesNothing(generation: UInt64)
    /// The generation of this number, which was the newest, needs objects that are missing, cut or damaged: all pages were stored again.
    case lost(generation: UInt64, objects: [String])
    /// The generation of this number, which was the newest, has a MAC, and the new one has none.
    case unproved(after: UInt64)
    /// The keyring is an old copy: the repository has a newer one, which stays there.
    case oldKeyring

    /// Whether older generations may be all that is left of a database: then nothing is removed.
    public var forbidsPrune: Bool {
        switch self {
        case .sharesNothing, .lost: true
        case .unproved, .oldKeyring: false
        }
    }
}

extension BackupWarning: CustomStringConvertible {
    /// A sentence that names the generation.
    public var description: String {
        switch self {
        case .sharesNothing(let number):
            "the file shares no page and no salt with generation \(number): it is another database, or its key was changed; this run removes no generation"
        case .lost(let number, let objects):
            "generation \(number) cannot be restored: \(BackupWarning.list(objects)) missing, cut or damaged; all pages were stored again, and this run removes no generation"
        case .unproved(let number):
            "the new generation has no MAC, and generation \(number) has one: the key will not prove it; give the key, as before"
        case .oldKeyring:
            "the keyring is an old copy: the repository has a newer one, which may have other secrets; `rekey keyring restore` takes it from there"
        }
    }

    private static func list(_ objects: [String]) -> String {
        let more = objects.count - 3
        let text = objects.prefix(3).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return text + (objects.count == 1 ? " is" : " are")
    }
}
