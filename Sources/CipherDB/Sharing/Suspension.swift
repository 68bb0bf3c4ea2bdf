internal import CipherSystem
internal import Dispatch

extension DatabaseWriter {
    /// Closes the file until ``resume()``, so that this process has no lock on it: iOS ends an app that it suspends with a lock on a file
    /// of an app group (0xdead10cc).
    ///
    /// Statements that run are interrupted, and their transactions rolled back; it returns when their blocks are over, or when
    /// ``resume()`` has ended it. Blocks that come or wait throw ``DatabaseError`` with ``ResultCode/aborted``. Observations stay;
    /// temporary tables, attached databases and pragmas are lost, and what has the file's name is opened then. A database in memory has no
    /// locks, and goes on. A connection that the program opened is the program's to close.
    ///
    /// - Throws: ``DatabaseError`` with ``ResultCode/misuse`` when called from inside a block. A closure that prepares a connection must not
    ///   call it: it waits for that connection.
    public func suspend() throws {
        try suspendable().suspendNow()
    }

    /// Asynchronous version; does not block the calling thread.
    public func suspend() async throws {
        try await suspendable().suspendNow()
    }

    /// Lets blocks run again, and waits for nothing: the next one opens the file, without a derivation. What is observed is read again,
    /// because others may have written meanwhile.
    public func resume() {
        try? suspendable().resumeNow()
    }

    private func suspendable() throws -> any Suspendable {
        guard let suspendable = self as? any Suspendable else {
            throw DatabaseError(.misuse, "suspend the DatabaseQueue or DatabasePool itself")
        }
        return suspendable
    }
}

/// What ``DatabaseWriter/suspend()`` and ``DatabaseWriter/resume()`` do.
protocol Suspendable {
    func suspendNow() throws
    func suspendNow() async throws
    func resumeNow()
}

extension DatabaseQueue: Suspendable {
    /// What the file is opened with again.
    struct Suspended {
        let key: VerifiedKey?
        let keyOrigin: KeyOrigin
        /// Whether nothing was written yet: closing such a file removes it.
        let isNew: Bool
    }

    func suspendNow() throws {
        try suspend(interrupting: { [weak self] in self?.interrupt(sparing: false) }, closing: { $0() })
    }

    func suspendNow() async throws {
        try await suspend(interrupting: { [weak self] in self?.interrupt(sparing: false) }, closing: { $0() })
    }

    /// - Parameters:
    ///   - interrupt: Interrupts what runs; called until nothing does.
    ///   - closing: Closes other connections, and calls what closes this one.
    func suspend(interrupting interrupt: @escaping @Sendable () -> Void, closing: (() -> Void) -> Void) throws {
        guard let interruption = try beginSuspension(interrupt) else { return }
        defer { interruption.end() }
        turns.runWithoutLimit { closeInTurn(closing, interruption) }
    }

    /// Asynchronous version.
    func suspend(
        interrupting interrupt: @escaping @Sendable () -> Void,
        closing: @Sendable (() -> Void) -> Void
    ) async throws {
        guard let interruption = try beginSuspension(interrupt) else { return }
        defer { interruption.end() }
        try await turns.run(unless: nil) { [self] in closeInTurn(closing, interruption) }
    }

    /// Closes all, unless it was resumed while it waited for the turn.
    private func closeInTurn(_ closing: (() -> Void) -> Void, _ interruption: RepeatedInterruption) {
        guard log.isSuspended.load(ordering: .acquiring) else { return }
        closing { closeForSuspension(interruption) }
    }

    private func beginSuspension(_ interrupt: @escaping @Sendable () -> Void) throws -> RepeatedInterruption? {
        try owner.check(.database)
        try checkIsOutside()
        guard !isInMemory, !log.isClosed else { return nil }
        log.isSuspended.store(true, ordering: .releasing)
        let interruption = RepeatedInterruption()
        // Not what began after it was resumed.
        interruption.begin { [log] in log.ifSuspended(interrupt) }
        return interruption
    }

    private func closeForSuspension(_ interruption: RepeatedInterruption) {
        interruption.end()
        try? sharedCommits.commit()
        // It may have to go on by now.
        guard log.isSuspended.load(ordering: .acquiring), (try? database.turn.begin()) != nil else { return }
        defer { database.turn.end() }
        guard database.isOpen else { return }
        let isNew = (try? Platform.status(of: filename).size) == 0
        suspended = Suspended(key: database.verifiedKey, keyOrigin: database.keyOrigin, isNew: isNew)
        database.close()
        interrupter.withLock { $0 = nil }
    }

    /// Throws between ``suspend()`` and ``resume()``.
    func checkIsActive() throws {
        guard !log.isSuspended.load(ordering: .acquiring) else { throw DatabaseError.suspended }
    }

    func resumeNow() {
        guard owner.isCurrent, !isInMemory else { return }
        log.resume()
    }

    /// In a block that begins: opens the file again, if it was closed by a suspension that is over.
    func endSuspension() throws {
        try checkIsActive()
        guard let suspended else { return }
        if let key = suspended.key {
            try database.open(flags: flags.subtracting(.create))
            try database.unlock(key)
        } else {
            try database.open(flags: suspended.isNew ? flags : flags.subtracting(.create))
            _ = try database.usableConnection()
        }
        database.keyOrigin = suspended.keyOrigin
        database.hooks.tracker?.lastDataVersion = try? database.dataVersion
        interrupter.withLock { $0 = database.interrupter }
        self.suspended = nil
    }
}

extension DatabasePool: Suspendable {
    func suspendNow() throws {
        try checkNotReading()
        try writer.suspend(interrupting: { [weak self] in self?.interruptForSuspension() }, closing: closeReaders)
    }

    func suspendNow() async throws {
        try await writer.suspend(interrupting: { [weak self] in self?.interruptForSuspension() }, closing: closeReaders)
    }

    private func interruptForSuspension() {
        writer.interrupt(sparing: false)
        readers.interruptAll()
    }

    /// Waits for the blocks that read, which are interrupted.
    @Sendable private func closeReaders(and closeWriter: () -> Void) {
        try? readers.withoutReaders(of: path, within: .seconds(Int32.max), closeWriter)
    }

    func resumeNow() { writer.resumeNow() }
}

/// Interrupts again and again: between two of its statements a block has none.
private final class RepeatedInterruption: Sendable {
    private let isOver = Lock(false)

    func begin(_ interrupt: @escaping @Sendable () -> Void) {
        let goesOn = isOver.withLock { isOver in
            if !isOver { interrupt() }
            return !isOver
        }
        guard goesOn else { return }
        waitingClock.asyncAfter(deadline: .now() + .milliseconds(10)) { [self] in begin(interrupt) }
    }

    /// Afterwards it does not interrupt.
    func end() {
        isOver.withLock { $0 = true }
    }
}
