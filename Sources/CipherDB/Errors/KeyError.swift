public import CipherKeys
internal import SQLiteFormat

/// Why a database does not open, where SQLite has only "file is not a database".
///
/// ``KeyError/wrongKey`` and its like are there to be compared with: `catch KeyError.wrongKey`, `error == .wrongKey`. `catch
/// KeyError.damaged` matches whatever pages are damaged. The file is as it was: not a byte of it, nor its time of change, is touched by
/// an opening that fails.
public struct KeyError: ErrorWithPath, Sendable {
    /// The causes.
    public enum Problem: Equatable, Sendable {
        /// The file looks encrypted and no page of it is authentic under this key, in any format this engine knows.
        ///
        /// Damage to the first 16 bytes, the salt, cannot be told from a wrong passphrase.
        case wrongKey
        /// The file is encrypted, or would be created without encryption, and no key was given.
        case keyMissing
        /// The file is a SQLite database in plaintext.
        case notEncrypted
        /// The file is neither a SQLite nor an encrypted database, or shorter than one page.
        case notADatabase
        /// The key is right, but these pages, counted from 1, are not what was written. The others can still be read: where the engine
        /// reads nothing more on a connection that met one, as since SQLCipher 4.12, ``Database`` opens the file again for the next
        /// statement, unless databases are attached or temporary tables there; then close and open it.
        case damaged(pages: [Int])
        /// The key is right for this other format; open with it as ``Configuration/format``.
        case otherFormat(CipherFormat)
        /// The SQLite in this process is not SQLCipher, or is mixed with another.
        case engineHasNoEncryption
        /// The SQLCipher in this process hands out zeros for a page whose MAC is wrong, and leaves no sign of it that CipherDB knows;
        /// see ``Engine/damageDetection``.
        case engineHidesDamage
    }

    /// The path of the database, as it was given; empty in a value to compare with, such as ``wrongKey``.
    public let path: String
    /// The cause.
    public let problem: Problem

    package init(path: String, problem: Problem) {
        self.init(problem, path: path)
    }

    init(_ problem: Problem, path: String = "") {
        self.path = path
        self.problem = problem
    }
}

extension KeyError {
    /// The damaged pages, counted from 1, where the cause is ``Problem/damaged(pages:)``.
    public var damagedPages: [Int]? { if case .damaged(let pages) = problem { pages } else { nil } }
}

extension KeyError: CustomStringConvertible {
    /// A sentence with the path, the cause, and what can be done.
    public var description: String { (path.isEmpty ? "" : "\(path): ") + problem.description }
}

extension KeyError.Problem: CustomStringConvertible {
    /// A sentence with the cause and what can be done.
    public var description: String {
        switch self {
        case .wrongKey:
            "wrong key: no page of the file is authentic under it"
        case .keyMissing:
            "no key was given for an encrypted database; give one to the call that opens it, "
                + "not in prepareDatabase, or set allowsPlaintext for a new plaintext file"
        case .notEncrypted:
            "the file is a plaintext SQLite database; "
                + "encrypt it, or open it without a key and with allowsPlaintext"
        case .notADatabase:
            "the file is not a database, neither encrypted nor plaintext"
        case .damaged(let pages):
            "the key is right, but the file is damaged: \(PageNumbers(pages))"
        case .otherFormat(let format):
            if Engine.current.writes(format) {
                "the key is right, but the file is in the format of \(format); "
                    + "set that format in the configuration"
            } else {
                "the file is in the format of \(format), which SQLCipher "
                    + "\(Engine.current.sqlcipherVersion ?? "of an unknown version") cannot open; "
                    + "SQLCipher \(format.version) or later is needed"
            }
        case .engineHasNoEncryption:
            "the SQLite library in this process cannot encrypt, or is mixed with one that cannot; "
                + "link SQLCipher only, and load no other libsqlite3 before it"
        case .engineHidesDamage:
            "\(Engine.current) returns zeros for a damaged page, without a sign that CipherDB knows; "
                + "use another version of SQLCipher"
        }
    }
}
