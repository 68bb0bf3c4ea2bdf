internal import CipherSystem
internal import Synchronization

/// What was let go of by a thread that must not use the connection: kept until one may, and ends it.
final class Leftovers: Sendable {
    // It holds because who keeps it here looks at it no more, and who takes it out has the connection's turn.
    private struct Leftover: @unchecked Sendable {
        let end: () -> Void
    }

    /// Nil once the connection is closed, which ended everything.
    private let kept = Lock<[Leftover]?>([])
    private let hasAny = Atomic(false)

    var isAny: Bool { hasAny.load(ordering: .relaxed) }

    /// - Parameter end: Ends it, on the connection's turn.
    func keep(_ end: @escaping () -> Void) {
        let leftover = Leftover(end: end)
        let isKept = kept.withLock { kept in
            kept?.append(leftover)
            return kept != nil
        }
        if isKept { hasAny.store(true, ordering: .relaxed) }
    }

    /// Ends them all.
    ///
    /// - Parameter forGood: Whether none is kept from here on.
    func end(forGood: Bool = false) {
        hasAny.store(false, ordering: .relaxed)
        let leftovers = kept.withLock { kept in
            defer { kept = forGood ? nil : [] }
            return kept
        }
        for leftover in leftovers ?? [] { leftover.end() }
    }
}

extension Connection {
    /// Ends what the program let go of meanwhile.
    @inline(__always) func endLeftovers() {
        if leftovers.isAny { leftovers.end() }
    }

    /// Runs `end`, which ends what the program let go of: now, or when it is this connection's turn.
    func letGo(_ end: @escaping () -> Void) {
        if let isOuter = turn.enterIfFree() {
            defer { turn.leave(isOuter) }
            end()
        } else if !turn.isOfParent {
            leftovers.keep(end)
        }
    }
}
