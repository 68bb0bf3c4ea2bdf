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
    /// - Parameter limit: The time after which the program is ended. It then has no standard input; without a limit it has this
    ///   process's.
    static func read(_ arguments: [String], limit: Duration? = nil) throws -> SecretBytes {
        guard let program = arguments.first, !program.isEmpty else {
            throw KeySourceError(.missing, path: "command")
        }
        // The arguments may be secrets of another program's.
        let name = "command \(program)"
        let end = limit.map { ContinuousClock.now + $0 }
        let child: ChildProcess
        do {
            child = try ChildProcess(arguments, hasInput: limit == nil, output: .piped)
        } catch {
            throw KeySourceError(.system, path: name, errno: error.code)
        }
        let secret = Result {
            try KeySource.readAll(child.output, name: name) {
                if let limit, let end { try waitForOutput(child.output, until: end, limit, name) }
            }
        }
        // One that still writes ends then.
        Platform.close(child.output)
        if case .failure = secret { child.terminate() }
        let status: Int32
        if let end {
            // One that was asked to end gets a second for that.
            let latest = (try? secret.get()) == nil ? ContinuousClock.now + .seconds(1) : end
            let ended = try wait(for: child, until: latest, name)
            if !ended.inTime, let limit { throw KeySourceError(.timedOut, path: name, limit: limit) }
            status = ended.status
        } else {
            status = try wait(for: child, name)
        }
        guard status == 0 || (try? secret.get()) == nil else {
            throw KeySourceError(.commandFailed, path: name, status: status)
        }
        return try secret.get()
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
        throw KeySourceError(.timedOut, path: name, limit: limit)
    }

    /// As ``wait(for:_:)``, but kills the program where it has not ended by then.
    private static func wait(
        for child: ChildProcess,
        until end: ContinuousClock.Instant,
        _ name: String
    ) throws -> (status: Int32, inTime: Bool) {
        while !child.hasEnded {
            if ContinuousClock.now >= end {
                child.kill()
                return (try wait(for: child, name), false)
            }
            Platform.sleep(milliseconds: 5)
        }
        return (try wait(for: child, name), true)
    }

    /// The exit status, as ``ChildProcess/wait()`` has it.
    private static func wait(for child: ChildProcess, _ name: String) throws -> Int32 {
        do {
            return try child.wait()
        } catch {
            // Where this process does not keep its children, whether the program failed cannot be known.
            throw KeySourceError(.system, path: name, errno: error.code)
        }
    }
}
