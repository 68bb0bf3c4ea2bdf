internal import CipherKeys
internal import CipherPages
internal import CipherSystem

/// Sets the key of an opened file in the engine.
extension UnkeyedFile {
    /// - Parameter proof: That the key opens the first page, where that was found out by it.
    func keyEngine(_ verifiedKey: VerifiedKey, _ proof: FirstPageProof? = nil) throws {
        let isAuthenticated = verifiedKey.format.pageAuthentication != nil
        if isAuthenticated, case .failure(let error) = DamageBehaviour.ofThisEngine { throw keyError(error.problem) }
        let literal = try verifiedKey.key.literal()
        // 4.x writes each wrong key to standard error, unless told not to; what has no such setting ignores it.
        let settings = "PRAGMA cipher_log_level = NONE;" + cipherSettings(verifiedKey.format)
        try Engine.keying.withLock { _ in
            try connection.key(literal)
            try connection.execute(settings)
        }
        connection.authorizer.isLockedDown = !configuration.unsafeAllowsAllSQL
        connection.setDefensive(!configuration.unsafeAllowsAllSQL)
        connection.isWatched = isAuthenticated
        try connection.watchFreshDatabase()
        if let proof { connection.keptContexts?.adopt(proof) }
        connection.readAhead(verifiedKey.format)
    }

    /// The pragmas that make the engine's own format into `format`; none if they are the same.
    private func cipherSettings(_ format: CipherFormat) -> String {
        guard let own = try? Engine.current.ownFormat(), format != own else { return "" }
        var settings: [String] = []
        if Engine.current.has(.cipherCompatibility) {
            settings.append("cipher_compatibility = \(format.version)")
        } else if format.pageAuthentication == nil {
            settings.append("cipher_use_hmac = OFF")
        }
        settings.append("cipher_page_size = \(format.pageSize)")
        settings.append("kdf_iter = \(format.iterations)")
        return settings.map { "PRAGMA \($0);" }.joined()
    }
}
