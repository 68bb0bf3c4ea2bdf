import CipherKeys
internal import CipherSystem
import Foundation
import Synchronization

/// Whether the user has asked to stop, by Ctrl-C or `kill`. The operation then ends at its next step, and nothing is changed.
enum Interruption {
    private static let wanted = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// Signals that cannot be handled, that report a fault of the program, or that end no process.
    private static let others: Set<Int32> = [
        SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE, SIGCHLD, SIGCONT, SIGTSTP,
        SIGTTIN, SIGTTOU, SIGURG, SIGWINCH,
    ]

    /// From here on the signals ask; a second one ends the process. One that is ignored stays ignored, as under `nohup`.
    static func watch() {
        // A parent may have blocked them, as each thread of a dispatch queue has.
        var all = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_UNBLOCK, &all, nil)
        // Up to the last of the real-time signals; the system refuses numbers that it does not have.
        for number in 1...64 as ClosedRange<Int32> where !others.contains(number) {
            if Platform.isIgnored(signal: number) { continue }
            signal(number) { number in
                // Nothing else may be done in a signal handler. What exceeds the limit of a file's size is an error of writing.
                if number == SIGXFSZ { return }
                Interruption.wanted.store(true, ordering: .relaxed)
                // That of the processor's time comes again each second.
                if number != SIGXCPU { signal(number, SIG_DFL) }
            }
        }
    }
}

/// The user asked to stop before the file was changed.
struct Interrupted: Error, CustomStringConvertible {
    var description: String { "interrupted; the file is as it was" }
}
