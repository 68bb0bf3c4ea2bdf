import Foundation
import Synchronization

/// Whether the user has asked to stop, by Ctrl-C or `kill`. The operation then ends at its next step, and nothing is changed.
enum Interruption {
    private static let wanted = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// The signals that end a process and can be handled.
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ, SIGALRM, SIGUSR1, SIGUSR2]

    /// From here on the signals ask; a second one ends the process. One that is ignored stays ignored, as under `nohup`.
    static func watch() {
        for number in signals {
            var present = sigaction()
            sigaction(number, nil, &present)
            if Interruption.isIgnored(present) { continue }
            signal(number) { number in
                // Nothing else may be done in a signal handler. What exceeds the limit of a file's size is an error of writing.
                if number == SIGXFSZ { return }
                Interruption.wanted.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }

    private static func isIgnored(_ action: sigaction) -> Bool {
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        // Swift compares no functions; each of the two is a C function pointer, one word.
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}

/// The user asked to stop before the file was changed.
struct Interrupted: Error, CustomStringConvertible {
    var description: String { "interrupted; the file is as it was" }
}
