import ArgumentParser
import CipherDB
internal import CipherSystem
import Foundation
import Rekeying

/// `rekey backup FILE REPOSITORY`
struct Backup: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Store what has changed since the last backup, still encrypted.",
        discussion: """
            The first backup stores all pages, later ones the pages that have changed; the pages stay as they are in \
            the file. REPOSITORY is a directory, which is made unless it exists, or rclone:REMOTE:PATH for what the \
            program rclone reaches. The database may be in use. In WAL mode no writer waits; in rollback mode writers \
            wait while the file is read.

            With --follow it goes on until a signal ends it, and stores each change; it holds no lock in between. The \
            exit status is then 0. What fails with status 74 or 75 is tried again, and after the first backup all that \
            fails: a full disk or a server that is not there ends nothing, a wrong key does.

            No key is needed. With the key each page that is stored is proved to be undamaged, and the generation \
            gets a MAC, by which `rekey restore` proves it. With --keyring the keyring notes the newest generation: \
            `rekey backup`, `rekey restore` and `rekey backups check` with it then refuse an old copy of the repository. \
            --at-least says another number; --at-least 0 accepts an old copy, and goes on after its newest generation, \
            which the keyring notes from then on. \
            Where the keyring notes a repository, --at-least 0 is needed to make another one.

            SQLite's integrity check is not run: `rekey verify` does that, and `rekey restore` with the key.

            With --keep… generations are removed that no rule keeps, as by `rekey backups prune`; with --follow at \
            most once a minute. A run removes none once it has met a file that shares no page and no salt with the \
            newest generation, or a newest generation that lacks segments, which are stored again.
            """
    )

    @Argument(help: "The database file.", completion: .file())
    var file: String
    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @Option(help: ArgumentHelp("Fail if the newest generation there has a lower number.", valueName: "number"))
    var atLeast: UInt64?
    @OptionGroup var following: FollowOptions
    @OptionGroup var keeping: KeepOptions
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let keys = FileKeys(key)
        if let note = RepositoryNote.line(repository) { Output.tellLine(note) }
        let repository = BackupRepository(repository)
        if following.follow {
            var database = try key.database(file)
            database.configuration.busyTimeout = .seconds(report.wait ?? 5)
            let follower = try BackupFollower(
                database,
                repository,
                expecting: ExpectedGeneration(keys.unlockedKeyring(), atLeast: atLeast),
                keyring: keys.unlockedKeyring(),
                keeping: keeping.policy
            ) { [file] in
                try keys.keyIfNamed(for: file)
            }
            Output.tellLine("rekey: \(file): opens with \(neededKey)")
            return try following.run(file, report, follower)
        }
        try report.run([file]) { file, progress in
            let keyring = try keys.unlockedKeyring()
            let expected = try ExpectedGeneration(keyring, atLeast: atLeast)
            let key = try keys.keyIfNamed(for: file)
            // From here on files are made.
            Interruption.watch()
            let done = try self.key.database(file).backUp(
                to: repository,
                expecting: expected,
                key: key,
                keyring: keyring,
                progress: progress.show
            )
            let upkeep = BackupUpkeep(
                repository,
                keyring: keyring,
                keeping: keeping.policy,
                lowersNote: expected.isAny
            )
            upkeep.add(done)
            for warning in done.warnings { Output.tellLine(Backup.message(warning, file), clearing: true) }
            let kept = try upkeep.run(isLast: true)
            if let failure = kept?.noteFailure { Output.tell(Backup.message(failure, file)) }
            let lines =
                lines(done)
                + (kept?.pruned.map { [("removed", KeepOptions.text($0))] } ?? [])
            return Report.Result(BackupObject(done, kept?.pruned), lines: lines)
        }
    }

    /// That the keyring could not be written.
    static func message(_ failure: any Error, _ file: String) -> String {
        "rekey: \(file): the generation is stored, but not noted in the keyring: \(CommandMessage(failure).text)\n"
    }

    /// What was noticed in the repository.
    static func message(_ warning: BackupWarning, _ file: String) -> String { "rekey: \(file): \(warning)" }

    private func lines(_ done: BackupResult) -> [(String, String)] {
        let generation = done.generation
        let changed = done.isNew ? "" : "; nothing has changed since"
        return [
            ("generation", "\(generation.number) of \(GenerationObject.text(generation.time))\(changed)"),
            ("size", "\(generation.databaseSize) bytes"),
            ("stored", "\(done.isNew ? generation.storedSize : 0) bytes"),
            ("proved", Backup.proof(done.format)),
            ("opens with", neededKey),
        ]
    }

    private var neededKey: String {
        guard key.keyring == nil else { return "the keyring, which is stored with it" }
        let keyring = Keyring(besideDatabase: file).path
        let isThere = (try? Platform.statusOfLink(keyring)) != nil
        return "the key that the database has now" + (isThere ? "; \(keyring) is not stored: give it by --keyring" : "")
    }

    private static func proof(_ format: CipherFormat?) -> String {
        guard let format else { return "no: without the key" }
        let hasMACs = format.pageAuthentication != nil
        return hasMACs ? "pages that changed, by their MACs" : "no: the format has no MACs of pages"
    }
}

/// A backup as `backup` prints it.
struct BackupObject: Encodable {
    let generation: GenerationObject
    let isNew: Bool
    let format: FormatObject?
    let pruned: [UInt64]?
    let prunedSegments: Int?
    let prunedSize: Int64?
    let warnings: [String]?

    init(_ done: BackupResult, _ pruned: PruneResult? = nil) {
        self.pruned = pruned?.removed
        prunedSegments = pruned?.removedSegments
        prunedSize = pruned?.removedSize
        generation = GenerationObject(done.generation)
        isNew = done.isNew
        warnings = done.warnings.isEmpty ? nil : done.warnings.map(\.description)
        format = done.format.map(FormatObject.init)
    }
}

/// A generation of a backup in JSON, and as a line.
struct GenerationObject: Encodable {
    let number: UInt64
    let time: String
    let databaseSize: Int64
    let storedSize: Int64
    let isAuthenticated: Bool
    let segments: Int

    init(_ generation: Generation) {
        number = generation.number
        time = GenerationObject.text(generation.time)
        databaseSize = generation.databaseSize
        storedSize = generation.storedSize
        isAuthenticated = generation.isAuthenticated
        segments = generation.segmentCount
    }

    /// In UTC, as ISO 8601 has it.
    static func text(_ time: Date) -> String { time.formatted(.iso8601) }

    /// What `rekey backups` prints.
    static func line(_ generation: Generation) -> String {
        let pages = (generation.databaseSize + 4095) / 4096
        return
            "\(text(generation.time))  \(generation.databaseSize.counted("byte")), \(pages.counted("block")), \(generation.storedSize.counted("byte")) stored"
            + (generation.isAuthenticated ? "" : ", without the key")
    }
}

/// What to say of the name of a repository.
enum RepositoryNote {
    /// The line for a name that looks like a remote of rclone and becomes a directory; nil for others.
    static func line(_ location: String) -> String? {
        let remote = location.prefix { $0 != ":" }
        guard remote.count < location.count, remote.count > 1, !remote.contains("/"), remote.lowercased() != "rclone",
            (try? Platform.status(of: location)) == nil
        else { return nil }
        return "rekey: \(location): this is a directory of this machine; a remote of rclone is rclone:\(location)"
    }
}
