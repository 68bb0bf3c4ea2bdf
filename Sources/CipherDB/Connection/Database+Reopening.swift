/// Another connection in the place of one on which the engine reads nothing more.
extension Database {
    /// Opens the file again, where a damaged page has invalidated the connection and nothing of it is in use.
    ///
    /// Attached databases and temporary tables would be lost: with them, and where the file does not open, the connection stays,
    /// and its statements go on to fail.
    func replaceInvalidatedConnection() {
        guard case .keyed(let former, let verifiedKey) = state, former.isInvalidated, former.whyInUse == nil,
            !isImmutable,
            (try? former.hasMoreThanMain()) == false,
            let fresh = try? reopened(former.filename, verifiedKey, flags.subtracting(.create))
        else { return }
        clearCachedStatements()
        former.close()
        fresh.takeOver(former)
        state = .keyed(fresh, verifiedKey)
        // What fails closes the database, and the next statement says so.
        try? finishOpening()
        if former.authorizer.isReader { try? fresh.becomeReader() }
    }
}
