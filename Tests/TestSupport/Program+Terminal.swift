extension Program {
    /// Runs a program at a terminal of its own, types one of `answers` at each prompt, and returns what the terminal showed and the
    /// exit status. A prompt ends with a colon.
    package static func atTerminal(
        _ path: String,
        _ arguments: [String],
        answers: [String]
    ) throws -> (shown: String, status: Int32) {
        let script = """
            import os, pty, sys, time
            pid, terminal = pty.fork()
            if pid == 0:
                os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
            shown = b""
            answers = sys.argv[2].split("|")
            while True:
                try:
                    part = os.read(terminal, 1000)
                except OSError:
                    break
                if not part:
                    break
                shown += part
                if part.rstrip().endswith(b":") and answers:
                    time.sleep(0.1)
                    os.write(terminal, answers.pop(0).encode() + b"\\n")
            _, status = os.waitpid(pid, 0)
            sys.stdout.write(shown.decode(errors="replace"))
            sys.exit(os.waitstatus_to_exitcode(status))
            """
        let outcome = try run(
            "/usr/bin/python3",
            ["-c", script, path, answers.joined(separator: "|")] + arguments
        )
        return (outcome.output, outcome.status)
    }
}
