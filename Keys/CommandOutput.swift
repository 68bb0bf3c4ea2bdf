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
            child = try ChildProcess(arguments, input: limit == nil ? nil : "/dev/null", output: .piped)
        } catch {
            throw KeySourceError(.system, path: name, errno: error.code)
        }
        let secret: SecretBytes
        do {
            // One that still writes ends then.
            defer { Platform.close(child.output) }
            secret = try KeySource.readAll(child.output, name: name) {
                if let limit, let end { try waitForOutput(child.output, until: end, limit, name) }
            }
        } catch {
            child.end()
            throw error
        }
        if let limit, let end, !child.hasEnded(by: end) {
            child.end()
            throw KeySourceError(.timedOut, path: name, limit: limit)
        }
        let status: Int32
        do {
            status = try child.wait().status
        } catch {
            // Where this process does not keep its children, whether the program failed cannot be known.
            throw KeySourceError(.system, path: name, errno: error.code)
        }
        guard status == 0 else { throw KeySourceError(.commandFailed, path: name, status: status) }
        return secret
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
}
