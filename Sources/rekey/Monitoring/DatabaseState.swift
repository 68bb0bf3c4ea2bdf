import CipherDB
import Rekeying

/// What a check found a database file to be. The raw values are published: in JSON and as a label of metrics.
enum DatabaseState: String, CaseIterable {
    /// Encrypted, by its look or as its key proves.
    case encrypted
    /// The same, behind a header in plaintext.
    case plaintextHeader
    /// Encrypted under the key, and nothing proves that its pages are those that were written.
    case withoutMACs
    case plaintext
    case empty
    case notADatabase
    /// Encrypted under the key, with damaged pages or errors of structure.
    case damaged
    case wrongKey
    /// Encrypted by its look; the check with the key failed for another cause than the file.
    case notVerified
    case missing
    case notAFile
    case unreadable

    /// The state of a file that was not verified, by what it is without a key.
    init(_ inspection: Inspection) {
        switch inspection.kind {
        case .encrypted: self = inspection.appearance?.hasPlaintextHeader == true ? .plaintextHeader : .encrypted
        case .plaintext: self = .plaintext
        case .empty: self = .empty
        case .notADatabase: self = .notADatabase
        }
    }

    init(_ found: Verification) {
        if !found.isSound {
            self = .damaged
        } else if found.format.pageAuthentication == nil {
            self = .withoutMACs
        } else {
            self = found.format.plaintextHeaderSize > 0 ? .plaintextHeader : .encrypted
        }
    }

    /// The state of a file whose check failed.
    ///
    /// - Parameter isInspected: Whether it could be read without a key.
    init(_ error: any Error, isInspected: Bool) {
        switch error {
        case FileError.missing: self = .missing
        case FileError.notAFile: self = .notAFile
        case let error as KeyError: self = DatabaseState(error.code)
        case let error as KeyringError where error.code == .otherDatabase: self = .wrongKey
        case let error as DatabaseError where isInspected && [.corrupt, .notADatabase].contains(error.code.primary):
            self = .damaged
        default: self = isInspected ? .notVerified : .unreadable
        }
    }

    private init(_ code: ErrorCode<KeyError>) {
        switch code {
        case .wrongKey: self = .wrongKey
        case .notEncrypted: self = .plaintext
        case .notADatabase: self = .notADatabase
        case .damaged, .journalUnderOtherKey: self = .damaged
        case .withoutMACs: self = .withoutMACs
        default: self = .notVerified
        }
    }

    /// For a file that was checked without an error.
    var status: ExitStatus {
        switch self {
        case .encrypted, .plaintextHeader, .withoutMACs: .done
        default: .damaged
        }
    }

    /// For people.
    var words: String {
        switch self {
        case .encrypted: "encrypted"
        case .plaintextHeader: "encrypted behind a plaintext header"
        case .withoutMACs: "encrypted, without MACs"
        case .plaintext: "plaintext: the database is not encrypted"
        case .empty: "empty"
        case .notADatabase: "not a database"
        case .damaged: "damaged"
        case .wrongKey: "wrong key"
        case .notVerified: "not verified"
        case .missing: "missing"
        case .notAFile: "not a file"
        case .unreadable: "unreadable"
        }
    }
}
