internal import CipherKeys
internal import CipherSystem

/// The commits that changed the tables of a database last, and the observers that wait for a change.
final class ChangeLog: Sendable {
    private struct State {
        /// The number of the commit before the first one that is told.
        var commit = 0
        /// By table, for those that were changed at all.
        var last: [TableName: Int] = [:]
        /// The last commit that changed the schema, or nobody knows what.
        var lastOfAll = 0
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
        var streams: [Int: AsyncStream<Commit>.Continuation] = [:]
        var isClosed = false

        func hasChange(of wanted: TableSelection, since commit: Int) -> Bool {
            guard self.commit > commit else { return false }
            return lastOfAll > commit || last.contains { $0.value > commit && wanted.contains($0.key) }
        }

        /// Takes out those who wait for what there is now.
        mutating func takeReady() -> [CheckedContinuation<Bool, Never>] {
            var ready: [CheckedContinuation<Bool, Never>] = []
            for (number, waiter) in waiters {
                guard let continuation = waiter.continuation, hasChange(of: waiter.wanted, since: waiter.since) else {
                    continue
                }
                ready.append(continuation)
                waiters[number] = nil
            }
            return ready
        }
    }

    private struct Waiter {
        let wanted: TableSelection
        let since: Int
        /// Nil until the task waits.
        var continuation: CheckedContinuation<Bool, Never>?
    }

    private let state = Lock(State())
    /// Whether blocks are refused, until ``DatabaseWriter/resume()`` tells of a change of all.
    let isSuspended = Atomic(false)
    /// A forked child has none of the threads that commit, or that would release the lock: there nothing is told.
    let owner = OwnerProcess()

    /// Whether nothing is told any more.
    var isClosed: Bool { owner.isCurrent ? state.withLock { $0.isClosed } : true }

    /// The number of the last commit: what is read after asking for it has seen that one.
    var commit: Int { owner.isCurrent ? state.withLock { $0.commit } : 0 }

    /// A commit changed these tables.
    func publish(_ tables: Set<TableName>, changesSchema: Bool) {
        publish(tables, changesSchema: changesSchema) { true }
    }

    /// Blocks are refused no more, and what is observed is read again: others may have written meanwhile.
    func resume() {
        publish([], changesSchema: true) { isSuspended.exchange(false) }
    }

    /// Calls `body` where blocks are refused; ``resume()`` waits for its end.
    func ifSuspended(_ body: () -> Void) {
        state.withLock { _ in if isSuspended.load(ordering: .acquiring) { body() } }
    }

    /// - Parameter isDue: Called under the lock.
    private func publish(_ tables: Set<TableName>, changesSchema: Bool, where isDue: () -> Bool) {
        let (woken, streams) = state.withLock { state in
            guard isDue() else {
                return ([], []) as ([CheckedContinuation<Bool, Never>], [AsyncStream<Commit>.Continuation])
            }
            state.commit += 1
            for table in tables { state.last[table] = state.commit }
            if changesSchema { state.lastOfAll = state.commit }
            return (state.takeReady(), Array(state.streams.values))
        }
        for continuation in woken { continuation.resume(returning: true) }
        for stream in streams { stream.yield(Commit(tables: tables, changesSchema: changesSchema)) }
    }

    /// Whether what was read after a commit was refused by a suspension, and is to be read again.
    func isSuspended(since commit: Int) -> Bool {
        state.withLock { isSuspended.load(ordering: .acquiring) || $0.lastOfAll > commit }
    }

    /// What changed after a commit, of the tables that are wanted, and the number of the last commit.
    func changes(of wanted: TableSelection, since commit: Int) -> (change: Commit, commit: Int) {
        state.withLock { state in
            let tables = state.last.filter { $0.value > commit && wanted.contains($0.key) }.keys
            return (Commit(tables: Set(tables), changesSchema: state.lastOfAll > commit), state.commit)
        }
    }

    /// Nothing is told any more: the database is closed.
    func close() {
        guard owner.isCurrent else { return }
        let (woken, streams) = state.withLock { state in
            state.isClosed = true
            let all = (state.waiters.values.compactMap(\.continuation), Array(state.streams.values))
            state.waiters = [:]
            state.streams = [:]
            return all
        }
        for continuation in woken { continuation.resume(returning: false) }
        for stream in streams { stream.finish() }
    }

    /// Waits until one of the tables was changed after a commit; false where the task was cancelled or the database closed.
    func wait(for wanted: TableSelection, since commit: Int) async -> Bool {
        guard owner.isCurrent else { return false }
        let number = state.withLock { state in
            state.nextWaiter += 1
            state.waiters[state.nextWaiter] = Waiter(wanted: wanted, since: commit)
            return state.nextWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    // Cancelled or closed before.
                    guard state.waiters[number] != nil, !state.isClosed else {
                        state.waiters[number] = nil
                        return false
                    }
                    guard !state.hasChange(of: wanted, since: commit) else {
                        state.waiters[number] = nil
                        return true
                    }
                    state.waiters[number]?.continuation = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: number) }
            waiter?.continuation?.resume(returning: false)
        }
    }

    /// Each commit from now on.
    func commits() -> AsyncStream<Commit> {
        let (stream, continuation) = AsyncStream<Commit>.makeStream()
        guard owner.isCurrent else {
            continuation.finish()
            return stream
        }
        let number: Int? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.nextWaiter += 1
            state.streams[state.nextWaiter] = continuation
            return state.nextWaiter
        }
        if let number {
            continuation.onTermination = { [weak self] _ in
                self?.state.withLock { _ = $0.streams.removeValue(forKey: number) }
            }
        } else {
            continuation.finish()
        }
        return stream
    }

    /// How many wait or listen.
    var listeners: Int { state.withLock { $0.waiters.count + $0.streams.count } }
}

/// Some tables, or all of them.
struct TableSelection: Sendable {
    /// Nil for all.
    private let tables: Set<TableName>?
    /// Names without a database, in lower case: they select the table in each database.
    private let names: Set<String>

    /// Nil for all; a name without a database selects the table in each database.
    init(tables: [TableName]?) {
        self.tables = tables.map { Set($0) }
        names = Set((tables ?? []).lazy.filter { $0.schema == nil }.map { $0.name.lowercased() })
    }

    func contains(_ table: TableName) -> Bool {
        guard let tables else { return true }
        return tables.contains(table) || !names.isEmpty && names.contains(table.name.lowercased())
    }
}
