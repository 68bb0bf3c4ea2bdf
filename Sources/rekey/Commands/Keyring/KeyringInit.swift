import ArgumentParser
import CipherDB
import CipherSystem
import Rekeying

/// `rekey keyring init FILE`
struct KeyringInit: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a keyring and put the database under its key.",
        discussion: """
            The --new- options set the first secret of the keyring; the others open the database now. A plaintext \
            database is encrypted. If the database does not exist, only the keyring is created. If the run is killed, \
            run it again. To undo it: `rekey change FILE --keyring FILE.keyring`; a passphrase then gets SQLCipher's usual \
            number of PBKDF2 iterations, since the key of a keyring has none. If the database was under a keyring that is \
            lost, run `rekey keyring restore` instead.
            """
    )

    @OptionGroup var target: KeyringTarget
    @OptionGroup var slot: SlotOptions
    @Option(help: "Label of the first slot.")
    var label = ""
    @OptionGroup var replacement: ReplacementOptions

    func validate() throws {
        guard !target.file.isEmpty, target.file != ":memory:" else {
            throw ValidationError("Give the path of a database file.")
        }
        if target.key.recovery || target.key.external || target.key.slot != nil {
            throw ValidationError("--recovery, --external and --slot need an existing keyring.")
        }
    }

    func run() throws {
        try target.run { progress in
            let keyring = target.keyring
            let database = try replacement.database(target.file, target.key)
            let newSecret = Once<KeyringSecret>()
            let readSecret = {
                try newSecret { try slot.secret(for: keyring, besides: target.key) }
            }
            if let content = try? keyring.content(), content.isInUse, try !isClaimed(content) {
                throw KeyringError(.exists, path: keyring.path)
            }
            if let done = try endedBefore(database, readSecret) { return done }
            let oldKey: DatabaseKey?
            switch try target.kind() {
            case nil:
                if target.key.choice.isGiven { throw FileError(.missing, path: target.file) }
                let (secret, derivation) = (try readSecret(), try slot.derivation())
                let found = [("database", "does not exist yet")]
                if replacement.dryRun {
                    try keyring.checkMayCreate(label: label)
                    return target.done(found, note: "dry run: the keyring was not created")
                }
                _ = try keyring.create(with: secret, label: label, derivation: derivation)
                return target.done(found)
            case .plaintext:
                if target.key.choice.isGiven { throw PlaintextHasNoKey() }
                oldKey = nil
            case .empty: throw KeyError(.notADatabase, path: target.file, fileType: "empty")
            case .notADatabase: throw KeyError(.notADatabase, path: target.file)
            case .encrypted:
                oldKey = try TypedSecret.ask(isTyped: !target.key.choice.isGiven) { _ in
                    let key = try target.key.fileFormat.salted(
                        target.key.choice.read(prompt: "Current passphrase of \(target.file)")
                    )
                    // Nothing is made where it is wrong.
                    _ = try database.inspect(key: key)
                    return key
                }
            }
            let secret = try readSecret()
            return try ReplacementOptions.result(
                of: target.file,
                prefix: [("key", "in the keyring"), ("keyring", keyring.path)],
                notes: OwnershipNote.lines(keyring.path, of: target.file)
            ) {
                let new = try NewKeyring(keyring: keyring, label: label, derivation: slot.derivation())
                if replacement.dryRun {
                    try new.plan(database, from: oldKey, secret, keepingOldAs: replacement.keepOld)
                }
                return try new.take(database, from: oldKey, secret, keepingOldAs: replacement.keepOld, progress.show)
            }
        }
    }

    /// Whether a run for this file was killed.
    private func isClaimed(_ content: KeyringContent) throws -> Bool {
        guard let path = try? Platform.resolved(target.file) else { return false }
        return try content.isClaimed(for: path)
    }

    /// What a run that was killed after the exchange of the files has left to be said.
    private func endedBefore(
        _ database: DatabaseFile,
        _ readSecret: () throws -> KeyringSecret
    ) throws -> Report.Result? {
        guard let content = try? target.keyring.content(), try !content.isInUse || isClaimed(content),
            try target.kind() == .encrypted
        else { return nil }
        guard let unlocked = try? target.keyring.unlock(readSecret(), upgrades: !replacement.dryRun),
            try database.position(in: unlocked) == .current
        else { return nil }
        return try ReplacementOptions.result {
            // What is left to be noted in the keyring is a change.
            guard !replacement.dryRun else {
                throw RekeyError(
                    .notNeeded,
                    path: target.file,
                    reason: "the file is under the current key of the keyring"
                )
            }
            return try database.moveToKeyring(unlocked, from: nil)
        }
    }
}

/// A secret was given that opens the database now, and that is in plaintext.
struct PlaintextHasNoKey: Error, CustomStringConvertible {
    var description: String {
        "the database is in plaintext, so no secret opens it now; give the keyring's by the --new- options alone"
    }
}

extension KeyringTarget {
    /// What the database is; nil where nothing is there.
    fileprivate func kind() throws -> Inspection.Kind? {
        do {
            return try DatabaseFile(path: file).inspect().kind
        } catch FileError.missing {
            return nil
        }
    }
}
