import CipherDB
internal import CipherSystem
import Foundation
import Rekeying

/// The check of one file for a monitor. It never throws: what fails is its result.
struct DatabaseCheck {
    let file: String
    let state: DatabaseState
    let status: ExitStatus
    /// What the file is without a key; nil where it could not be read.
    let inspection: Inspection?
    let verification: Verification?
    /// The day on which the key of the keyring was retired that the file is under.
    let keyRetired: String?
    /// Why the file could not be checked.
    let error: (any Error)?
    /// The keyring, where there is one, as it is without a secret.
    let keyring: (path: String, content: Result<KeyringContent, any Error>)?
    let ended = Date()
    let duration: Duration

    /// - Parameters:
    ///   - keys: Where the key of the file comes from; nil to look at the file only.
    ///   - keyring: The keyring to read.
    init(
        _ file: String,
        _ database: DatabaseFile,
        keys: FileKeys?,
        checksStructure: Bool,
        keyring: Keyring?,
        progress: (FileProgress) throws -> Void
    ) {
        let began = ContinuousClock.now
        var inspection: Inspection?
        var verified: (found: Verification, key: DatabaseKey, retired: String?)?
        var failure: (any Error)?
        do {
            let found = try database.inspect()
            inspection = found
            // A damaged page 1 may look like no database.
            if let keys, [.encrypted, .notADatabase].contains(found.kind) {
                verified = try keys.verify(file, checksStructure: checksStructure, progress: progress)
            }
        } catch {
            failure = error
        }
        self.file = file
        self.inspection = inspection
        verification = verified?.found
        keyRetired = verified?.retired
        error = failure
        if let failure {
            state = DatabaseState(failure, isInspected: inspection != nil)
            status = ExitStatus(failure)
        } else {
            state = verified.map { DatabaseState($0.found) } ?? inspection.map { DatabaseState($0) } ?? .unreadable
            status = state.status
        }
        self.keyring = keyring.map { keyring in (keyring.path, Result { try keyring.content() }) }
        duration = .now - began
    }

    /// Whether every page is proved to be as it was written, and no error of structure was found. Never without a key.
    var isVerified: Bool {
        guard let verification else { return false }
        return verification.isSound && verification.format.pageAuthentication != nil
    }

    /// Whether the file is encrypted: under its key, or by its look. One that could not be read counts as not encrypted.
    var isEncrypted: Bool {
        switch state {
        case .encrypted, .plaintextHeader, .withoutMACs, .damaged: true
        case .plaintext, .empty, .notADatabase, .missing, .notAFile, .unreadable: false
        case .wrongKey, .notVerified: inspection?.kind == .encrypted
        }
    }

    var isInterrupted: Bool { error is Interrupted }

    var seconds: Double { duration / .seconds(1) }

    /// The error's message, without the name of the file at its beginning.
    var message: String? {
        error.map { error in
            let text = Report.message(error, file)
            return text.hasPrefix("\(file): ") ? String(text.dropFirst(file.count + 2)) : text
        }
    }

    /// For people.
    var line: String {
        guard status == .done else {
            // Some messages begin with the same words.
            let cause = cause.map { $0.hasPrefix(state.words) ? $0 : "\(state.words): \($0)" }
            return "\(file): FAILED, \(cause ?? state.words)"
        }
        let parts =
            if let verification {
                [
                    state.words, isVerified ? "verified" : "not verified",
                    "\(verification.format.nameAndDifferences), \(verification.pages.counted("page"))",
                ] + [keyRetired.map { "under a key of the keyring that was replaced on \($0)" }].compactMap { $0 }
                    + verification.unchecked.map { "not checked: \($0)" }
            } else {
                ["looks \(state.words)", "not verified: no key was given"]
            }
        return "\(file): \(parts.joined(separator: ", "))"
    }

    /// Why the file failed: the error's message, or the damaged pages, or what SQLite said first.
    private var cause: String? {
        if let message { return message }
        guard let verification else { return inspection?.fileType }
        let pages = DamageLines.of(damaged: verification.damagedPages, missing: verification.missingPages)
            .filter { $0.1 != "none" }.map { "\($0.0) \($0.1)" }
        if !pages.isEmpty { return pages.joined(separator: ", ") }
        let more = verification.problems.count - 1
        return verification.problems.first.map { more > 0 ? "\($0), and \(more) more" : $0 }
    }
}

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

    /// The state of a file that was not verified, by a look without a key.
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
