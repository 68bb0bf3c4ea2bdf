import Foundation
import Synchronization

/// Whether the user has asked to stop, by Ctrl-C or `kill`. The operation then ends at its next step, and nothing is changed.
enum Interruption {
    private static let wanted = Atomic(false)

    static var isWanted: Bool { wanted.load(ordering: .relaxed) }

    /// From here on the signals ask; a second one ends the process as it always did.
    static func watch() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number) { number in
                // Nothing else may be done in a signal handler.
                Interruption.wanted.store(true, ordering: .relaxed)
                signal(number, SIG_DFL)
            }
        }
    }
}

/// The user asked to stop before the file was changed.
struct Interrupted: Error, CustomStringConvertible {
    var description: String { "interrupted; the file is as it was" }
}
