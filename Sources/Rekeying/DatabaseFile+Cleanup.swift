internal import CipherDB

extension DatabaseFile {
    /// Removes what killed runs left beside the database, which is not touched: a new file that was not complete, or an old
    /// one that had been replaced. They are overwritten first.
    ///
    /// - Returns: their paths.
    /// - Throws: ``FileProblem``, ``FileFailure``; `DatabaseError` with `busy` where another run, or any connection, uses the
    ///   database at this moment.
    public func cleanUp() throws -> [String] {
        let locked = try lockExclusively()
        defer { locked.release() }
        return try Leftovers(of: locked.path).remove()
    }
}
