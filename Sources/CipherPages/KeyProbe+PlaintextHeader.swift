internal import CipherKeys
internal import SQLiteFormat

/// Files that are encrypted behind a header in plaintext, of a size that is not known.
extension KeyProbe {
    var hasPlaintextHeader: Bool { head.starts(with: FileKind.magic) }

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
            for size in candidates {
                guard let candidate = try? format.changed({ $0.plaintextHeaderSize = size }) else { continue }
                // There are thousands of sizes.
                let images = KeyProbe.usualHeaders.contains(size) ? Int.max : 1
                if try opensAnyFirstPage(key, candidate, images: images) { return try opened(key, candidate) }
            }
            if isFound { return try withoutFirstPage(key, format) }
        }
        return .rejected
    }

    /// The format with each page size; first with that which the header says, and which may have been altered.
    private func pageSizes(of format: CipherFormat, first known: Int?) -> [CipherFormat] {
        let all = sizes(of: format).compactMap { format in
            try? format.changed { $0.plaintextHeaderSize = KeyProbe.usualHeaders[0] }
        }
        return all.filter { $0.pageSize == known } + all.filter { $0.pageSize != known }
    }

    /// Sizes up to SQLite's own header, the usual one first.
    private static let usualHeaders = [32, 16, 48, 64, 80, 96]

    private static func headers(of format: CipherFormat) -> [Int] {
        usualHeaders + stride(from: 112, through: format.pageSize - format.reserve, by: 16)
    }
}
