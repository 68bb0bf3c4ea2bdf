import Foundation
import TestSupport
import Testing

/// `rekey --help`, the help of each command, and the topics.
@Suite(.once) struct HelpTests {
    /// Of each command and subcommand, by ArgumentParser's own account.
    private static let commands: [[String]] = {
        let dump = try? Program.run(Program.built("rekey"), ["--experimental-dump-help"]).output
        let object = dump.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) } as? [String: Any]
        func names(_ command: Any?, _ outer: [String]) -> [[String]] {
            let all = (command as? [String: Any])?["subcommands"] as? [[String: Any]] ?? []
            return all.filter { $0["commandName"] as? String != "help" }.flatMap { command in
                let name = outer + [command["commandName"] as? String ?? ""]
                return [name] + names(command, name)
            }
        }
        return names(object?["command"], [])
    }()

    private func rekey(_ arguments: [String]) throws -> Program.Outcome {
        try Program.run(Program.built("rekey"), arguments)
    }

    private func lines(_ arguments: [String]) throws -> [Substring] {
        let outcome = try rekey(arguments)
        #expect(outcome.status == 0 && outcome.errors.isEmpty, "\(arguments)")
        return outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
    }

    @Test(arguments: [[], ["--help"], ["-h"], ["help"]]) func overviewFitsOneScreen(_ arguments: [String]) throws {
        let lines = try lines(arguments)
        #expect(lines.count <= 40 && lines.allSatisfy { $0.count <= 80 })
        #expect(lines.first?.hasPrefix("Usage: rekey ") == true)
        #expect(Self.commands.count > 30)
        for command in Self.commands where command.count == 1 {
            #expect(lines.contains { $0.hasPrefix("  \(command[0]) ") }, "\(command)")
        }
    }

    @Test(arguments: commands) func commandHelpIsShort(_ command: [String]) throws {
        let lines = try lines(command + ["--help"])
        #expect(lines.count <= 60 && lines.allSatisfy { $0.count <= 80 })
        #expect(try self.lines(["help"] + command) == lines)
        #expect(lines[0].hasPrefix("OVERVIEW: "))
        #expect(!lines.prefix { !$0.hasPrefix("USAGE: ") }.contains { $0.contains("  ") }, "runs of spaces")
        // Shared options are explained once.
        let options = lines.filter { $0.hasPrefix("  --") }
        #expect(!options.contains { $0.contains("passphrase-") || $0.contains("key-file") || $0.contains("--slot ") })
        let takesKey =
            !["keyring", "cleanup", "calibrate", "backups"].contains(command[0])
            || command.count > 1 && command[0] == "keyring" || command == ["backups", "check"]
        #expect(lines.contains { $0.contains("'rekey help keys'") } == takesKey)
    }

    @Test func helpNamesEveryOption() throws {
        let dump = try rekey(["--experimental-dump-help"]).output
        let names = Set(dump.matches(of: /"kind" : "long",\s+"name" : "([a-z-]+)"/).map { "--\($0.output.1)" })
        #expect(names.count > 40)
        let help =
            try Self.commands.map { try rekey(["help"] + $0).output } + [rekey(["help", "keys"]).output]
        let shown = Set(help.flatMap { $0.matches(of: /--[a-z-]+/).map { String($0.output) } })
        #expect(names.subtracting(shown) == [])
    }

    @Test func shellsCompletePathsAsFiles() throws {
        let names: Set = ["path", "file", "files", "destination", "backup"]
        var paths = 0
        func check(_ command: [String: Any]) {
            for argument in command["arguments"] as? [[String: Any]] ?? [] {
                guard names.contains(argument["valueName"] as? String ?? "") else { continue }
                paths += 1
                let kind = argument["completionKind"] as? [String: Any]
                #expect(kind?["file"] != nil, "\(command["commandName"] ?? ""): \(argument["abstract"] ?? "")")
            }
            for subcommand in command["subcommands"] as? [[String: Any]] ?? [] { check(subcommand) }
        }
        let dump = try rekey(["--experimental-dump-help"]).output
        let object = try JSONSerialization.jsonObject(with: Data(dump.utf8)) as? [String: Any]
        check(try #require(object?["command"] as? [String: Any]))
        #expect(paths > 100)
    }

    @Test(arguments: ["keys", "exit-status", "json", "environment"]) func topicIsPrinted(_ topic: String) throws {
        let lines = try lines(["help", topic])
        #expect(lines.count > 5 && lines.allSatisfy { $0.count <= 80 })
        #expect(try self.lines([]).contains { $0.hasPrefix("  \(topic) ") })
    }

    @Test(arguments: [
        (["chnage", "a.db"], "'change'"), (["verfy"], "'verify'"), (["keyring", "rotat", "a.db"], "'rotate'"),
        (["Inspect"], "'inspect'"), (["frobnicate"], "'rekey --help'"), (["key", "--json"], "'rekey --help'"),
    ])
    func misspeltCommandGetsSuggestion(_ arguments: [String], _ expected: String) throws {
        let outcome = try rekey(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(
            outcome.errors.contains("there is no command") && outcome.errors.contains(expected),
            "\(outcome.errors)"
        )
    }

    @Test(arguments: [
        (["help", "keyz"], "'keys'"), (["help", "rotat"], "'keyring rotate'"), (["help", "keyring", "lis"], "'list'"),
        (["help", "exit"], "'rekey --help'"), (["help", "keys", "all"], "Unexpected argument 'all' after 'keys'"),
        (["rotate", "a.db"], "'keyring rotate'"), (["add", "a.db"], "'keyring add'"),
        (["recovery"], "'keyring recovery'"),
    ])
    func misspeltTopicOrKeyringCommandGetsSuggestion(_ arguments: [String], _ expected: String) throws {
        let outcome = try rekey(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty, "\(arguments)")
        #expect(outcome.errors.contains(expected), "\(outcome.errors)")
    }

    @Test(arguments: [
        (["verify", "a.db", "--key", "secret"], "'--key-file'"), (["verify", "--key=secret"], "'--key-file'"),
        (["verify", "a.db", "--passphrase", "secret"], "'--passphrase-file'"),
        (["verify", "a.db", "--password-file", "f"], "'--passphrase-file'"),
        (["verify", "a.db", "--password-fd", "3"], "'--passphrase-fd'"),
        (["change", "a.db", "--new-password", "secret"], "'--new-passphrase-file'"),
        (["encrypt", "a.db", "--new-passphrase-file", "f"], "'--passphrase-file'"),
        (["encrypt", "a.db", "--new-key-file", "f"], "'--key-file'"),
        (["keyring", "add", "a.db", "--new-key", "f"], "'--new-key-file'"),
    ])
    func optionOfOtherToolsGetsSuggestion(_ arguments: [String], _ expected: String) throws {
        let outcome = try rekey(arguments)
        #expect(outcome.status == 64 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("did you mean \(expected)?"), "\(outcome.errors)")
        #expect(!outcome.errors.contains("secret"))
    }

    @Test func nameBehindOptionsIsNoOption() throws {
        let outcome = try rekey(["verify", "--key-file", "f", "--", "--key"])
        #expect(outcome.status == 66, "\(outcome.errors)")
        #expect(try !rekey(["calibrate", "--key", "x"]).errors.contains("--key-file"))
    }

    @Test func commandIsNotTakenForMisspelt() throws {
        #expect(try rekey(["--version"]).status == 0)
        #expect(try rekey(["verify"]).errors.contains("Missing expected argument"))
        #expect(try rekey(["keyring", "--help"]).status == 0)
    }
}
