/// How a statement waits for a lock.
extension Database {
    /// Asks `handler` what to do while a lock of another connection is in the way, instead of waiting for
    /// ``busyTimeout``: true tries again, false gives up with ``ResultCode/busy``. It gets the number of attempts so far
    /// and does the waiting itself; it is not asked again once the statement was interrupted. Nil goes back to the timeout.
    public func setBusyHandler(_ handler: (@Sendable (_ attempts: Int) -> Bool)?) {
        inTurn(or: ()) {
            hooks.busy = handler
            installBusyHandling()
        }
    }

    /// How long a statement waits for a lock that another connection holds.
    public var busyTimeout: Duration {
        get { inTurn(or: configuration.busyTimeout) { timeout } }
        set { inTurn(or: ()) { setBusyTimeout(newValue) } }
    }

    private func setBusyTimeout(_ timeout: Duration) {
        self.timeout = timeout
        if case .unkeyed(let file) = state { file.busyMilliseconds = busyMilliseconds }
        installBusyHandling()
    }

    func installBusyHandling() {
        connection?.setBusyTimeout(milliseconds: busyMilliseconds, orAsking: hooks.busy)
    }

    var busyMilliseconds: Int { busyTimeout.boundedMilliseconds }
}
