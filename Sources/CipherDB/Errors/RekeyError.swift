public import CipherKeys

/// Why a change of key failed or is incomplete.
///
/// ``RekeyError/sameKey`` and its like are there to be compared with: `catch RekeyError.sameKey`, `error == .notStarted`.
public struct RekeyError: ErrorWithPath, Sendable {
    /// The causes. Two are equal where they are the same case: texts and errors in them are not compared.
    public enum Problem: Equatable, Sendable {
        /// Something forbids to begin; nothing was touched. The text says what and how to go on.
        case notStarted(String)
        /// There is nothing to do; the file is unchanged. The text says why.
        case notNeeded(String)
        /// The new key is the present one: a passphrase under the file's salt always gives the same key.
        case sameKey
        /// A raw key with another salt. A file keeps its salt, because SQLCipher cannot change it safely in place: a failure
        /// half-way would leave a file that neither key opens.
        case saltDiffers
        /// The engine did not do it, whatever it answered: the old key still opens the database.
        case oldKeyInForce(DatabaseError?)
        /// The new key is in force, but another connection keeps pages under the old key in the file until its next checkpoint.
        case checkpointPending
        /// The new file is in force, but the old one could not be overwritten or removed. The path is where it stands; nil where it
        /// has no name any more.
        case oldFileRemains(path: String?, any Error)
        /// The new key is in force; what the error tells was met afterwards, when the file was checked.
        case newKeyInForce(any Error)
        /// Neither key could be proved; keep both. The error is what reopening met.
        case undecided(any Error)

        /// Whether both are the same case.
        public static func == (first: Problem, second: Problem) -> Bool {
            switch (first, second) {
            case (.notStarted, .notStarted), (.notNeeded, .notNeeded), (.sameKey, .sameKey),
                (.saltDiffers, .saltDiffers),
                (.oldKeyInForce, .oldKeyInForce), (.checkpointPending, .checkpointPending),
                (.oldFileRemains, .oldFileRemains), (.newKeyInForce, .newKeyInForce), (.undecided, .undecided):
                true
            default: false
            }
        }
    }

    /// The path of the database, as it was given; empty in a value to compare with, such as ``sameKey``.
    public let path: String
    /// The cause.
    public let problem: Problem

    package init(path: String?, problem: Problem) {
        self.path = path ?? ""
        self.problem = problem
    }
}

extension RekeyError: CustomStringConvertible {
    /// A sentence with the path, saying which key is in force and what can be done.
    public var description: String { (path.isEmpty ? "" : "\(path): ") + problem.description }
}

extension RekeyError.Problem: CustomStringConvertible {
    /// A sentence saying which key is in force and what can be done.
    public var description: String {
        switch self {
        case .notStarted(let reason):
            "the key was not changed: \(reason)"
        case .notNeeded(let reason):
            "nothing to do: \(reason)"
        case .sameKey:
            "the new key is the same as the old one"
        case .saltDiffers:
            "the salt of the new key differs from that of the file; give the 32-byte key without a salt"
        case .oldKeyInForce(let error):
            "the key could not be changed, and the old one is still in force"
                + (error.map { ": \($0.message)" } ?? "; the disk may be full, or another connection was in the way")
        case .checkpointPending:
            "the new key is in force, but other connections block the checkpoint that removes pages under the old key"
        case .oldFileRemains(let path, let error):
            "the new file is in force, but the old file"
                + (path.map { " at \($0)" } ?? ", which has no name,")
                + " could not be overwritten and removed: \(error)"
        case .newKeyInForce(let error):
            "the new key is in force, but the file could not be checked afterwards: \(error)"
        case .undecided(let error):
            "the database could not be reopened after the change of key; keep both keys: \(error)"
        }
    }
}
