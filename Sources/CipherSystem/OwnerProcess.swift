internal import CCipherSystem

/// The process that made a thing which a forked child must not use: a secret, or an open database.
package struct OwnerProcess: Sendable {
    private let number: UInt64

    /// The process that calls.
    package init() {
        number = csystem_process()
    }

    /// Whether the calling process is the owner, and no child of it.
    @inline(__always) package var isCurrent: Bool { number == csystem_process() }

    /// Throws in a child of the owner.
    @inline(__always) package func check(_ thing: UsedAfterFork) throws(UsedAfterFork) {
        guard isCurrent else { throw thing }
    }
}

extension Platform {
    /// Whether the process is ending, and threads that begin to use an engine are held.
    package static var isEnding: Bool { csystem_process_is_ending() != 0 }
}
