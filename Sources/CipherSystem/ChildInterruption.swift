/// Ends programs that this process has started and waits for.
///
/// The library handles no signals. A program that does says here when they ask to stop; others go on as they are.
package enum ChildInterruption {
    private static let asked = Lock<(@Sendable () throws -> Void)?>(nil)

    /// - Parameter check: Called again and again while such a program runs; what it throws ends the program, and the wait.
    package static func use(_ check: @escaping @Sendable () throws -> Void) {
        asked.withLock { $0 = check }
    }

    /// Throws where the program must end.
    package static func check() throws {
        try asked.withLock { $0 }?()
    }

    /// Waits, but throws at once where programs must end.
    package static func sleep(milliseconds: Int) throws {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        repeat {
            try check()
            Platform.sleep(milliseconds: 10)
        } while .now < end
    }
}
