import ArgumentParser
import Rekeying

/// `rekey backups …`
struct BackupsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "List, check and prune the generations of a repository of backups.",
        subcommands: [BackupsList.self, BackupsCheck.self, BackupsPrune.self],
        defaultSubcommand: BackupsList.self
    )
}

/// `rekey backups list REPOSITORY`
struct BackupsList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the generations, the oldest first, with time and size."
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @OptionGroup var report: Report

    func run() throws {
        try report.run([repository]) { repository, _ in
            var damaged: [String] = []
            let generations = try BackupRepository(repository).generations { damaged.append("\($0)") }
            let object = Object(
                generations: generations.map(GenerationObject.init),
                problems: damaged.isEmpty ? nil : damaged
            )
            if generations.isEmpty, damaged.isEmpty {
                return Report.Result(object, line: "\(repository): no generation", status: .done)
            }
            return Report.Result(
                object,
                lines: generations.map { ("\($0.number)", GenerationObject.line($0)) }
                    + damaged.map { ("problem", $0) },
                status: damaged.isEmpty ? .done : .damaged
            )
        }
    }

    private struct Object: Encodable {
        let generations: [GenerationObject]
        let problems: [String]?
    }
}

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
                Object(
                    kept: done.kept,
                    pruned: done.removed,
                    prunedSegments: done.removedSegments,
                    prunedSize: done.removedSize
                ),
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
        let prunedSize: Int64
    }
}
