internal import CCipherSystem
internal import CipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a program prints, as a secret. The program is found by `PATH` and run without a shell.
enum CommandOutput {
    /// Variables of the environment that the program does not get.
    static let withheld = Lock<Set<String>>([])

    /// - Parameter limit: The time after which the program is ended. It then has no standard input; without a limit it has this
    ///   process's.
    static func read(_ arguments: [String], limit: Duration? = nil) throws -> SecretBytes {
        guard let program = arguments.first, !program.isEmpty else {
            throw KeySourceError(source: "command", problem: .missing)
        }
        // The arguments may be secrets of another program's.
        let name = "command \(program)"
        let end = limit.map { ContinuousClock.now + $0 }
        let (child, output) = try start(arguments, name, hasInput: limit == nil)
        let secret = Result {
            try KeySource.readAll(output, name: name) {
                if let limit, let end { try waitForOutput(output, until: end, limit, name) }
            }
        }
        // One that still writes ends then.
        Platform.close(output)
        if case .failure = secret { kill(child, SIGTERM) }
        let status: Int32
        if let end {
            // One that was asked to end gets a second for that.
            let latest = (try? secret.get()) == nil ? ContinuousClock.now + .seconds(1) : end
            let ended = try wait(for: child, until: latest, name)
            if !ended.inTime, let limit { throw KeySourceError(source: name, problem: .timedOut(limit)) }
            status = ended.status
        } else {
            status = try wait(for: child, name)
        }
        guard status == 0 || (try? secret.get()) == nil else {
            throw KeySourceError(source: name, problem: .commandFailed(status: status))
        }
        return try secret.get()
    }

    private static func start(
        _ arguments: [String],
        _ name: String,
        hasInput: Bool
    ) throws -> (child: pid_t, output: Int32) {
        var copies: [UnsafeMutablePointer<CChar>?] = arguments.map(copy) + [nil]
        var names: [UnsafeMutablePointer<CChar>?] = withheld.withLock { $0 }.map(copy) + [nil]
        defer { for copy in copies + names { free(copy) } }
        var output: Int32 = -1
        let child = copies.withUnsafeMutableBufferPointer { arguments in
            names.withUnsafeMutableBufferPointer { names in
                csystem_spawn(arguments.baseAddress, names.baseAddress, hasInput ? nil : "/dev/null", &output)
            }
        }
        guard child > 0 else { throw KeySourceError(source: name, problem: .system(errno)) }
        return (child, output)
    }

    /// The text as a C string, to be freed.
    private static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? {
        strdup(text.pathCharacters)
    }

    /// Returns when the program has written something, or closed its output.
    private static func waitForOutput(
        _ output: Int32,
        until end: ContinuousClock.Instant,
        _ limit: Duration,
        _ name: String
    ) throws {
        var descriptor = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
        repeat {
            if poll(&descriptor, 1, 100) > 0 { return }
        } while ContinuousClock.now < end
        throw KeySourceError(source: name, problem: .timedOut(limit))
    }

    /// As ``wait(for:_:)``, but kills the program where it has not ended by then.
    private static func wait(
        for child: pid_t,
        until end: ContinuousClock.Instant,
        _ name: String
    ) throws -> (status: Int32, inTime: Bool) {
        var info = siginfo_t()
        // It remains to be waited for.
        while waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo == 0 {
            if ContinuousClock.now >= end {
                kill(child, SIGKILL)
                return (try wait(for: child, name), false)
            }
            Platform.sleep(milliseconds: 5)
        }
        return (try wait(for: child, name), true)
    }

    /// The exit status, or 128 and the number of the signal that ended it, as shells have it.
    private static func wait(for child: pid_t, _ name: String) throws -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            // Where this process does not keep its children, whether the program failed cannot be known.
            if errno != EINTR { throw KeySourceError(source: name, problem: .system(errno)) }
        }
        // > WIFEXITED, WEXITSTATUS and WTERMSIG are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
    }
}
