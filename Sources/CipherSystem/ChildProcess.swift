internal import CCipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A program that this process started: the one place where it starts any.
///
/// It is found by `PATH` and run without a shell. It gets the environment of this process, its three standard streams and no other
/// descriptor.
package struct ChildProcess: Sendable {
    /// What an output stream of the program is.
    package enum Stream {
        /// That of this process.
        case inherited
        /// A pipe, to be read and closed by this process.
        case piped
        /// This open file.
        case descriptor(Int32)

        fileprivate var number: Int32 {
            switch self {
            case .inherited: csystem_inherited
            case .piped: csystem_piped
            case .descriptor(let descriptor): descriptor
            }
        }
    }

    /// How a program came to its end.
    package enum Ending: Equatable, Sendable {
        case exit(Int32)
        case signal(Int32)

        /// The exit status, or 128 and the number of the signal, as shells have it.
        package var status: Int32 {
            switch self {
            case .exit(let status): status
            case .signal(let number): 128 + number
            }
        }
    }

    package let number: Int32
    /// Where the standard output is read, if it is piped.
    package let output: Int32
    /// Where the standard error is read, if it is piped.
    package let errors: Int32

    /// Starts the program. Throws the `errno`.
    ///
    /// - Parameters:
    ///   - arguments: The first names the program.
    ///   - input: The path of the file that its standard input is; nil for that of this process.
    package init(
        _ arguments: [String],
        input: String?,
        output: Stream,
        errors: Stream = .inherited
    ) throws(Errno) {
        var streams = [output.number, errors.number]
        let started = ChildProcess.start(arguments, input: input, &streams)
        guard started.number > 0 else { throw Errno(code: started.error) }
        number = started.number
        (self.output, self.errors) = (streams[0], streams[1])
    }

    private static func start(
        _ arguments: [String],
        input: String?,
        _ streams: inout [Int32]
    ) -> (number: Int32, error: Int32) {
        let copies: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0.pathCharacters) } + [nil]
        let number = copies.withUnsafeBufferPointer { arguments in
            streams.withUnsafeMutableBufferPointer { streams in
                csystem_spawn(arguments.baseAddress, input, streams.baseAddress)
            }
        }
        let error = errno
        for copy in copies { free(copy) }
        return (number, error)
    }

    /// Whether it has ended; it remains to be waited for.
    package var hasEnded: Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(number), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_signo != 0
    }

    /// Waits until then at most; returns whether it has ended.
    package func hasEnded(by end: ContinuousClock.Instant) -> Bool {
        while !hasEnded {
            if .now >= end { return false }
            Platform.sleep(milliseconds: 5)
        }
        return true
    }

    /// Asks it to end, kills it if that takes more than a second, and waits for its end.
    package func end() {
        kill(SIGTERM)
        if !hasEnded(by: .now + .seconds(1)) { kill(SIGKILL) }
        _ = try? wait()
    }

    /// Waits for its end, once. Throws the `errno` where this process does not keep its children.
    package func wait() throws(Errno) -> Ending {
        var status: Int32 = 0
        _ = try Platform.retrying { Int(waitpid(number, &status, 0)) }
        // > WIFEXITED, WEXITSTATUS and WTERMSIG are macros.
        return status & 0x7f == 0 ? .exit(status >> 8 & 0xff) : .signal(status & 0x7f)
    }

    /// Sends a signal to it, which was not waited for yet.
    package func kill(_ signal: Int32) {
        #if canImport(Darwin)
            _ = Darwin.kill(number, signal)
        #elseif canImport(Glibc)
            _ = Glibc.kill(number, signal)
        #else
            _ = Musl.kill(number, signal)
        #endif
    }
}

/// Ends programs that this process has started and waits for.
///
/// The library handles no signals. A program that does says here when they ask to stop; others go on as they are.
package enum ChildInterruption {
    private static let asked = Lock<(@Sendable () throws -> Void)?>(nil)

    /// - Parameter check: Called again and again while such a program runs; what it throws ends the program, and the wait.
    package static func use(_ check: @escaping @Sendable () throws -> Void) {
        asked.withLock { $0 = check }
    }

    /// Throws where the program must end.
    package static func check() throws {
        try asked.withLock { $0 }?()
    }

    /// Waits, but throws at once where programs must end.
    package static func sleep(milliseconds: Int) throws {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        repeat {
            try check()
            Platform.sleep(milliseconds: 10)
        } while .now < end
    }
}
