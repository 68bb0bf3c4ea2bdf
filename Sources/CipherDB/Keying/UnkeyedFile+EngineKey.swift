internal import CipherKeys
internal import CipherPages
internal import CipherSystem

/// Sets the key of an opened file in the engine.
extension UnkeyedFile {
    /// - Parameters:
    ///   - proof: That the key opens the first page, where that was found out by it.
    ///   - body: Reads the first page by the engine, which derives the HMAC key then.
    func keyEngine(_ verifiedKey: VerifiedKey, _ proof: FirstPageProof? = nil, _ body: () throws -> Void) throws {
        let isAuthenticated = verifiedKey.format.pageAuthentication != nil
        if isAuthenticated, case .failure(let error) = DamageBehaviour.ofThisEngine { throw keyError(error.code) }
        let literal = try verifiedKey.key.literal()
        // 4.x writes each wrong key to standard error, unless told not to; what has no such setting ignores it.
        let settings = try "PRAGMA cipher_log_level = NONE;" + Engine.settings(of: verifiedKey.format)
        try Engine.keying.withLock { _ in
            try connection.settingDefaults(for: verifiedKey.format) { try connection.key(literal) }
            try connection.execute(settings)
        }
        connection.authorizer.isLockedDown = !configuration.unsafeAllowsAllSQL
        connection.setDefensive(!configuration.unsafeAllowsAllSQL)
        connection.isWatched = isAuthenticated
        try connection.watchFreshDatabase()
        if let proof { connection.keptContexts?.adopt(proof) }
        connection.readAhead(verifiedKey.format)
        try connection.derivingMACKey(verifiedKey.format, body)
    }
}
