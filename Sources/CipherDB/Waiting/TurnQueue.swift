internal import CipherKeys
internal import CipherSystem
internal import Dispatch

/// The queue of blocks that use one connection, one at a time, in the order in which they come.
package final class TurnQueue: Sendable {
    private struct Permit: Stock {
        var isTaken = false
        /// How many operations run that take as long as the file is large.
        var longOperations = 0
        var countsWaiting: Bool { longOperations == 0 }

        func refusal() -> (any Error)? { nil }

        mutating func take() -> Void? {
            guard !isTaken else { return nil }
            isTaken = true
            return ()
        }
    }

    private let permit: Lender<Permit>
    /// For blocks of tasks: the thread of the last one often takes the next.
    private let queue = DispatchQueue(label: "CipherDB.TurnQueue")
    /// Ends what a block left to the next one, in the turn, where none waits. Set by the block that has the turn.
    private let leftOver = Lock<(@Sendable () -> Void)?>(nil)

    /// - Parameters:
    ///   - limit: How long a block waits for its turn; nil for as long as it takes.
    ///   - overdue: Told of the error of each block that waited longer.
    package init(limit: Duration?, overdue: @escaping @Sendable (DatabaseError) -> Void = { _ in }) {
        permit = Lender(Permit(), limit: limit) {
            let error = DatabaseError(
                .busy,
                "no turn came within \(limit ?? .zero): a block before this one takes long, or too many wait; shorten the blocks, or "
                    + "raise Configuration.writerWaitingLimit"
            )
            overdue(error)
            return error
        }
    }

    /// How many blocks wait.
    var waiting: Int { permit.waiting }

    /// Runs `body` when the blocks before it are done, and blocks the thread until then.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/busy`` when the limit ended before.
    func run<Result>(_ body: () throws -> Result) throws -> Result {
        try permit.take()
        return try use(body)
    }

    /// As ``run(_:)``, however long it waits; does nothing where the process is ending and another block has the turn.
    package func runWithoutLimit(_ body: () throws -> Void) rethrows {
        guard (try? permit.take(hasLimit: false)) != nil else { return }
        try use(body)
    }

    /// Asynchronous version, without a thread that waits: runs `body` in the task of the caller, on a thread that may block.
    ///
    /// - Parameter cancellation: With it the block leaves when its task is cancelled, or the limit ends.
    func run<Result: Sendable>(
        unless cancellation: TaskCancellation?,
        _ body: @Sendable () throws -> Result
    ) async throws -> Result {
        try SerialWorker.checkThreads()
        return try await TaskBlock(permit, cancellation, on: queue).run { [self] in try use(body) }
    }

    private func use<Result>(_ body: () throws -> Result) rethrows -> Result {
        defer { giveBack() }
        return try body()
    }

    private func giveBack() {
        if let rest {
            guard !permit.passOn(()) else { return }
            rest()
        }
        permit.restock { $0.isTaken = false }
    }

    /// What ends the work that the block leaves to the next one; called where none waits.
    var rest: (@Sendable () -> Void)? {
        get { leftOver.withLock { $0 } }
        set { leftOver.withLock { $0 = newValue } }
    }

    /// Runs `body`, a part of the block that has the turn, which may take long: others wait for it without a limit.
    func withoutLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
        permit.withStock { $0.longOperations += 1 }
        defer { permit.restock(restartsLimits: true) { $0.longOperations -= 1 } }
        return try body()
    }
}
