/// Each call of a program asks whose turn it is before it touches anything else of the database.
extension Database {
    /// Runs `body` as one call.
    ///
    /// - Throws: what `body` throws; ``DatabaseError`` with ``ResultCode/misuse`` where the calling thread must not use the database;
    ///   ``UsedAfterFork``.
    @inline(__always) package func inTurn<Result>(_ body: () throws -> Result) throws -> Result {
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        return try body()
    }

    /// Runs `body` as one call; `refused`, and nothing happens, where the calling thread must not use the database.
    @inline(__always) package func inTurn<Result>(or refused: Result, _ body: () throws -> Result) rethrows -> Result {
        guard let isOuter = turn.enterIfFree() else { return refused }
        defer { turn.leave(isOuter) }
        return try body()
    }

    @usableFromInline func enter() throws -> Bool { try turn.enter() }
    @usableFromInline func leave(_ isOuter: Bool) { turn.leave(isOuter) }

    /// Closes it for the queue or pool that has it.
    func closeInBlock() {
        let hasTurn = (try? turn.begin()) != nil
        defer { if hasTurn { turn.end() } }
        close()
    }
}
