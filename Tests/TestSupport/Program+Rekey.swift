import Foundation

extension Program {
    /// Runs `rekey` in a directory, with arguments as a shell reads them; `before` are other commands of that shell.
    package static func rekey(
        _ arguments: String,
        in directory: TemporaryDirectory,
        before: String = "",
        input: String = ""
    ) throws -> Outcome {
        let line = "cd \"$0\" && \(before.isEmpty ? "" : before + " && ")exec \"$1\" \(arguments)"
        return try run("/bin/sh", ["-c", line, directory.path, built("rekey")], input: input)
    }

    /// Runs commands of a guide in a directory, as a shell does that finds `rekey`; the first that fails ends them.
    package static func commands(_ script: String, in directory: TemporaryDirectory) throws -> Outcome {
        let products = (built("rekey") as NSString).deletingLastPathComponent
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try run(
            "/usr/bin/env",
            ["bash", "-euo", "pipefail", "-c", "cd '\(directory.path)'\n" + script],
            environment: ["PATH": "\(products):\(path)"]
        )
    }

    /// The blocks of commands of a text in Markdown, as one script.
    package static func script(ofGuide text: String) -> String {
        text.components(separatedBy: "```sh\n").dropFirst()
            .compactMap { $0.components(separatedBy: "```").first }.joined()
    }
}
