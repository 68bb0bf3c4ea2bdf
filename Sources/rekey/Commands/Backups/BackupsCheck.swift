import ArgumentParser
import Rekeying

/// `rekey backups check REPOSITORY`
struct BackupsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read everything in a repository, and compare all of it with its digests.",
        usage: "rekey backups check <repository> [<options>]",
        discussion: """
            Needs no key, and so finds damage and missing objects, but not what somebody has replaced together with \
            its digests: `rekey restore` with the key finds that.
            """
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @Option(help: ArgumentHelp("Report a problem if the newest generation has a lower number.", valueName: "number"))
    var atLeast: UInt64?
    @OptionGroup var report: Report

    func run() throws {
        try report.run([repository]) { repository, progress in
            let found = try BackupRepository(repository).check(atLeast: atLeast) {
                try progress.show(.checking, done: $0, all: $1)
            }
            var lines = [
                ("generations", "\(found.sound.count) can be restored"),
                ("read", "\(found.size) bytes"),
            ]
            lines += found.problems.map { ("problem", $0) }
            lines.append(("sound", found.problems.isEmpty ? "yes" : "no"))
            return Report.Result(
                Object(sound: found.sound, size: found.size, problems: found.problems, ok: found.problems.isEmpty),
                lines: lines,
                status: found.problems.isEmpty ? .done : .damaged
            )
        }
    }

    private struct Object: Encodable {
        let sound: [UInt64]
        let size: Int64
        let problems: [String]
        let ok: Bool
    }
}
