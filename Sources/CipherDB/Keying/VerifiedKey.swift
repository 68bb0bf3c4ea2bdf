package import CipherKeys

/// A key that was verified, and the format it was verified for: what later connections to the same file are opened with.
package struct VerifiedKey: Sendable {
    package let key: DerivedKey
    package let format: CipherFormat

    package init(key: DerivedKey, format: CipherFormat) {
        self.key = key
        self.format = format
    }

    /// `key` for a file that is made now: with a salt that no file has yet, unless the key brings one.
    ///
    /// - Parameter present: The file that it takes the place of: a salt that is not in the file stays the same, so that nobody has to
    ///   learn another.
    /// - Throws: ``UnusableCipherFormat/saltMissing``.
    package init(newFileUnder key: DatabaseKey, format: CipherFormat, like present: VerifiedKey? = nil) throws {
        var key = key
        if let present, present.format.plaintextHeaderSize > 0, key.salt == nil { key.saltOfHeader = present.key.salt }
        // It would be lost with the last connection: such a file does not contain it.
        if format.plaintextHeaderSize > 0, key.saltBesideFile == nil { throw UnusableCipherFormat.saltMissing }
        let known = format.plaintextHeaderSize > 0 ? key.saltBesideFile : key.salt
        let salt = try known ?? CipherFormat.newSalt()
        try self.init(writing: key, salt: salt, format: format)
    }

    /// `key` for pages that are written now.
    ///
    /// - Throws: ``UnusableCipherFormat/rawKeyWithoutAuthentication``: what is written could not be opened again.
    init(writing key: DatabaseKey, salt: [UInt8], format: CipherFormat) throws {
        guard key.isPassphrase || format.pageAuthentication != nil else {
            throw UnusableCipherFormat.rawKeyWithoutAuthentication
        }
        self.init(key: try key.derive(salt: salt, format: format), format: format)
    }

    /// Whether `key` is that of this file. A passphrase is derived for it.
    package func isOpened(by key: DatabaseKey) throws -> Bool {
        var key = key
        // A salt of another place does not matter: this file's is known.
        if key.salt == nil { key.saltOfHeader = self.key.salt }
        return try key.derive(salt: self.key.salt, format: format) == self.key
    }
}
