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

    /// Ends the wait of somebody who still waits.
    func drop(_ waiter: Waiter, _ error: any Error) {
        let waits = state.withLock { state in
            guard let place = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: place)
            return true
        }
        if waits { waiter.resume(.failure(error)) }
    }

    /// Sees that somebody looks at the deadlines. One timer serves all who wait.
    func watch(until deadline: DispatchTime) {
        let isFirst = state.withLock { state in
            defer { state.isWatched = true }
            return !state.isWatched
        }
        if isFirst { look(at: deadline) }
    }

    private func look(at time: DispatchTime) {
        DispatchQueue.global().asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            var late: [Waiter] = []
            let next: DispatchTime? = state.withLock { state in
                let now = DispatchTime.now()
                if !state.isHeldUp {
                    late = state.waiters.filter { $0.deadline ?? .distantFuture <= now }
                    state.waiters.removeAll { $0.deadline ?? .distantFuture <= now }
                }
                let next = state.waiters.compactMap(\.deadline).min()
                state.isWatched = next != nil
                // While the pool itself holds them up their time does not count.
                return next.map { state.isHeldUp ? now + self.waitingLimit.dispatched : $0 }
            }
            for waiter in late { waiter.resume(.failure(overdue)) }
            if let next { look(at: next) }
        }
    }
}
