import ArgumentParser
import CipherDB
import CipherKeys
internal import CipherSystem
import Rekeying

@main
struct Rekey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Checks, encrypts and decrypts SQLite databases and changes their keys, without losing one.",
        discussion: """
            Databases are SQLCipher files. A secret is asked for at the terminal, or comes from a file, a descriptor or \
            the environment; it is never an argument, because every user of a machine can read those. The format and the \
            page size are found by trying.

            Of several files the first that failed decides on the exit status; the others are worked on all the same. \
            Names that begin with a dash stand behind `--`, and behind all options. A lock of another connection is waited for, five \
            seconds at most. `--generate-completion-script bash` (zsh, fish) prints completions.

            EXIT STATUS
            \(ExitStatus.table)

            JSON

            With --json one object for each file is printed to standard output, with the key `file` and these:
              inspect: kind (encrypted, plaintext, empty, notADatabase), size in bytes; with a key that fits format (1 to \
            4), pageSize in bytes, pageCount, advice (lines); with a \
            keyring keyring (as keyring list) and keyringAdvice (lines)
              verify, change --in-place: format, pageSize, pages, damagedPages (numbers, from 1), problems (lines of \
            SQLite's check), ok
              change, encrypt, decrypt, migrate, copy: format (missing for plaintext), pageSize, pages, ok; where there \
            is nothing to do, note and ok
              recover: format, pageSize, pages, damagedPages, tables (each with name, rows, brokenRows, refusedRows, \
            lostPages and missing: ranges of row identifiers), schemaWhole, unassignedRows, unassignedTable, notMade, \
            problems, ok
              with --dry-run: dryRun, fromFormat, format, pageSize, byPages, size, neededSpace, freeSpace, leftovers
              cleanup: removed (paths)
              keyring list, status: keyring (path), generation, created, written, keyCreated (days), olderKeys, version, \
            rotationPending, slots (each with number, kind, label, stretched, created, changed); status also database \
            (current, next, older, other)
              keyring unlock: slot, label; other keyring commands: keyring and ok, or as change
              calibrate: function, parameters
              after an error: error, exitStatus, message. The error is the case of the library's KeyError (wrongKey, \
            keyMissing, notEncrypted, notADatabase, damaged, otherFormat, engineHasNoEncryption, engineHidesDamage) or of its KeyringError \
            (such as wrongSecret, altered, rotationPending), or else a word for the \
            exit status (\(ExitStatus.allCases.dropFirst().map(\.name).joined(separator: ", "))).
            Messages go to standard error all the same. Options that cannot be understood, or that exclude each other, are \
            told there only, without an object.
            """,
        version:
            "rekey \(CipherDBVersion.current), \(Engine.current), damage detection: \(Engine.current.damageDetection)",
        subcommands: [
            Inspect.self, Verify.self, Change.self, Encrypt.self, Decrypt.self, Migrate.self, Recover.self, Copy.self,
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
        StandardStreams.prepare()
        Platform.forbidDumps()
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
        } catch let error as FileError {
            // Of what is not about one file, only its output.
            Output.tell("rekey: \(error)\n")
            exit(withError: ExitCode(ExitStatus(error as any Error).code))
        } catch {
            exit(withError: error)
        }
    }
}
