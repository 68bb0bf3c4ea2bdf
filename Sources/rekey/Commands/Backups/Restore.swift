import ArgumentParser
import CipherDB
internal import CipherSystem
import Foundation
import Rekeying

/// `rekey restore REPOSITORY FILE`
struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a database from a backup, and prove it with the key.",
        discussion: """
            Restores the newest generation unless --generation or --at names another. An existing file is never \
            replaced. The file gets its name when it is complete and each block has the digest of its manifest. With \
            the key, the manifest and each page must also have the right MAC, and SQLite's integrity check must find \
            nothing.

            A generation that was stored by `rekey backup --keyring` has its keyring with it. If the file that --keyring \
            names is missing, the keyring is restored there, and one of its secrets opens both: of several the newest \
            that the given secret opens. Without a key the newest is restored beside the file, as FILE.keyring, unless \
            something is there. A retired key becomes the current one of the keyring FILE.keyring, as by `rekey keyring \
            adopt`.

            --at-least finds a repository that was replaced by an old copy. With --keyring the number is the one that \
            `rekey backup` has noted in the keyring, unless --at-least says another; --at-least 0 accepts an old copy.
            """
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @Argument(help: "The file to create.", completion: .file())
    var file: String
    @Option(help: ArgumentHelp("Restore this generation.", valueName: "number"))
    var generation: UInt64?
    @Option(
        help: ArgumentHelp(
            "Restore the newest generation of this time or before, such as 2026-11-25T12:00:00Z.",
            valueName: "time"
        ),
        transform: Restore.time
    )
    var at: Date?
    @Option(help: ArgumentHelp("Fail if the newest generation has a lower number.", valueName: "number"))
    var atLeast: UInt64?
    @Flag(help: "Accept a generation that was stored without the key: no MAC proves that its pages are of one state.")
    var allowUnauthenticated = false
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    static func time(_ text: String) throws -> Date {
        guard let time = try? Date.ISO8601FormatStyle().parse(text) else {
            throw ValidationError("\(text) is no time such as 2026-11-25T12:00:00Z.")
        }
        return time
    }

    func validate() throws {
        if generation != nil, at != nil { throw ValidationError("--generation and --at exclude each other.") }
    }

    private var choice: GenerationChoice {
        if let generation { return .number(generation) }
        return at.map { .at($0) } ?? .newest
    }

    func run() throws {
        let keys = FileKeys(key)
        try report.run([file]) { file, progress in
            // A keyring of another time must not appear beside a file that stays.
            try key.database(file).checkFree(file)
            let repository = BackupRepository(repository)
            let copied = try restoreKeyring(from: repository, beside: file, keys)
            var isDone = false
            let made = try copied.map { try Platform.statusOfLink($0.path).identity }
            defer {
                // Where the file is there, another run has made it, and needs the keyring.
                if !isDone, let copied, (try? Platform.statusOfLink(copied.path).identity) == made,
                    (try? Platform.statusOfLink(file)) == nil
                {
                    try? FileCalls.remove(copied.path)
                }
            }
            let done = try key.database(file).restore(
                from: repository,
                choice,
                atLeast: atLeast ?? keys.unlockedKeyring().flatMap(repository.notedGeneration(in:)),
                keyOf: keys.keyIfNamed,
                otherKeys: keys.unlockedKeyring() == nil ? [] : keys.allIfNamed(for: file) ?? [],
                acceptsUnauthenticated: allowUnauthenticated,
                progress: progress.show
            )
            isDone = true
            let adoption = copied != nil || takesPlace(file) ? try adoptKey(of: file, keys) : (isDone: false, lines: [])
            return Report.Result(
                Object(done, copied, adopts: adoption.isDone),
                lines: Restore.lines(done) + lines(copied, beside: file) + adoption.lines
            )
        }
    }

    /// Whether the file is where the database of the keyring is, by the name of the keyring.
    private func takesPlace(_ file: String) -> Bool {
        guard let given = key.keyring, let own = try? Platform.status(of: Keyring(besideDatabase: file).path) else {
            return false
        }
        return (try? Platform.status(of: given).identity) == own.identity
    }

    /// The restored file is what was asked for: where its key was retired since, that is the one that counts. The file stays where that fails.
    private func adoptKey(of file: String, _ keys: FileKeys) throws -> (isDone: Bool, lines: [(String, String)]) {
        guard let unlocked = try keys.unlockedKeyring() else { return (false, []) }
        do {
            let done = try key.database(file).adopt(unlocked)
            return (
                done.adoptsKey,
                (done.adoptsKey ? [("key", "one that a rotation had retired; the current one again")] : [])
                    + (done.repairsRecord ? [("record", "of the keyring, written again")] : [])
            )
        } catch let error as RekeyError where error.code == .notNeeded {
            return (false, [])
        } catch {
            return (false, [("key", "`rekey keyring adopt` is needed: \(CommandMessage(error).text)")])
        }
    }

    /// Restores the keyring that was stored with the generation, where a keyring is asked for that is missing, or no key is given.
    private func restoreKeyring(
        from repository: BackupRepository,
        beside file: String,
        _ keys: FileKeys
    ) throws -> Keyring? {
        let isAskedFor = key.keyring != nil
        guard isAskedFor || !key.namesKey else { return nil }
        let keyring = key.keyring.map { Keyring(path: $0) } ?? Keyring(besideDatabase: file)
        guard (try? Platform.statusOfLink(keyring.path)) == nil else { return nil }
        if isAskedFor {
            let unlocked = try key.unlockKeyring(of: repository, for: choice)
            // From here on files are made.
            Interruption.watch()
            keys.use(try unlocked.copied(to: keyring))
            return keyring
        }
        Interruption.watch()
        do {
            try repository.restoreKeyring(to: keyring, for: choice)
            return keyring
        } catch BackupError.noKeyring {
            return nil
        }
    }

    private func lines(_ copied: Keyring?, beside file: String) -> [(String, String)] {
        if let copied {
            return [("keyring", "\(copied.path), restored too: any secret that it had then opens it")]
        }
        guard !key.namesKey else { return [] }
        let keyring = Keyring(besideDatabase: file).path
        let isThere = (try? Platform.statusOfLink(keyring)) != nil
        return [
            ("opens with", isThere ? "\(keyring), if that is its keyring" : "the key that it had then: none is stored")
        ]
    }

    private static func lines(_ done: RestoreResult) -> [(String, String)] {
        let generation = done.generation
        var lines = [
            ("generation", "\(generation.number) of \(GenerationObject.text(generation.time))"),
            ("size", "\(generation.databaseSize) bytes"),
            ("digests", "all blocks have theirs"),
        ]
        guard let proof = done.proof else { return lines + [("proved", "no: without the key")] }
        lines.append(
            ("manifest", proof.isManifestAuthenticated ? "its MAC is right" : "has no MAC: stored without the key")
        )
        let hasMACs = proof.format.pageAuthentication != nil
        lines.append(("pages", "\(proof.pages), " + (hasMACs ? "each with the right MAC" : FormatObject.noteOnMACs.1)))
        lines.append(
            ("integrity check", proof.isStructureChecked ? "ok" : "not run: this engine does not open the format")
        )
        lines.append(
            ("proved", proof.isManifestAuthenticated && hasMACs && proof.isStructureChecked ? "yes" : "in part")
        )
        return lines + UncheckedLines.of(proof.unchecked)
    }

    private struct Object: Encodable {
        let generation: GenerationObject
        let format: FormatObject?
        let pages: Int?
        let isManifestAuthenticated: Bool?
        let isStructureChecked: Bool?
        /// Where the keyring was restored.
        let keyring: String?
        /// Whether a retired key of the keyring is the current one again.
        let adoptsKey: Bool?
        let notChecked: [String]?

        init(_ done: RestoreResult, _ keyring: Keyring?, adopts: Bool) {
            self.keyring = keyring?.path
            adoptsKey = adopts ? true : nil
            generation = GenerationObject(done.generation)
            format = done.proof.map { FormatObject($0.format) }
            pages = done.proof?.pages
            isManifestAuthenticated = done.proof?.isManifestAuthenticated
            isStructureChecked = done.proof?.isStructureChecked
            notChecked = UncheckedLines.object(done.proof?.unchecked ?? [])
        }
    }
}
