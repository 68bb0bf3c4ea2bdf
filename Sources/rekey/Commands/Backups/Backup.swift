import ArgumentParser
import CipherDB
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

            With --follow it goes on until a signal ends it, and stores each change; it holds no lock in between. The exit status is then 0.

            No key is needed. With the key each page that is stored is proved to be undamaged, and the generation \
            gets a MAC, by which `rekey restore` proves it.
            """
    )

    @Argument(help: "The database file.", completion: .file())
    var file: String
    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @OptionGroup var following: FollowOptions
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let keys = FileKeys(key)
        if following.follow {
            var database = try key.database(file)
            database.busyTimeout = .seconds(report.wait ?? 5)
            let follower = BackupFollower(database, BackupRepository(repository)) { [file] in
                try keys.keyIfNamed(for: file)
            }
            return try following.run(file, report, follower)
        }
        try report.run([file]) { file, progress in
            let done = try key.database(file).backUp(
                to: BackupRepository(repository),
                key: keys.keyIfNamed(for: file),
                progress: progress.show
            )
            return Report.Result(BackupObject(done), lines: Backup.lines(done))
        }
    }

    private static func lines(_ done: BackupResult) -> [(String, String)] {
        let generation = done.generation
        let changed = done.isNew ? "" : "; nothing has changed since"
        return [
            ("generation", "\(generation.number) of \(GenerationObject.text(generation.time))\(changed)"),
            ("size", "\(generation.databaseSize) bytes"),
            ("stored", "\(done.isNew ? generation.storedSize : 0) bytes"),
            ("proved", done.format == nil ? "no: without the key" : "pages that changed, by their MACs"),
        ]
    }

}

/// A backup as `backup` prints it.
struct BackupObject: Encodable {
    let generation: GenerationObject
    let isNew: Bool
    let format: FormatObject?

    init(_ done: BackupResult) {
        generation = GenerationObject(done.generation)
        isNew = done.isNew
        format = done.format.map(FormatObject.init)
    }
}
