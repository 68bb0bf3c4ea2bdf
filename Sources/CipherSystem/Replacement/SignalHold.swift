/// Keeps signals from ending the process while it has a new file that would be left.
///
/// The library handles no signals. A program that does says here how; others go on as they are.
package enum SignalHold {
    private static let holder = Lock<(@Sendable (_ begins: Bool) -> Void)?>(nil)

    /// - Parameter hold: Called with true before such a file is made, and with false when it has its name or is gone.
    package static func use(_ hold: @escaping @Sendable (_ begins: Bool) -> Void) {
        holder.withLock { $0 = hold }
    }

    package static func during<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        let hold = holder.withLock { $0 }
        hold?(true)
        defer { hold?(false) }
        return try body()
    }
}
