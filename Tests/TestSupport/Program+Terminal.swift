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

    /// Sends each of `signals`, named without `SIG`, to a run of a program that waits for a secret at a terminal of its own. Returns a line
    /// for each: its name, whether the prompt echoed, and whether the terminal echoes afterwards, as `TERM False True`.
    package static func signalledAtPrompt(_ path: String, _ arguments: [String], signals: [String]) throws -> [String] {
        let script = """
            import os, pty, signal, sys, termios
            # The threads of the tests hold signals back.
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            def echoes(terminal):
                return bool(termios.tcgetattr(terminal)[3] & termios.ECHO)
            for name in sys.argv[2].split("|"):
                number = getattr(signal, "SIG" + name, None)
                if number is None:
                    continue
                pid, terminal = pty.fork()
                if pid == 0:
                    for each in range(1, signal.NSIG):
                        try:
                            signal.signal(each, signal.SIG_DFL)
                        except (OSError, ValueError):
                            pass
                    os.execv(sys.argv[1], [sys.argv[1]] + sys.argv[3:])
                shown = b""
                while not shown.rstrip().endswith(b":"):
                    shown += os.read(terminal, 1000)
                prompted = echoes(terminal)
                os.kill(pid, number)
                os.waitpid(pid, 0)
                print(name, prompted, echoes(terminal))
            """
        let outcome = try run("/usr/bin/python3", ["-c", script, path, signals.joined(separator: "|")] + arguments)
        return outcome.output.split(separator: "\n").map(String.init) + (outcome.status == 0 ? [] : [outcome.errors])
    }
}
