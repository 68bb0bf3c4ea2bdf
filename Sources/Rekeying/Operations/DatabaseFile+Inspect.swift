public import CipherDB
internal import CipherKeys
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

    /// What the file is.
    public let kind: Kind
    /// Bytes in the file.
    public let size: Int64
    /// The format in which the key fits; nil without a key or encryption.
    public let format: CipherFormat?
    /// Whole pages of the database, as its log or a journal that is to be played back have it; nil where the format is.
    public let pageCount: Int?
}

extension DatabaseFile {
    /// Looks at the file, and with `key` finds its format.
    ///
    /// - Throws: `KeyError/wrongKey` where the file is encrypted under another key; ``FileError``; `DatabaseError`.
    public func inspect(key: DatabaseKey? = nil) throws -> Inspection {
        let file = try open()
        defer { file.close() }
        let size = try file.pages.size()
        let kind: Inspection.Kind =
            switch file.kind {
            case .empty: .empty
            case .plaintext: .plaintext
            case .tooShort: .notADatabase
            case .opaque: try file.looksEncrypted() ? .encrypted : .notADatabase
            }
        guard kind == .encrypted, let key else {
            return Inspection(kind: kind, size: size, format: nil, pageCount: nil)
        }
        let format = try authenticate(key, file).verifiedKey.format
        let inForce = try file.pages.newestAfterRecovery(pageSize: format.pageSize, log: .valid).size()
        return Inspection(kind: kind, size: size, format: format, pageCount: Int(inForce) / format.pageSize)
    }
}
