internal import CipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Asks at the process's terminal, whatever its standard streams are connected to.
package enum Terminal {
    static func askSecret(_ message: String, confirmed: Bool) throws -> SecretBytes {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw KeySourceError(.noTerminal, path: message) }
        defer { close(descriptor) }
        let secret = try askOnce(descriptor, message)
        if confirmed {
            let again = try askOnce(descriptor, "\(message), once more")
            guard try secret == again else { throw KeySourceError(.notConfirmed, path: message) }
        }
        return secret
    }

    /// Asks a question, whose answer is shown as it is typed: true for the word yes, nil where there is no terminal.
    package static func confirm(_ question: String) throws -> Bool? {
        let descriptor = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        return try askOnce(descriptor, question, echoes: true) == SecretBytes(utf8: "yes")
    }

    /// Up to the last of the real-time signals, which the system has fewer of; not those that cannot be held or report a fault of the
    /// program, that neither end nor stop a process, and by which the system keeps a process in the background from the terminal.
    private static let heldSignals = Set<Int32>(1...64).subtracting([
        SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGTTIN, SIGTTOU,
    ]).subtracting(Platform.harmlessSignals)

    private static func askOnce(
        _ descriptor: Int32,
        _ message: String,
        echoes: Bool = false
    ) throws -> SecretBytes {
        var before = termios()
        guard tcgetattr(descriptor, &before) == 0 else {
            throw KeySourceError(.noTerminal, path: message)
        }
        // Signals that would end or stop the process wait until the terminal is as it was: they are held back while the entry
        // is read, and looked for between two keys.
        var held = sigset_t()
        var mask = sigset_t()
        sigemptyset(&held)
        for signal in heldSignals { sigaddset(&held, signal) }
        pthread_sigmask(SIG_BLOCK, &held, &mask)
        var quiet = before
        // Line by line, as the user's terminal edits it; a signal key still makes its signal.
        if !echoes { quiet.c_lflag &= ~tcflag_t(ECHO) }
        quiet.c_lflag |= tcflag_t(ECHONL)
        tcsetattr(descriptor, TCSAFLUSH, &quiet)
        defer {
            tcsetattr(descriptor, TCSAFLUSH, &before)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
        }
        print(message + ": ", to: descriptor)
        return try readLine(descriptor, message) {
            tcsetattr(descriptor, TCSAFLUSH, &before)
            pthread_sigmask(SIG_SETMASK, &mask, nil)
            // Only a process that ignores or handles the signal comes back here.
            pthread_sigmask(SIG_BLOCK, &held, nil)
            tcsetattr(descriptor, TCSAFLUSH, &quiet)
        }
    }

    private static func readLine(
        _ descriptor: Int32,
        _ message: String,
        deliverSignals: () -> Void
    ) throws -> SecretBytes {
        var length = 0
        // A terminal's line holds 4,095 bytes on Linux and 1,024 on macOS.
        let line = try SecretBytes(count: 4096) { buffer in
            while length < buffer.count {
                var pending = sigset_t()
                sigpending(&pending)
                if heldSignals.contains(where: { sigismember(&pending, $0) == 1 }) { deliverSignals() }
                guard Platform.isReadable(descriptor, within: 100) else { continue }
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[length...])
                let count = try Platform.read(descriptor, into: rest)
                guard count > 0 else { throw KeySourceError(.endOfInput, path: message) }
                length += count
                if buffer[length - 1] == UInt8(ascii: "\n") {
                    length -= 1
                    return
                }
            }
        }
        return try line.prefix(length)
    }

    private static func print(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
