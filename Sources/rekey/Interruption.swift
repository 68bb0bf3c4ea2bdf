import CipherKeys
internal import CipherSystem
import Foundation

/// Whether the user has asked to stop, by Ctrl-C or `kill`. The operation then ends at its next step, and nothing is changed.
enum Interruption {
    private static let wanted = Atomic(false)
    /// The signal that came last; 0 for none.
    private static let received = Atomic<Int32>(0)
    private static let isWatching = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// When it was first seen that the user wants to stop.
    private static let noticed = Lock<ContinuousClock.Instant?>(nil)
    /// How long a program that carries objects of a repository may go on then: what it has begun may end.
    private static let timeOfPrograms = Duration.seconds(3)

    /// Has programs that were started end soon after a signal.
    static func endPrograms() {
        ChildInterruption.use {
            guard isWanted else { return }
            let first = noticed.withLock { noticed in
                let first = noticed ?? .now
                noticed = first
                return first
            }
            if .now >= first + timeOfPrograms { throw Interrupted() }
        }
    }

    /// Signals that cannot be handled, that report a fault of the program, or that end no process.
    private static let others = Platform.harmlessSignals.union([
        SIGKILL, SIGSTOP, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU,
    ])

    /// Up to the last of the real-time signals; the system refuses numbers that it does not have.
    private static var handled: [Int32] {
        (1...64).filter { !others.contains($0) && !Platform.isIgnored(signal: $0) }
    }

    /// Until ``watch()``, signals end the process with the status for that: nothing was begun.
    static func endAtSignals() {
        for number in handled { end(at: number) }
    }

    /// Leaves faults to the system from here on: Swift's reporter of crashes would print registers, which may hold a key.
    static func endAtFaults() {
        for number in [SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV] where !Platform.isIgnored(signal: number) {
            signal(number, SIG_DFL)
        }
    }

    private static func end(at number: Int32) {
        signal(number) { number in
            // What exceeds the limit of a file's size is an error of writing.
            if number != SIGXFSZ { _exit(128 + SIGINT) }
        }
    }

    /// From here on the signals ask; a second one ends the process. One that is ignored stays ignored, as under `nohup`.
    static func watch() {
        isWatching.store(true, ordering: .relaxed)
        // Made here: a handler must not allocate memory.
        _ = (received.load(ordering: .relaxed), isWanted)
        // A parent may have blocked them, as each thread of a dispatch queue has.
        var all = sigset_t()
        sigfillset(&all)
        sigprocmask(SIG_UNBLOCK, &all, nil)
        for number in handled {
            signal(number) { number in
                // Nothing else may be done in a signal handler. What exceeds the limit of a file's size is an error of writing.
                if number == SIGXFSZ { return }
                Interruption.received.store(number, ordering: .relaxed)
                Interruption.wanted.store(true, ordering: .relaxed)
                // That of the processor's time comes again each second.
                if number != SIGXCPU { signal(number, SIG_DFL) }
            }
        }
    }
}

extension Interruption {
    /// Holds signals until ``release()``, unless they ask already. Returns whether it does.
    private static func hold() -> Bool {
        if isWatching.load(ordering: .relaxed) { return false }
        watch()
        return true
    }

    /// Signals end the process again, and one that came meanwhile does.
    private static func release() {
        isWatching.store(false, ordering: .relaxed)
        endAtSignals()
        let number = received.load(ordering: .relaxed)
        if number != 0 { raise(number) }
    }

    /// Has what writes keyrings and metrics hold signals for so long.
    static func holdWhileFilesAreWritten() {
        let depth = Lock((count: 0, isHeld: false))
        SignalHold.use { begins in
            depth.withLock { depth in
                depth.count += begins ? 1 : -1
                if begins, depth.count == 1 { depth.isHeld = hold() }
                if !begins, depth.count == 0, depth.isHeld { release() }
            }
        }
    }
}

/// The user asked to stop before the file was changed.
struct Interrupted: Error, CustomStringConvertible {
    var description: String { "interrupted; nothing was changed" }
}
