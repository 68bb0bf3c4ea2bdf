import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
import Rekeying

@main
struct Rekey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Check, encrypt and decrypt SQLCipher databases and change their keys without losing data.",
        discussion: """
            Format and page size are detected. If several files are given, all are processed; the exit status is that of the \
            first that failed, or of `rekey status` the gravest. rekey waits up to five seconds for locks of others; --wait sets another limit. Put file names that begin with \
            a dash after `--`, after all options.
            """,
        version:
            """
            rekey \(CipherDBVersion.current), \(Engine.current), page cryptography: \(Engine.current.pageCryptography), \
            damage detection: \(Engine.current.damageDetection)
            """,
        subcommands: [
            Inspect.self, Status.self, Verify.self, Change.self, Encrypt.self, Decrypt.self, Migrate.self, Recover.self,
            Copy.self, Backup.self, Restore.self, BackupsCommand.self,
            Cleanup.self, KeyringCommand.self, Calibrate.self,
        ]
    )

    /// The arguments but the first. Names of files may be other bytes than UTF-8.
    private static var arguments: [String] {
        // The C library keeps them as long as the process lives, and nothing here writes to them.
        (1..<max(1, Int(CommandLine.argc))).compactMap {
            CommandLine.unsafeArgv[$0].map { String(pathBytes: Platform.pathBytes($0)) }
        }
    }

    /// Secrets lie in memory that is left out of core dumps, but the engine and the runtime have copies for a while.
    static func main() {
        // Before there is any secret in the process.
        Interruption.endAtFaults()
        Interruption.endAtSignals()
        Interruption.endPrograms()
        StandardStreams.prepare()
        Platform.forbidDumps()
        Interruption.holdWhileFilesAreWritten()
        // Swift reads the arguments in /proc. Without them every command would print help and succeed.
        guard CommandLine.argc > 0 else {
            Output.tell("rekey: the arguments cannot be read: mount /proc\n")
            exit(withError: ExitCode(ExitStatus.failure.code))
        }
        do {
            try run(arguments)
        } catch
            where error is FileError || error is UnwritableMetrics || error is UnknownCommand
            || error is UnknownOption
        {
            // Errors about no database file: of the output, or of the command line.
            Output.tellLine("rekey: \(error)")
            exit(withError: ExitCode(ExitStatus(error).code))
        } catch {
            let message = fullMessage(for: error)
            if !message.isEmpty { Output.tell(Output.visible(arguments, in: message) + "\n") }
            exit(withError: ExitCode(exitCode(for: error).rawValue))
        }
    }

    private static func run(_ arguments: [String]) throws {
        if let help = HelpTopic.text(for: arguments) { return try Output.write(help) }
        if let script = CompletionScript.text(for: arguments) { return try Output.write(script) }
        try Suggestion.check(arguments)
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch  where exitCode(for: error).isSuccess {
            // Help, or a version.
            try Output.write(CommandHelp.shortened(fullMessage(for: error)) + "\n")
        }
    }
}
