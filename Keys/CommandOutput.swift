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

    static func read(_ arguments: [String]) throws -> SecretBytes {
        guard let program = arguments.first, !program.isEmpty else {
            throw KeySourceError(source: "command", problem: .missing)
        }
        // The arguments may be secrets of another program's.
        let name = "command \(program)"
        let (child, output) = try start(arguments, name)
        let secret = Result { try KeySource.readAll(output, name: name) }
        // One that still writes ends then.
        Platform.close(output)
        if case .failure = secret { kill(child, SIGTERM) }
        let status = try wait(for: child, name)
        guard status == 0 || (try? secret.get()) == nil else {
            throw KeySourceError(source: name, problem: .commandFailed(status: status))
        }
        return try secret.get()
    }

    private static func start(_ arguments: [String], _ name: String) throws -> (child: pid_t, output: Int32) {
        var copies: [UnsafeMutablePointer<CChar>?] = arguments.map(copy) + [nil]
        var names: [UnsafeMutablePointer<CChar>?] = withheld.withLock { $0 }.map(copy) + [nil]
        defer { for copy in copies + names { free(copy) } }
        var output: Int32 = -1
        let child = copies.withUnsafeMutableBufferPointer { arguments in
            names.withUnsafeMutableBufferPointer { csystem_spawn(arguments.baseAddress, $0.baseAddress, &output) }
        }
        guard child > 0 else { throw KeySourceError(source: name, problem: .system(errno)) }
        return (child, output)
    }

    /// The text as a C string, to be freed.
    private static func copy(_ text: String) -> UnsafeMutablePointer<CChar>? {
        strdup(text.pathCharacters)
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
