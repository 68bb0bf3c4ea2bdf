/// While it is raised no reader is checked out, so that the key can change.
struct Barrier {
    private enum State {
        case lowered
        case raised(thread: UInt)
        /// Raised, and waiting for the readers that are checked out.
        case draining(thread: UInt, whenDrained: @Sendable () -> Void)
    }

    private var state = State.lowered

    var isRaised: Bool {
        if case .lowered = state { false } else { true }
    }

    /// Whether this thread raised it: a reader that it asks for would never come.
    func isRaised(by thread: UInt) -> Bool {
        switch state {
        case .lowered: false
        case .raised(let owner), .draining(let owner, _): owner == thread
        }
    }

    /// - Parameter whenDrained: Called here or by `readerWasReleased`, once, when no reader is checked out.
    mutating func raise(by thread: UInt, checkedOut: Int, whenDrained: @escaping @Sendable () -> Void) {
        state = .draining(thread: thread, whenDrained: whenDrained)
        readerWasReleased(checkedOut: checkedOut)
    }

    /// - Parameter checkedOut: How many readers are still checked out.
    mutating func readerWasReleased(checkedOut: Int) {
        guard checkedOut == 0, case .draining(let thread, let whenDrained) = state else { return }
        state = .raised(thread: thread)
        whenDrained()
    }

    mutating func lower() {
        state = .lowered
    }
}
