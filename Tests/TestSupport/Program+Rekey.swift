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
}
