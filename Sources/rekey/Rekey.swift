import ArgumentParser
import CipherDB

@main
struct Rekey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Checks, encrypts and decrypts SQLite databases and changes their keys, without losing one.",
        discussion: """
            Databases are SQLCipher files. A secret is asked for at the terminal, or comes from a file, a descriptor or \
            the environment; it is never an argument, because every user of a machine can read those.

            EXIT STATUS
            \(ExitStatus.table)
            """,
        version: "rekey \(CipherDBVersion.current), \(Engine.current)",
        subcommands: [
            Inspect.self, Verify.self, Change.self, Encrypt.self, Decrypt.self, Migrate.self, Copy.self, Cleanup.self,
        ]
    )
}
