import ArgumentParser

/// `rekey backups …`
struct BackupsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backups",
        abstract: "List, check and prune the generations of a repository of backups.",
        subcommands: [BackupsList.self, BackupsCheck.self, BackupsPrune.self],
        defaultSubcommand: BackupsList.self
    )
}
