/// Failures of the system that a test orders, in debug builds; in release builds these functions are empty.
package enum FaultInjection {
    /// The calls that can fail.
    package enum Call: CaseIterable, Sendable {
        case open, lock, read, write, sync, adopt, link, rename, unlink
    }

    /// Which call fails.
    package struct Order: Sendable {
        /// Files whose path begins so.
        let prefix: String
        let call: Call
        /// How many of the calls go well before.
        var after: Int
        /// The `errno`; nil to write or read a part only.
        let code: Int32?
        /// Whether all later calls fail too.
        let persists: Bool
        /// What somebody else does just before the call.
        let action: (@Sendable () -> Void)?

        package init(
            prefix: String,
            call: Call,
            after: Int,
            code: Int32?,
            persists: Bool = false,
            action: (@Sendable () -> Void)? = nil
        ) {
            self.action = action
            self.prefix = prefix
            self.call = call
            self.after = after
            self.code = code
            self.persists = persists
        }
    }

    #if DEBUG || FAULTS
        private static let orders = Lock<[Order]>([])

        /// Runs `body` while `order` stands; `met` says whether the call it means was made.
        package static func with<Result>(
            _ order: Order,
            _ body: () throws -> Result
        ) -> (outcome: Swift.Result<Result, any Error>, met: Bool) {
            orders.withLock { $0.append(order) }
            let outcome = Swift.Result { try body() }
            let met = orders.withLock { orders in
                guard let place = orders.firstIndex(where: { $0.prefix == order.prefix }) else { return false }
                return orders.remove(at: place).after < 0
            }
            return (outcome, met)
        }

        package static func check(_ call: Call, _ path: String) throws(Errno) {
            if let fault = due(call, path), let code = fault.code { throw Errno(code: code) }
        }

        /// How many of `count` bytes the system takes at once.
        package static func limit(_ count: Int, _ call: Call, _ path: String) throws(Errno) -> Int {
            guard let fault = due(call, path) else { return count }
            guard let code = fault.code else { return max(1, count / 2) }
            throw Errno(code: code)
        }

        private static func due(_ call: Call, _ path: String) -> Order? {
            let order: Order? = orders.withLock { orders in
                guard let place = orders.firstIndex(where: { $0.call == call && path.hasPrefix($0.prefix) }) else {
                    return nil
                }
                orders[place].after -= 1
                let after = orders[place].after
                return after == -1 || (after < -1 && orders[place].persists) ? orders[place] : nil
            }
            order?.action?()
            return order
        }
    #else
        @inline(__always)
        package static func check(_ call: Call, _ path: String) throws(Errno) {}

        @inline(__always)
        package static func limit(_ count: Int, _ call: Call, _ path: String) throws(Errno) -> Int { count }
    #endif
}
