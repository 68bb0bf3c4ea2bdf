internal import CipherSystem

/// Which file a keyring is for, from before that is under its key.
extension KeyringContent {
    /// Whether the file at `path` was to come under the key, and nothing says that it did. It is also in use then.
    ///
    /// - Parameter path: Without links.
    package func isClaimed(for path: String) throws -> Bool {
        try current.salt == claim(for: path)
    }

    /// What stands in the place of the salt: the first 16 bytes of SHA-256 of the keyring's identifier and the path.
    func claim(for path: String) throws -> [UInt8] {
        try Array(OpenSSL.sha256(Array("claim".utf8) + identifier + path.pathBytes).prefix(16))
    }
}
