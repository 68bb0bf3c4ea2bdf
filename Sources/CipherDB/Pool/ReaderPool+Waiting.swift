internal import CipherSystem
internal import Dispatch

/// Checking readers out, and waiting for one that is free.
extension ReaderPool {
    /// Blocks the thread until a reader is free.
    func checkOut() throws -> Reader {
        let answer = Lock<Result<Grant, any Error>?>(nil)
        let answered = DispatchSemaphore(value: 0)
        request { result in
            answer.withLock { $0 = result }
            answered.signal()
        }
        answered.wait()
        guard let answer = answer.withLock({ $0 }) else { throw overdue }
        return try reader(answer.get())
    }

    /// Answers the request, now or when a reader is free, or when the task is cancelled.
    func request(unless cancellation: TaskCancellation, _ request: @escaping Request) {
        guard let ticket = self.request(request) else { return }
        // After the request waits, so that a task that is already cancelled does not.
        cancellation.whenCancelledWhileWaiting { [self] in
            let request = state.withLock { $0.queue.remove(ticket) }
            request?(.failure(CancellationError()))
        }
    }

    /// Answers the request, now or when a reader is free.
    ///
    /// - Returns: its ticket if it waits.
    @discardableResult private func request(_ request: @escaping Request) -> WaitQueue<Request>.Ticket? {
        var ticket: WaitQueue<Request>.Ticket?
        let answer: Result<Grant, any Error>? = state.withLock { state in
            if state.isClosed { return .failure(Self.closed) }
            if state.barrier.isRaised(by: Platform.currentThread) { return .failure(Self.insideOfBarrier) }
            if let grant = grant(&state) { return .success(grant) }
            ticket = state.queue.append(request, at: .now())
            return nil
        }
        if let answer { request(answer) } else { startTimer() }
        return ticket
    }

    // MARK: The limit of waiting

    var overdue: DatabaseError {
        DatabaseError(
            .busy,
            "no reader was released within \(waitingLimit): all \(maximum) are in use; "
                + "shorten the blocks, or raise Configuration.maximumReaders or readerWaitingLimit"
        )
    }

    static var closed: DatabaseError { DatabaseError(.misuse, "the pool is closed") }

    static var insideOfBarrier: DatabaseError {
        DatabaseError(
            .misuse,
            "prepareDatabase asked the pool for a reader during a change of key"
        )
    }

    private func startTimer() {
        let isFirst = state.withLock { state in
            defer { state.isTimed = true }
            return !state.isTimed
        }
        if isFirst { refuseOverdue(at: .now() + waitingLimit.dispatched) }
    }

    private func refuseOverdue(at time: DispatchTime) {
        clock.asyncAfter(deadline: time) { [weak self] in
            guard let self else { return }
            let now = DispatchTime.now()
            var overdueRequests: [Request] = []
            let next: DispatchTime? = state.withLock { state in
                // Waiting for a change of the key does not count.
                if state.barrier.isRaised { state.queue.restartLimits(at: now) }
                overdueRequests = state.queue.removeOverdue(at: now)
                state.isTimed = state.queue.count > 0
                return state.queue.firstDeadline
            }
            for request in overdueRequests { request(.failure(overdue)) }
            if let next { refuseOverdue(at: next) }
        }
    }
}
