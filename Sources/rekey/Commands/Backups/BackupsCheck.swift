import ArgumentParser
import CipherDB
internal import CipherSystem
import Rekeying

/// `rekey backups check REPOSITORY`
struct BackupsCheck: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Read everything in a repository, and compare all of it with its digests.",
        usage: "rekey backups check <repository> [<options>]",
        discussion: """
            Needs no key. Without one it finds damage and missing objects, but not what somebody has replaced together \
            with its digests. With the key, the manifest of each generation that is under it and each page must also \
            have the right MAC. A keyring has the keys of generations from before a rotation too, and the number of the \
            newest generation, for --at-least; a generation that none of its keys opens is a problem.
            """
    )

    @Argument(help: "The repository.", completion: .directory)
    var repository: String
    @Option(help: ArgumentHelp("Report a problem if the newest generation has a lower number.", valueName: "number"))
    var atLeast: UInt64?
    @Option(
        help: ArgumentHelp(
            "Also write what was found as metrics of Prometheus to this file, which is replaced in one step; none is left by a check that fails.",
            valueName: "path"
        ),
        completion: .file()
    )
    var prometheus: String?
    @OptionGroup(title: CommandHelp.keyOptions) var key: KeyOptions
    @OptionGroup var report: Report

    func run() throws {
        let metrics = prometheus.map { MetricsFile(path: $0, firstLine: RepositoryMetrics.firstLine) }
        // What an earlier check found does not stay if this one is cut off.
        if let metrics, !metrics.invalidate() {
            throw UnwritableMetrics(path: metrics.path, cause: "the old metrics could not be removed")
        }
        try report.run([repository]) { repository, progress in
            let fileKeys = FileKeys(key)
            let keys = try fileKeys.allIfNamed(for: repository)
            Interruption.watch()
            let location = BackupRepository(repository)
            let keyring = try fileKeys.unlockedKeyring()
            let noted = try keyring.flatMap(location.notedGeneration(in:))
            let found = try check(location, keys, keyring, atLeast: atLeast ?? noted) {
                try progress.show(.checking, done: $0, all: $1)
            }
            let restorable =
                key.keyring == nil ? found.sound : found.sound.filter { !found.underOtherKeys.contains($0) }
            let problems = found.problems
            var lines = [
                ("generations", BackupsCheck.count(of: restorable, isAll: problems.isEmpty)),
                ("proved", BackupsCheck.proof(found, isKeyGiven: keys != nil)),
                ("keyring", restorable.isEmpty ? "not looked for" : BackupsCheck.keyring(found)),
                ("read", "\(found.size) bytes"),
            ]
            lines += problems.map { ("problem", $0) }
            lines.append(("sound", problems.isEmpty ? "yes" : "no"))
            try metrics?.write(RepositoryMetrics.text(of: repository, found, restorable: restorable.count))
            return Report.Result(
                Object(
                    sound: restorable,
                    proved: keys.map { _ in found.proved },
                    provedByManifest: found.provedByManifest.isEmpty ? nil : found.provedByManifest,
                    underOtherKeys: keys.map { _ in found.underOtherKeys },
                    withKeyring: found.withKeyring,
                    size: found.size,
                    problems: problems,
                    ok: problems.isEmpty
                ),
                lines: lines,
                status: problems.isEmpty ? .done : .damaged
            )
        }
    }

    private func check(
        _ repository: BackupRepository,
        _ keys: [DatabaseKey]?,
        _ keyring: UnlockedKeyring?,
        atLeast: UInt64?,
        _ progress: (Int64, Int64) throws -> Void
    ) throws -> RepositoryCheck {
        guard let keys else { return try repository.check(atLeast: atLeast, progress: progress) }
        return try repository.check(
            provingBy: keys,
            of: key.database(self.repository),
            atLeast: atLeast,
            keyring: keyring,
            progress: progress
        )
    }

    private static func keyring(_ found: RepositoryCheck) -> String {
        switch found.withKeyring.count {
        case 0: "none is stored: a restore needs the key or the keyring from elsewhere"
        case found.sound.count: "stored: one of its secrets opens each of them"
        default: "stored, with the keys of \(NumberRanges(found.withKeyring).text(of: "generation"))"
        }
    }

    private static func count(of restorable: [UInt64], isAll: Bool) -> String {
        let count = "\(restorable.count) can be restored"
        guard !isAll, !restorable.isEmpty else { return count }
        return "\(count): \(NumberRanges(restorable).text(of: "number"))"
    }

    private static func proof(_ found: RepositoryCheck, isKeyGiven: Bool) -> String {
        guard isKeyGiven else { return "no: without the key" }
        let alone = found.provedByManifest.count
        let others = found.sound.count - found.proved.count - alone
        return "\(found.proved.count), manifest and pages by their MACs"
            + (alone == 0 ? "" : "; \(alone) by the manifest alone: the format has no MACs of pages")
            + (others == 0 ? "" : "; \(others) checked without the key: stored without one, or under another")
    }

    private struct Object: Encodable {
        let sound: [UInt64]
        let proved: [UInt64]?
        let provedByManifest: [UInt64]?
        let underOtherKeys: [UInt64]?
        let withKeyring: [UInt64]
        let size: Int64
        let problems: [String]
        let ok: Bool
    }
}
