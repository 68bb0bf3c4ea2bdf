import ArgumentParser
import Rekeying

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
            let generations = try BackupRepository(repository).generations()
            if generations.isEmpty {
                return Report.Result(Object(generations: []), line: "\(repository): no generation", status: .done)
            }
            return Report.Result(
                Object(generations: generations.map(GenerationObject.init)),
                lines: generations.map { ("\($0.number)", GenerationObject.line($0)) }
            )
        }
    }

    private struct Object: Encodable {
        let generations: [GenerationObject]
    }
}
