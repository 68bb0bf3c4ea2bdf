import ArgumentParser
import Rekeying

/// `rekey backups prune REPOSITORY`
struct BackupsPrune: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove generations that no rule keeps, and what only they need.",
        usage: "rekey backups prune <repository> [<options>]",
        discussion: "A generation is kept if any of the rules that are given keeps it. The newest is always kept."
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @Option(help: ArgumentHelp("Keep so many of the newest.", valueName: "count"))
    var keep: Int?
    @Option(
        help: ArgumentHelp("Keep those that are not older, such as 12h or 30d.", valueName: "age"),
        transform: BackupsPrune.age
    )
    var keepWithin: Duration?
    @Option(help: ArgumentHelp("Keep the newest of each day, for so many days.", valueName: "count"))
    var keepDaily: Int?
    @OptionGroup var report: Report

    func validate() throws {
        guard keep != nil || keepWithin != nil || keepDaily != nil else {
            throw ValidationError("Give what to keep: --keep, --keep-within or --keep-daily.")
        }
        for (name, count) in [("--keep", keep), ("--keep-daily", keepDaily)] where count ?? 1 < 1 {
            throw ValidationError("\(name): give a number from 1.")
        }
    }

    /// A number and a unit: minutes, hours or days.
    static func age(_ text: String) throws -> Duration {
        let units: [Character: Int64] = ["m": 60, "h": 3600, "d": 86_400]
        guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()),
            (1...1_000_000).contains(count)
        else {
            throw ValidationError("--keep-within: \(text) is no age such as 12h or 30d.")
        }
        return .seconds(count * unit)
    }

    func run() throws {
        try report.run([repository]) { repository, _ in
            let policy = RetentionPolicy(newest: keep, age: keepWithin, days: keepDaily)
            let done = try BackupRepository(repository).prune(keeping: policy)
            return Report.Result(
                Object(kept: done.kept, pruned: done.removed, prunedSegments: done.removedSegments),
                lines: [
                    ("kept", "\(done.kept.count)"),
                    ("removed", "\(done.removed.count), and \(done.removedSegments) segments"),
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
