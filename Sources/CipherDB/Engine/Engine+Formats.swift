internal import CipherKeys
internal import CipherSystem

/// Formats in the terms of SQLCipher's pragmas.
extension Engine {
    /// The format that this engine writes unless asked otherwise.
    package func ownFormat() throws(KeyError) -> CipherFormat {
        guard canEncrypt, let format = formats.first else { throw KeyError(.engineHasNoEncryption) }
        return format
    }

    /// Whether it reads and writes files of the format, whatever their page size.
    package func writes(_ format: CipherFormat) -> Bool {
        guard let newest = formats.first?.version, let needed = Engine.versionNeeded(by: format) else { return false }
        return needed <= newest
    }

    /// The first major version of SQLCipher that opens a format; nil where none does.
    package static func versionNeeded(by format: CipherFormat) -> Int? {
        // SQLite3 Multiple Ciphers alone.
        guard (format.macKeyDerivation ?? format.keyDerivation) == format.keyDerivation else { return nil }
        let needsPragmas =
            format.keyDerivation != .sha1 || ![nil, .sha1].contains(format.pageAuthentication)
            || format.plaintextHeaderSize > 0
        return needsPragmas ? 4 : format.version
    }

    /// The pragmas behind the key that make the engine's own format into `format`; none if they are the same.
    ///
    /// Their order is one in which each is valid for what stands before it: `cipher_compatibility` resets most of the others, and the
    /// header must fit into the page.
    static func settings(of format: CipherFormat) throws -> String {
        let own = try current.ownFormat()
        guard format != own else { return "" }
        var settings: [String] = []
        let isNew = current.has(.cipherCompatibility)
        if isNew { settings.append("cipher_compatibility = \(format.version)") }
        settings.append("cipher_page_size = \(format.pageSize)")
        if let hash = format.pageAuthentication {
            // After cipher_compatibility = 1 there are none.
            settings.append("cipher_use_hmac = ON")
            if isNew { settings.append("cipher_hmac_algorithm = HMAC_\(hash.rawValue)") }
        } else {
            settings.append("cipher_use_hmac = OFF")
        }
        if isNew { settings.append("cipher_kdf_algorithm = PBKDF2_HMAC_\(format.keyDerivation.rawValue)") }
        settings.append("kdf_iter = \(format.iterations)")
        if format.macKeyIterations != CipherFormat.usualMACKeyIterations {
            settings.append("fast_kdf_iter = \(format.macKeyIterations)")
        }
        if format.pageNumberOrder != .littleEndian {
            settings.append("cipher_hmac_pgno = \(format.pageNumberOrder.rawValue)")
        }
        if format.plaintextHeaderSize > 0 {
            settings.append("cipher_plaintext_header_size = \(format.plaintextHeaderSize)")
        }
        return settings.map { "PRAGMA \($0);" }.joined()
    }
}

extension Connection {
    /// Runs `body`, in which the engine derives the HMAC key of the connection, or another one of the same format.
    ///
    /// The mask of its salt is one number for the whole engine: while a file with another one is keyed, no other connection is.
    func derivingMACKey<Result>(_ format: CipherFormat, _ body: () throws -> Result) throws -> Result {
        guard format.macSaltMask != CipherFormat.usualMask else { return try Connection.maskUse.shared(body) }
        return try Connection.maskUse.exclusive {
            defer { try? setMask(CipherFormat.v4) }
            try setMask(format)
            return try body()
        }
    }

    /// Runs `body`, which sets the key, with the defaults that a format needs before that. They are the whole engine's: keys are set by
    /// one connection at a time.
    ///
    /// SQLCipher 4 reserves room for a MAC with the key, and in pages of 512 bytes SQLite has no such room.
    func settingDefaults<Result>(for format: CipherFormat, _ body: () throws -> Result) throws -> Result {
        guard format.pageSize == 512, Engine.current.has(.cipherCompatibility) else { return try body() }
        defer { try? unrestricted { try execute("PRAGMA cipher_default_use_hmac = ON") } }
        try unrestricted { try execute("PRAGMA cipher_default_use_hmac = OFF") }
        return try body()
    }

    private func setMask(_ format: CipherFormat) throws {
        try unrestricted { try execute("PRAGMA cipher_hmac_salt_mask = \"x'\(format.hexadecimalMask)'\"") }
    }

    private static let maskUse = ReadWriteLock()
}
