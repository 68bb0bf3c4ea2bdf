import Foundation
import TestSupport
import Testing

/// The completions of `rekey help` by the shells themselves.
@Suite(.once) struct CompletionTests {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    /// How a shell is asked for what can stand in the place of the last word. zsh has no such question: its own function that shows
    /// words is replaced.
    private static let questions = [
        "bash": """
        source ./script; words=("$@"); COMP_WORDS=("${words[@]}"); COMP_CWORD=$((${#words[@]} - 1))
        _rekey rekey "${words[-1]}" "${words[-2]}"; printf '%s\\n' "${COMPREPLY[@]}"
        """,
        "zsh": """
        compdef() { : }; _describe() { local name=$argv[-1]; print -l "${(@P)name}" }
        source ./script; words=("$@"); CURRENT=$#words; shift words; (( CURRENT-- )); _rekey_help
        """,
        "fish": "source ./script; complete -C (string join ' ' -- $argv)",
    ]

    static func isInstalled(_ shell: String) -> Bool {
        (try? Program.run("/usr/bin/env", [shell, "-c", "exit 0"]).status) == 0
    }

    /// The words that the shell offers, each with what the shell shows beside it.
    private func offered(_ shell: String, _ words: [String]) throws -> [String] {
        let script = try Program.run(Program.built("rekey"), ["--generate-completion-script", shell])
        _ = try directory.write(script.output.utf8, to: "script")
        let options = ["bash": ["--norc", "-c"], "zsh": ["-fc"], "fish": ["--no-config", "-c"]]
        let question = "cd '\(directory.path)'; \(try #require(Self.questions[shell]))"
        let name = shell == "fish" ? [] : [shell]
        let outcome = try Program.run(
            "/usr/bin/env",
            [shell] + (options[shell] ?? []) + [question] + name + words
        )
        #expect(outcome.errors.isEmpty, "\(outcome.errors)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: ["bash", "zsh", "fish"].filter(isInstalled)) func helpOffersCommandsAndTopics(_ shell: String)
        throws
    {
        let words = try offered(shell, ["rekey", "help", ""]).map { String($0.prefix { !":\t".contains($0) }) }
        for word in ["verify", "keyring", "keys", "exit-status", "json", "environment"] {
            #expect(words.filter { $0 == word }.count == 1, "\(shell): \(words)")
        }
        #expect(!words.contains("rotate"))
    }

    @Test(arguments: ["bash", "zsh", "fish"].filter(isInstalled)) func helpOffersCommandsOfKeyring(_ shell: String)
        throws
    {
        let words = try offered(shell, ["rekey", "help", "keyring", ""]).map {
            String($0.prefix { !":\t".contains($0) })
        }
        #expect(words.contains("rotate") && words.contains("init") && !words.contains("keys"), "\(shell): \(words)")
        #expect(try offered(shell, ["rekey", "help", "verify", ""]).isEmpty)
    }

    @Test(arguments: ["fish", "zsh"].filter(isInstalled)) func abstractKeepsApostrophe(_ shell: String) throws {
        #expect(
            try offered(shell, ["rekey", "help", ""]).contains { $0.hasPrefix("verify") && $0.contains("SQLite's") }
        )
    }

    @Test func scriptIsGivenForEachSpelling() throws {
        let rekey = Program.built("rekey")
        let script = try Program.run(rekey, ["--generate-completion-script", "bash"]).output
        #expect(script.contains("exit-status") && script.ranges(of: "_rekey_help() {").count == 1)
        #expect(try Program.run(rekey, ["--generate-completion-script=bash"]).output == script)
        let detected = try Program.run("/usr/bin/env", ["SHELL=/bin/bash", rekey, "--generate-completion-script"])
        #expect(detected.output == script)
        #expect(try Program.run(rekey, ["--generate-completion-script", "tcsh"]).status != 0)
    }
}
