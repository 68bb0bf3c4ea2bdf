internal import CipherKeys
internal import SQLiteFormat

/// Files without a right MAC, although the key is right: it decrypts page 1, which no other key does.
extension KeyProbe {
    /// The outcome for a key under which no page is authentic in any of `formats`.
    func outcomeOfDecryption(_ keys: DerivedKeys, _ formats: [CipherFormat]) throws -> Outcome {
        var found = Outcome.rejected
        for (index, format) in formats.enumerated()
        where !formats[..<index].contains(where: { $0.hasSameDerivation(as: format) }) {
            for layout in layouts(of: format) {
                let key = try keys.derive(salt: salt, format: layout)
                guard try decryptsFirstPage(key, layout) else { continue }
                guard layout.pageAuthentication != nil else { return .withoutMACs(layout) }
                // Without the salt, no MAC can be right.
                guard !hasPlaintextHeader || keys.saltBesideFile != nil else { continue }
                if try hasMACsUnderOwnSalt(keys, layout) { return .otherMACKey(isSaltOfKey: true) }
                if let other = try withOtherParameters(key, layout, keys) { return .otherParameters(other) }
                found = .otherMACKey(isSaltOfKey: false)
            }
        }
        return found
    }

    /// The format with each page size, reserve and usual plaintext header: all that decryption depends on.
    private func layouts(of format: CipherFormat) -> [CipherFormat] {
        let headers = hasPlaintextHeader ? KeyProbe.provingHeaders : [0]
        let macs: [HashAlgorithm?] = [.sha512, .sha1, nil]
        return CipherFormat.pageSizes.flatMap { size in
            macs.flatMap { mac in
                headers.compactMap { header in
                    try? format.changed {
                        $0.pageSize = size
                        $0.pageAuthentication = mac
                        $0.plaintextHeaderSize = header
                    }
                }
            }
        }
    }

    /// Whether page 1 decrypts to one of SQLite's, by some 40 bits that are known.
    func decryptsFirstPage(_ key: DerivedKey, _ format: CipherFormat) throws -> Bool {
        let cipher = try PageCipher(key: key, format: format)
        return try ([Array(head.prefix(format.pageSize))] + log.pages().prefix(1)).contains { page in
            guard page.count == format.pageSize else { return false }
            return try cipher.isFirstPage(decrypted: cipher.decrypt(page, number: 1))
        }
    }

    /// The format whose MACs are right with other parameters of the HMAC key than those that are searched for.
    private func withOtherParameters(
        _ key: DerivedKey,
        _ layout: CipherFormat,
        _ keys: DerivedKeys
    ) throws -> CipherFormat? {
        let macs: [HashAlgorithm] = layout.pageAuthentication == .sha512 ? [.sha512] : [.sha1, .sha256]
        // A raw key is tried with each hash of the KDF.
        let macKeys = keys.isPassphrase ? [layout.keyDerivation] + macs : [layout.keyDerivation]
        let masks = (UInt8.min...UInt8.max).map { ($0, CipherFormat.usualMACKeyIterations) }
        let iterations = KeyProbe.macKeyIterations.map { (CipherFormat.usualMask, $0) }
        for (mask, count) in masks + iterations {
            for mac in macs {
                for macKey in Set(macKeys) {
                    for order in PageNumberOrder.allCases {
                        let candidate = try layout.changed {
                            $0.pageAuthentication = mac
                            $0.macKeyDerivation = macKey == layout.keyDerivation ? nil : macKey
                            $0.pageNumberOrder = order
                            $0.macSaltMask = mask
                            $0.macKeyIterations = count
                        }
                        if try opensAnyFirstPage(key, candidate, images: 1) { return candidate }
                    }
                }
            }
        }
        return nil
    }

    /// Whether the salt in the file makes MACs right that the salt of the key does not.
    private func hasMACsUnderOwnSalt(_ keys: DerivedKeys, _ layout: CipherFormat) throws -> Bool {
        guard layout.plaintextHeaderSize == 0, let key = try keys.derive(inPlaceOfOwnSalt: salt, format: layout) else {
            return false
        }
        return try withOtherParameters(key, layout, keys) != nil
    }

    /// Iterations of the HMAC key that somebody may have chosen: small numbers, and those of KDFs.
    private static let macKeyIterations = Array(1...100) + [1000, 4000, 10_000, 64_000]
}
