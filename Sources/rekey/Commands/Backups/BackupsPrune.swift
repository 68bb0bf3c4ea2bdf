import ArgumentParser
import Rekeying

/// `rekey backups prune REPOSITORY`
struct BackupsPrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove generations that no rule keeps, and what only they need.",
        usage: "rekey backups prune <repository> [<options>]",
        discussion: """
            A generation is kept if any of the rules that are given keeps it. The newest is always kept. Generations that \
            were stored without the key take the place of none that has a MAC: the rules are applied again to those that \
            have one. Nothing is removed while the newest generation lacks a segment; `rekey backup` stores that again.
            """
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @OptionGroup var keeping: KeepOptions
    @OptionGroup var report: Report

    func validate() throws {
        guard keeping.policy != nil else {
            throw ValidationError("Give what to keep: --keep, --keep-within or --keep-daily.")
        }
    }

    func run() throws {
        try report.run([repository]) { repository, _ in
            let done = try BackupRepository(repository).prune(keeping: keeping.policy ?? RetentionPolicy())
            return Report.Result(
                Object(kept: done.kept, pruned: done.removed, prunedSegments: done.removedSegments),
                lines: [
                    ("kept", "\(done.kept.count)"),
                    ("removed", KeepOptions.text(done)),
                ]
            )
        }
    }

    private struct Object: Encodable {
        let kept: [UInt64]
        let pruned: [UInt64]
        let prunedSegments: Int
    }
}
