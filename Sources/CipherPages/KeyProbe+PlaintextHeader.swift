internal import CipherKeys
internal import SQLiteFormat

/// Files that are encrypted behind a header in plaintext, of a size that is not known.
extension KeyProbe {
    var hasPlaintextHeader: Bool { head.starts(with: FileKind.magic) || FileKind.isDamagedMagic(head) }

    /// Tries a key that brings the salt on a file whose header does not begin as one, but states a page size.
    func runBehindLostMagic(_ keys: DerivedKeys, _ formats: [CipherFormat]) throws -> Outcome {
        guard !hasPlaintextHeader, keys.saltBesideFile != nil, PlaintextHeader.pageSize(head) != nil else {
            return .rejected
        }
        for format in formats where format.plaintextHeaderSize == 0 && format.pageAuthentication != nil {
            let outcome = try runBehindHeader(keys, format)
            if case .rejected = outcome { continue }
            return outcome
        }
        return .rejected
    }

    /// The same with a key under which other pages are authentic: page 1 may be so behind a header.
    func behindLostMagic(_ key: DerivedKey, _ format: CipherFormat) throws -> Outcome? {
        guard !hasPlaintextHeader, key.salt != salt, PlaintextHeader.pageSize(head) != nil else { return nil }
        let candidates = KeyProbe.usualHeaders.compactMap { size in
            try? format.changed { $0.plaintextHeaderSize = size }
        }
        return try candidates.first { try opensAnyFirstPage(key, $0, images: 1) }.map { try opened(key, $0) }
    }

    /// Tries a format with every size of the header.
    ///
    /// The MAC of page 1 covers what is behind the header: with other pages, whose MACs do not depend on it, the format is found first.
    func runBehindHeader(_ keys: DerivedKeys, _ format: CipherFormat) throws -> Outcome {
        let isUsual = CipherFormat.standard.contains(format)
        let known = PlaintextHeader.pageSize(head)
        for format in pageSizes(of: format, first: known) {
            let key = try keys.derive(salt: salt, format: format)
            let isFound = try hasOtherPages(key, format, isUsual ? 32 : 4)
            let isLikely = isUsual && (known == nil || known == format.pageSize)
            let candidates = isFound || isLikely ? KeyProbe.headers(of: format) : KeyProbe.usualHeaders
            // It does not depend on the size of the header, of which there are thousands.
            let mac = try PageMAC(key: key, format: format)
            for size in candidates {
                guard let candidate = try? format.changed({ $0.plaintextHeaderSize = size }) else { continue }
                let images = KeyProbe.usualHeaders.contains(size) ? Int.max : 1
                if try opensAnyFirstPage(key, candidate, images: images, mac: mac) { return try opened(key, candidate) }
            }
            if isFound { return try withoutFirstPage(key, likelyHeader(key, format)) }
        }
        return .rejected
    }

    /// The format with the header behind which a damaged page 1 decrypts still, if that can be told.
    private func likelyHeader(_ key: DerivedKey, _ format: CipherFormat) throws -> CipherFormat {
        try KeyProbe.provingHeaders.lazy
            .compactMap { size in try? format.changed { $0.plaintextHeaderSize = size } }
            .first { try decryptsFirstPage(key, $0) } ?? format
    }

    /// Where page 1 is damaged, the header is as large as a format says that is named.
    func withNamedHeader(_ outcome: Outcome, _ formats: [CipherFormat]) -> Outcome {
        guard case .firstPageDamaged(let key, let found) = outcome else { return outcome }
        let named = formats.first { format in
            let size = format.plaintextHeaderSize
            return size > 0 && (try? found.changed { $0.plaintextHeaderSize = size }) == format
        }
        return .firstPageDamaged(key, named ?? found)
    }

    /// The format with each page size; first with that which the header says, and which may have been altered.
    private func pageSizes(of format: CipherFormat, first known: Int?) -> [CipherFormat] {
        let all = sizes(of: format).compactMap { format in
            try? format.changed { $0.plaintextHeaderSize = KeyProbe.usualHeaders[0] }
        }
        return all.filter { $0.pageSize == known } + all.filter { $0.pageSize != known }
    }

    /// Sizes up to SQLite's own header, the usual one first.
    static let usualHeaders = [32, 16, 48, 64, 80, 96]
    /// Those behind which what is decrypted of SQLite's header proves a key.
    static let provingHeaders = usualHeaders.filter { $0 <= 80 }

    private static func headers(of format: CipherFormat) -> [Int] {
        usualHeaders + stride(from: 112, through: format.pageSize - format.reserve, by: 16)
    }
}
