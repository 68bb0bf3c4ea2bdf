internal import CSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// What a program prints, as a secret. The program is found by `PATH` and run without a shell.
enum CommandOutput {
    static func read(_ arguments: [String]) throws -> SecretBytes {
        guard let program = arguments.first, !program.isEmpty else {
            throw KeySourceError(source: "command", problem: .missing)
        }
        // The arguments may be secrets of another program's.
        let name = "command \(program)"
        let (child, output) = try start(arguments, name)
        defer { Platform.close(output) }
        do {
            let secret = try KeySource.readAll(output, name: name)
            let status = wait(for: child)
            guard status == 0 else { throw KeySourceError(source: name, problem: .commandFailed(status: status)) }
            return secret
        } catch let error as KeySourceError where error.problem == .tooLarge {
            // It would wait for a reader for ever.
            kill(child, SIGTERM)
            _ = wait(for: child)
            throw error
        }
    }

    private static func start(_ arguments: [String], _ name: String) throws -> (child: pid_t, output: Int32) {
        var copies: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        var output: Int32 = -1
        let child = copies.withUnsafeMutableBufferPointer { csystem_spawn($0.baseAddress, &output) }
        guard child > 0 else { throw KeySourceError(source: name, problem: .system(errno)) }
        return (child, output)
    }

    /// The exit status, or 128 and the number of the signal that ended it, as shells have it.
    private static func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        // > WIFEXITED, WEXITSTATUS and WTERMSIG are macros.
        return status & 0x7f == 0 ? status >> 8 & 0xff : 128 + (status & 0x7f)
    }
}
