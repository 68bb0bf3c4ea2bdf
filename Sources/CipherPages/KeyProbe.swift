package import CipherKeys
package import SQLiteFormat

/// Tries a key on a database file, without the engine and without touching the file.
///
/// The engine answers one code to a wrong key, a missing key, another format and a damaged first page; the HMAC of each
/// page tells them apart.
package struct KeyProbe {
    /// How one format fared: the images of page 1 are tried under its derived key.
    private struct Attempt {
        let key: DerivedKey
        let format: CipherFormat
    }

    let head: [UInt8]
    let source: any PageSource
    let log: FirstPagesInLog
    private let size: Int64

    /// Reads the first page; `largestPage` bytes of it, where the page size is known.
    ///
    /// `log` is the write-ahead log, where there is one: for a database that was rekeyed and not checkpointed, page 1 under
    /// the present key stands there only. It is opened where page 1 of the file is not authentic.
    package init(
        database: any PageSource,
        log: @autoclosure @escaping () -> (any PageSource)?,
        largestPage: Int = CipherFormat.pageSizes.last!
    ) throws {
        source = database
        self.log = FirstPagesInLog(log)
        size = try database.size()
        head = try database.read(largestPage, at: 0)
    }

    /// Looks at `firstPage` alone, such as one that a rollback journal holds.
    package init(firstPage: [UInt8]) {
        head = firstPage
        source = NoBytes()
        log = FirstPagesInLog { nil }
        size = 0
    }

    private struct NoBytes: PageSource {
        func size() throws -> Int64 { 0 }
        func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int { 0 }
    }

    /// The first 16 bytes of the file: the salt, unless the file has a plaintext header.
    package var salt: [UInt8] { Array(head.prefix(CipherFormat.saltSize)) }

    /// Whether page 1 is another than it was when it was read. In WAL mode a checkpoint may write it at that moment, and
    /// half of each be read.
    package func isOutdated() throws -> Bool {
        try source.read(head.count, at: 0) != head
    }

    /// Tries a key with the formats of a search, and tells which of them the search does not accept. A key that opens nothing may be right
    /// all the same.
    package func run(_ keys: DerivedKeys, _ search: FormatSearch) throws -> Outcome {
        let formats = search.formats(isPassphrase: keys.isPassphrase)
        switch try run(keys, formats: formats) {
        case .opens(_, let format) where !search.accepts(format): return .withoutMACs(format)
        case .rejected:
            let behindHeader = try runBehindLostMagic(keys, formats)
            guard case .rejected = behindHeader else { return behindHeader }
            return try outcomeOfDecryption(keys, formats)
        case let outcome: return outcome
        }
    }

    /// Tries a key with each of `formats` in turn, at the format's own page size first and then at every other.
    ///
    /// A passphrase costs one derivation for each hash and number of iterations. In a file with a plaintext header, formats without one
    /// are tried with every size of the header.
    package func run(_ keys: DerivedKeys, formats: [CipherFormat]) throws -> Outcome {
        var attempts: [Attempt] = []
        for format in formats {
            if hasPlaintextHeader, format.plaintextHeaderSize == 0 {
                let outcome = try runBehindHeader(keys, format)
                if case .rejected = outcome { continue }
                if format.pageAuthentication != nil { return withNamedHeader(outcome, formats) }
                if try !hasMACs(keys, formats, like: format) { return outcome }
                continue
            }
            let derived = try keys.derive(salt: salt, format: format)
            if let found = try opening(derived, format) {
                if format.pageAuthentication != nil { return try opened(derived, found) }
                if try !hasMACs(keys, formats, like: format) { return try opened(derived, found) }
            }
            attempts.append(Attempt(key: derived, format: format))
        }
        for attempt in attempts {
            // The usual formats are searched for more closely.
            let samples = CipherFormat.standard.contains(attempt.format) || formats.count < 8 ? 32 : 4
            if let found = try recognisingOtherPages(attempt, samples) {
                return try withoutFirstPage(attempt.key, found)
            }
        }
        if try attempts.contains(where: isUnderStreamCipher) { return .otherCipher }
        return .rejected
    }

    /// As ``run(_:formats:)-(DerivedKeys,_)``.
    package func run(_ key: DatabaseKey, formats: [CipherFormat]) throws -> Outcome {
        try run(DerivedKeys(key), formats: formats)
    }

    /// Tries a key that is already derived, with one format as it is.
    package func run(_ key: DerivedKey, format: CipherFormat) throws -> Outcome {
        if try opensAnyFirstPage(key, format) { return try opened(key, format) }
        if let found = try recognisingOtherPages(Attempt(key: key, format: format), 32) {
            return try withoutFirstPage(key, found)
        }
        return .rejected
    }

    /// Whether pages other than the first have MACs under the key that a format without them derives, in one of `formats`: page 1 alone
    /// cannot be without.
    private func hasMACs(_ keys: DerivedKeys, _ formats: [CipherFormat], like format: CipherFormat) throws -> Bool {
        var candidates: Set<CipherFormat> = []
        for other in formats where other.pageAuthentication != nil {
            // The header is in page 1 only, and without one the file's salt would count.
            let candidate = try? other.changed { $0.plaintextHeaderSize = hasPlaintextHeader ? 16 : 0 }
            // A raw key is the same in all formats.
            guard let candidate,
                !keys.isPassphrase
                    || other.keyDerivation == format.keyDerivation && other.iterations == format.iterations
            else { continue }
            candidates.insert(candidate)
        }
        return try candidates.contains { candidate in
            let key = try keys.derive(salt: salt, format: candidate)
            return try recognisingOtherPages(Attempt(key: key, format: candidate), 8) != nil
        }
    }

    private func opening(_ key: DerivedKey, _ format: CipherFormat) throws -> CipherFormat? {
        // The file says how large its pages are: a log of another size is another database's.
        try sizes(of: format).first { try opener(key, $0)(head) }
            ?? sizes(of: format).first { try $0.pageSize == log.pages().first?.count && opensAnyFirstPage(key, $0) }
    }

    /// The cause when other pages are authentic, and page 1 is not.
    func withoutFirstPage(_ key: DerivedKey, _ format: CipherFormat) throws -> Outcome {
        if let outcome = try behindLostMagic(key, format) { return outcome }
        let isOther = try FileKind.hasLayoutOfMultipleCiphers(source) && isAuthenticBehindFields(key, format)
        return isOther ? .otherLayout : .firstPageDamaged(key, format)
    }

    /// Whether page 1 is authentic in the layout of SQLite3 Multiple Ciphers, where bytes 16 to 23 are plaintext that no MAC covers.
    private func isAuthenticBehindFields(_ key: DerivedKey, _ format: CipherFormat) throws -> Bool {
        var format = format
        // Not a size that SQLCipher has.
        format.plaintextHeaderSize = 24
        return try opener(key, format)(head)
    }

    /// SQLCipher before 4 also had ciphers without blocks (`PRAGMA cipher`); with a `cipher_use_hmac` after that the reserve is not rounded
    /// up to a block.
    private func isUnderStreamCipher(_ attempt: Attempt) throws -> Bool {
        guard attempt.format.pageAuthentication == .sha1, attempt.format.keyDerivation == .sha1 else { return false }
        return try sizes(of: attempt.format).contains { format in
            let start = format.pageSize - HashAlgorithm.sha1.digestSize
            let mac = try PageMAC(key: attempt.key, format: format, start: start)
            return try head.prefix(format.pageSize).withUnsafeBytes { try mac?.isRight($0, number: 1) ?? false }
        }
    }

    /// SQLCipher before 4 had ciphers with keys of the same size (`PRAGMA cipher`): the MAC of a page does not depend on the cipher.
    func opened(_ key: DerivedKey, _ format: CipherFormat) throws -> Outcome {
        let cipher = try PageCipher(key: key, format: format)
        let pages = try ([Array(head.prefix(format.pageSize))] + log.pages()).filter(cipher.opensFirstPage)
        // Any of them may be in force.
        if let flaw = pages.lazy.compactMap({ HeaderFlaw($0, format: format) }).first {
            return .headerDamaged(key, format, flaw)
        }
        let isDatabase = try pages.contains { page in
            try PlaintextHeader.pageSize(cipher.decrypt(page, number: 1)) == format.pageSize
        }
        return isDatabase ? .opens(key, format) : .otherCipher
    }

    /// Whether a key opens page 1 in the file, or one of so many of the newest images in the log.
    ///
    /// - Parameter mac: That of the format, or of the same with another plaintext header, where it is made already.
    func opensAnyFirstPage(
        _ key: DerivedKey,
        _ format: CipherFormat,
        images: Int = .max,
        mac: PageMAC? = nil
    ) throws -> Bool {
        let opens = try opener(key, format, mac)
        return try opens(head)
            || log.pages().prefix(images).contains { try $0.count == format.pageSize && opens($0) }
    }

    /// Whether a page is a first page under the key: without MACs by its header.
    private func opener(
        _ key: DerivedKey,
        _ format: CipherFormat,
        _ mac: PageMAC? = nil
    ) throws -> ([UInt8]) throws -> Bool {
        guard let mac = try mac ?? PageMAC(key: key, format: format) else {
            let cipher = try PageCipher(key: key, format: format)
            return { try cipher.opensFirstPage($0.prefix(format.pageSize)) }
        }
        return { page in
            try page.withUnsafeBytes { page in
                try mac.isRight(
                    UnsafeRawBufferPointer(rebasing: page.prefix(format.pageSize)),
                    number: 1,
                    from: format.firstPageStart
                )
            }
        }
    }

    /// Pages spread over the file: enough to find an authentic one beside a damaged page 1, and still quick with a wrong key.
    private func recognisingOtherPages(_ attempt: Attempt, _ samples: Int) throws -> CipherFormat? {
        guard attempt.format.pageAuthentication != nil else { return nil }
        return try sizes(of: attempt.format).first { try hasOtherPages(attempt.key, $0, samples) }
    }

    /// Whether one of so many pages, other than the first, is authentic.
    func hasOtherPages(_ key: DerivedKey, _ format: CipherFormat, _ samples: Int) throws -> Bool {
        let pages = min(size / Int64(format.pageSize), Int64(UInt32.max))
        guard pages > 1, let mac = try PageMAC(key: key, format: format) else { return false }
        return try stride(from: 2, through: pages, by: max(1, Int(pages - 1) / samples)).contains { number in
            let page = try source.read(format.pageSize, at: (number - 1) * Int64(format.pageSize))
            return try page.withUnsafeBytes { try mac.isRight($0, number: UInt32(number)) }
        }
    }

    func sizes(of format: CipherFormat) -> [CipherFormat] {
        [format]
            + CipherFormat.pageSizes.filter { $0 != format.pageSize }.compactMap { size in
                try? format.changed { $0.pageSize = size }
            }
    }
}

extension KeyProbe {
    /// What a key is to a file.
    package enum Outcome {
        /// Page 1 is authentic under this key in this format.
        case opens(DerivedKey, CipherFormat)
        /// The key is right, and the pages have no MACs, which nobody said of the file: they may have been removed.
        case withoutMACs(CipherFormat)
        /// Page 1 is not authentic, but other pages are: the key is right, and page 1 is damaged.
        case firstPageDamaged(DerivedKey, CipherFormat)
        /// Page 1 is authentic under this key, and its plaintext header, which no MAC covers, contradicts the format.
        case headerDamaged(DerivedKey, CipherFormat, HeaderFlaw)
        /// Page 1 is authentic under this key, and what is in it is no beginning of a database: the cipher is another one.
        case otherCipher
        /// Page 1 is authentic in this format, which is searched for only where the key decrypts page 1: a damaged salt can look so.
        case otherParameters(CipherFormat)
        /// The key decrypts page 1, and no MAC of the file is right under it; `isSaltOfKey` if it is with the file's salt in place of the key's.
        case otherMACKey(isSaltOfKey: Bool)
        /// Other pages are authentic, and so is page 1 in the layout that SQLite3 Multiple Ciphers has by default.
        case otherLayout
        /// No page that was looked at is authentic in any of the formats tried.
        case rejected

        /// The format in which the key is right.
        package var format: CipherFormat? {
            switch self {
            case .opens(_, let format), .firstPageDamaged(_, let format), .headerDamaged(_, let format, _): format
            case .withoutMACs, .otherParameters, .otherMACKey, .otherCipher, .otherLayout, .rejected: nil
            }
        }
    }
}

/// The images of page 1 in the log, read once and only when they are asked for.
final class FirstPagesInLog {
    private let open: () -> (any PageSource)?
    private var images: [[UInt8]]?

    init(_ open: @escaping () -> (any PageSource)?) {
        self.open = open
    }

    func pages() throws -> [[UInt8]] {
        if let images { return images }
        var found: [[UInt8]] = []
        if let log = open(), let index = try WriteAheadLog(log) {
            // The last of them is the one in force; one before may become so when a torn log is recovered. Each takes as long as page 1.
            found = try index.firstPages.suffix(16).reversed().map { try log.read(index.pageSize, at: $0) }
        }
        images = found
        return found
    }
}
