public import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// The result of an inspection, which does not change the file.
public struct Inspection: Sendable, Equatable {
    /// The kinds of file.
    public enum Kind: String, Sendable {
        /// A SQLite database that is not encrypted.
        case plaintext
        /// Bytes without a pattern, as an encrypted database has; with a key it is proved.
        case encrypted
        /// No bytes.
        case empty
        /// Anything else.
        case notADatabase
    }

    /// What a file looks like that may be encrypted.
    public struct Appearance: Sendable, Equatable {
        /// Bits of entropy in a byte, of the first 64 KiB: 8 at most.
        public let entropy: Double
        /// The page sizes of SQLite that the size of the file is a multiple of.
        public let possiblePageSizes: [Int]
        /// Whether the file begins as a plaintext database does, and is encrypted behind that; then the salt is not in the file.
        public let hasPlaintextHeader: Bool
    }

    /// What the file is.
    public let kind: Kind
    /// Bytes in the file.
    public let size: Int64
    /// The format in which the key fits; nil without a key or encryption.
    public let format: CipherFormat?
    /// Whole pages of the database, as its log or a journal that is to be played back have it; nil where the format is.
    public let pageCount: Int?
    /// What the file looks like where it may be encrypted and no key proved that; else nil.
    public let appearance: Appearance?
    /// What a file is that is no database, such as `gzip data`; nil where that is not known.
    public let fileType: String?
}

extension DatabaseFile {
    /// Looks at the file, and with `key` finds its format.
    ///
    /// - Throws: `KeyError.wrongKey` where the file is encrypted under another key; ``FileError``; `DatabaseError`.
    public func inspect(key: DatabaseKey? = nil) throws -> Inspection {
        try limitingWaits { try look(key) }
    }

    private func look(_ key: DatabaseKey?) throws -> Inspection {
        let file = try open()
        defer { file.close() }
        let size = try file.pages.size()
        let kind: Inspection.Kind =
            switch file.kind {
            case .empty: .empty
            case .plaintext: .plaintext
            case .tooShort: .notADatabase
            case .plaintextHeader: .encrypted
            case .opaque: try file.looksEncrypted() ? .encrypted : .notADatabase
            }
        guard let key, let found = try authentication(key, file, kind) else {
            return Inspection(
                kind: kind,
                size: size,
                format: nil,
                pageCount: nil,
                appearance: kind == .encrypted ? try appearance(of: file, size) : nil,
                fileType: kind == .notADatabase ? file.fileType : nil
            )
        }
        if case .sideFileUnderOtherKey(let side) = found.damage { throw file.underOtherKey(side) }
        let format = found.verifiedKey.format
        let inForce = try file.pages.newestAfterRecovery(pageSize: format.pageSize, log: .valid).size()
        return Inspection(
            kind: .encrypted,
            size: size,
            format: format,
            pageCount: Int(inForce) / format.pageSize,
            appearance: nil,
            fileType: nil
        )
    }

    /// Throws for a file that no key opens, as it looks.
    package func checkMayBeEncrypted() throws {
        let file = try open()
        defer { file.close() }
        try file.checkMayBeEncrypted(file.kind)
    }

    /// Nil for a file that is not encrypted.
    private func authentication(
        _ key: DatabaseKey,
        _ file: UnkeyedFile,
        _ kind: Inspection.Kind
    ) throws -> Authentication? {
        guard kind == .encrypted || kind == .plaintext else { return nil }
        do {
            return try authenticate(key, file)
        } catch KeyError.notEncrypted {
            return nil
        }
    }

    private func appearance(of file: UnkeyedFile, _ size: Int64) throws -> Inspection.Appearance {
        let bytes = try file.pages.read(65536, at: 0)
        return Inspection.Appearance(
            entropy: ByteHistogram(bytes).entropy,
            possiblePageSizes: CipherFormat.pageSizes.filter { size % Int64($0) == 0 },
            hasPlaintextHeader: file.kind == .plaintextHeader
        )
    }
}
