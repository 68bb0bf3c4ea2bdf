internal import CCipherSystem
internal import CipherSystem

/// Who may use a connection now, and all that belongs to it: one thread at a time, of the process that made it.
///
/// Each call of a program asks it before it touches anything else. The connection of a queue or pool is nobody's but in a block, whose
/// thread has it from ``begin()`` to ``end()``. Any other goes from thread to thread, and a call has it for itself.
@usableFromInline package final class Turn: Sendable {
    /// What a call has of it, until ``leave(_:)``.
    @usableFromInline package enum Stay: Sendable {
        /// It is a part of a call that has it.
        case inner
        /// It came by ``firstInside``, or by ``holder``.
        case first, holder
    }

    private static let nobody = UInt64.max
    /// The thread that has it; 0 where any thread may take it. The first of a row: each call reads most of it.
    private let holder = AtomicCell.row(of: 5)
    /// What ``holder`` is when no thread has it.
    @inline(__always) private var rest: AtomicCell { holder.advanced(by: 1) }
    // The thread that used it first has it without the atomic exchange that costs as much as reading a column: it stores that it is
    // there, and looks whether it is still the first. Another thread ends that for good before its first call, fences, and then sees
    // either the store or that the first thread comes by `holder` from then on.
    /// 0 before its first use, and ``nobody`` from the second thread on.
    @inline(__always) private var first: AtomicCell { holder.advanced(by: 2) }
    /// That of the first thread while it is in a call; no other thread writes it.
    @inline(__always) private var firstInside: AtomicCell { holder.advanced(by: 3) }
    /// 1 from then on.
    @inline(__always) private var isFenced: AtomicCell { holder.advanced(by: 4) }
    private let process = csystem_process()
    /// Whether one thread can fence for two.
    private static let hasFence = csystem_has_heavy_fence() != 0

    package init() {
        guard !Turn.hasFence else { return }
        first.store(Turn.nobody, ordering: .relaxed)
        isFenced.store(1, ordering: .relaxed)
    }

    deinit { holder.free() }

    /// Whether the calling thread has it.
    @inline(__always) package var isMine: Bool { isHeld(by: csystem_fast_thread()) }

    @inline(__always) private func isHeld(by thread: UInt64) -> Bool {
        holder.load(ordering: .relaxed) == thread || firstInside.load(ordering: .relaxed) == thread
    }

    /// Whether the calling process is a child of the one that made it.
    package var isOfParent: Bool { process != csystem_process() }

    /// Begins a call.
    ///
    /// - Throws: ``DatabaseError`` where the calling thread must not use it; ``UsedAfterFork``.
    @inline(__always) package func enter() throws -> Stay {
        if let stay = enterAgain() { return stay }
        return try enterFirst()
    }

    /// As ``enter()``; nil where the calling thread must not use it.
    @inline(__always) package func enterIfFree() -> Stay? { enterAgain() ?? take() }

    /// As ``enterIfFree()``; nil also where the calling thread has to take it from another one.
    @inline(__always) private func enterAgain() -> Stay? {
        let thread = csystem_fast_thread()
        // Most calls are parts of one.
        let inside = firstInside.load(ordering: .relaxed)
        if inside == thread { return .inner }
        if inside == 0, first.load(ordering: .relaxed) == thread { return takeAgain(thread) ? .first : nil }
        return holder.load(ordering: .relaxed) == thread ? .inner : nil
    }

    // Apart, so that each call of a row is short.
    @inline(never) private func enterFirst() throws -> Stay {
        guard let stay = take() else { throw refusal }
        return stay
    }

    /// Ends a call.
    @inline(__always) package func leave(_ stay: Stay) {
        switch stay {
        case .inner: break
        case .first: firstInside.store(0, ordering: .releasing)
        case .holder: holder.store(rest.load(ordering: .relaxed), ordering: .releasing)
        }
    }

    /// Takes it on the first thread.
    @inline(__always) private func takeAgain(_ thread: UInt64) -> Bool {
        firstInside.store(thread, ordering: .relaxed)
        csystem_light_fence()
        if first.load(ordering: .relaxed) == thread { return true }
        firstInside.store(0, ordering: .releasing)
        return false
    }

    private func take() -> Stay? {
        guard !isOfParent else { return nil }
        let thread = csystem_thread()
        if first.load(ordering: .relaxed) == 0 {
            _ = first.compareExchange(expected: 0, desired: thread)
            if first.load(ordering: .relaxed) == thread, takeAgain(thread) { return .first }
        }
        return endFirst() && takeHolder(from: 0, thread) ? .holder : nil
    }

    private func takeHolder(from former: UInt64, _ thread: UInt64) -> Bool {
        guard holder.compareExchange(expected: former, desired: thread) else { return false }
        if firstInside.load(ordering: .acquiring) == 0 { return true }
        holder.store(former, ordering: .releasing)
        return false
    }

    /// From here on each thread comes by ``holder``. Returns false where that cannot be made sure.
    private func endFirst() -> Bool {
        if isFenced.load(ordering: .acquiring) != 0 { return true }
        let former = first.exchange(Turn.nobody)
        guard csystem_heavy_fence() != 0 else {
            // As where a filter of system calls forbids it since: the first thread may go on.
            if former != Turn.nobody { first.store(former, ordering: .releasing) }
            return false
        }
        isFenced.store(1, ordering: .releasing)
        return true
    }

    // MARK: Of a queue or pool

    /// It is a queue's or pool's from here on, and nobody's outside of its blocks.
    package func share() {
        // Without a fence, too: nobody is in a call now, and none is to come by ``first``.
        if !endFirst() { first.store(Turn.nobody, ordering: .releasing) }
        rest.store(Turn.nobody, ordering: .relaxed)
        _ = holder.compareExchange(expected: 0, desired: Turn.nobody)
    }

    /// The calling thread begins a block.
    ///
    /// - Throws: ``UsedAfterFork``.
    package func begin() throws {
        guard !isOfParent, takeHolder(from: Turn.nobody, csystem_thread()) else { throw refusal }
    }

    /// The block ends.
    package func end() {
        holder.store(rest.load(ordering: .relaxed), ordering: .releasing)
    }

    /// As ``enterIfFree()``, for the end of what belongs to nobody any more.
    package func enterForEnd() -> Stay? {
        if let stay = enterIfFree() { return stay }
        return !isOfParent && takeHolder(from: Turn.nobody, csystem_thread()) ? .holder : nil
    }

    // MARK: What is thrown

    static let refusalOfColumn = DatabaseError(
        .misuse,
        "a column was read outside of the call that reads its row, or on another thread"
    )

    static let refusalOfParameter = DatabaseError(
        .misuse,
        "a value was bound outside of the call that runs its statement, or on another thread"
    )

    private var refusal: any Error {
        if isOfParent { return UsedAfterFork.database }
        return rest.load(ordering: .relaxed) == Turn.nobody
            ? DatabaseError(
                .misuse,
                "a database of a queue or pool was used outside of its block or on another thread; use the one that is passed to a block, "
                    + "on the block's thread, until it returns"
            )
            : DatabaseError(
                .misuse,
                "two threads use one Database at a time; share a DatabaseQueue or DatabasePool"
            )
    }
}
