internal import CipherKeys
internal import CipherSystem
internal import Dispatch
internal import Synchronization

/// The turns of blocks that use one connection, one at a time, in the order in which they come.
package final class Turns: Sendable {
    private struct Turn: Stock {
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

    private let turn: Lender<Turn>
    /// For blocks of tasks: the thread of the last one often takes the next.
    private let queue = DispatchQueue(label: "CipherDB.Turns")
    /// The thread that has the turn.
    private let runner = Atomic<UInt>(0)

    /// - Parameter limit: How long a block waits for its turn; nil for as long as it takes.
    package init(limit: Duration?) {
        turn = Lender(Turn(), limit: limit) {
            DatabaseError(
                .busy,
                "no turn came within \(limit ?? .zero): a block before this one takes long, or too many wait; shorten the blocks, or "
                    + "raise Configuration.writerWaitingLimit"
            )
        }
    }

    /// Whether this thread has the turn: one that it waited for would never come.
    package var isMine: Bool { runner.load(ordering: .relaxed) == Platform.currentThread }

    /// How many blocks wait.
    var waiting: Int { turn.waiting }

    /// Runs `body` when the blocks before it are done, and blocks the thread until then.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/busy`` when the limit ended before.
    func run<Result>(_ body: () throws -> Result) throws -> Result {
        try turn.take()
        return try use(body)
    }

    /// As ``run(_:)``, however long it waits.
    package func runWithoutLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
        // It cannot fail: the turn is refused to nobody.
        try? turn.take(hasLimit: false)
        return try use(body)
    }

    /// Asynchronous version, without a thread that waits: runs `body` in the task of the caller, on a thread that may block.
    ///
    /// - Parameter cancellation: With it the block leaves when its task is cancelled, or the limit ends.
    func run<Result: Sendable>(
        unless cancellation: TaskCancellation?,
        _ body: @Sendable () throws -> Result
    ) async throws -> Result {
        try await TaskBlock(turn, cancellation, on: queue).run { [self] in try use(body) }
    }

    private func use<Result>(_ body: () throws -> Result) rethrows -> Result {
        runner.store(Platform.currentThread, ordering: .relaxed)
        defer {
            runner.store(0, ordering: .relaxed)
            turn.restock { $0.isTaken = false }
        }
        return try body()
    }

    /// Runs `body`, a part of the block that has the turn, which may take long: others wait for it without a limit.
    func withoutLimit<Result>(_ body: () throws -> Result) rethrows -> Result {
        turn.withStock { $0.longOperations += 1 }
        defer { turn.restock(restartsLimits: true) { $0.longOperations -= 1 } }
        return try body()
    }
}
