internal import Dispatch

/// The limit of waiting.
extension ReaderPool {
    var overdue: DatabaseError {
        DatabaseError(
            .busy,
            "no reader became free within \(waitingLimit): all \(maximum) are in use; "
                + "shorten the blocks, or raise Configuration.maximumReaders or readerWaitingLimit"
        )
    }

    static var closed: DatabaseError { DatabaseError(.misuse, "the pool is closed") }

    static var heldUpByOneself: DatabaseError {
        DatabaseError(
            .misuse,
            "the pool was asked for a reader while it changes its key, by what opens its connections"
        )
    }

    /// Ends the wait of somebody who still waits.
    func drop(_ waiter: Waiter, _ error: any Error) {
        let waits = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if waits { waiter.resume(.failure(error)) }
    }

    /// Sees that somebody looks at who waits too long. One timer serves all.
    func watch() {
        let isFirst = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { look(at: .now() + waitingLimit.dispatched) }
    }

    private func look(at time: DispatchTime) {
        clock.asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            let now = DispatchTime.now()
            var late: [Waiter] = []
            let next: DispatchTime? = state.withLock { state in
                // While the pool itself holds them up their time does not count.
                let lifted = state.isHeldUp ? now : state.wentOn
                let deadline = { (waiter: Waiter) in
                    max(waiter.began, lifted ?? waiter.began) + self.waitingLimit.dispatched
                }
                late = state.waiters.filter { deadline($0) <= now }
                state.waiters.removeAll { deadline($0) <= now }
                // The first came first.
                state.isWatched = !state.waiters.isEmpty
                return state.waiters.first.map(deadline)
            }
            for waiter in late { waiter.resume(.failure(overdue)) }
            if let next { look(at: next) }
        }
    }
}
