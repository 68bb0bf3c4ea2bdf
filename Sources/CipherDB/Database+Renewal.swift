/// Another connection in the place of one on which the engine reads nothing more.
extension Database {
    /// Opens the file again, where a damaged page has spoiled the connection and nothing of it is in use.
    ///
    /// Attached databases and temporary tables would be lost: with them, and where the file does not open, the connection stays,
    /// and its statements go on to fail.
    func replaceSpoiledConnection() {
        guard case .keyed(let former, let unlocked) = state, former.isSpoiled, former.whyInUse == nil, !isImmutable,
            (try? former.hasMoreThanMain()) == false,
            let fresh = try? connect(former.filename, flags: flags.subtracting(.create))
        else { return }
        guard (try? verify(fresh, .unlocked(unlocked))) != nil else { return fresh.close() }
        clearCachedStatements()
        former.close()
        fresh.takeOver(former)
        state = .keyed(fresh, unlocked)
        // What fails closes the database, and the next statement says so.
        try? finishOpening()
        if former.authorizer.isReader { try? fresh.becomeReader() }
    }
}
