public import CipherKeys

/// Why a change of key failed or is incomplete: `catch RekeyError.sameKey`. The sentence says which key is in force.
public struct RekeyError: CodedError {
    /// The cause.
    public let code: ErrorCode<RekeyError>
    /// The path of the database, as it was given.
    public let path: String
    /// What forbids to begin, of `notStarted`, or why there is nothing to do, of `notNeeded`.
    public let reason: String?
    /// What was met, of the codes that say so.
    public let cause: (any Error)?
    /// Where the old file stands, of `oldFileRemains`; nil where it has no name any more.
    public let oldFile: String?

    package init(
        _ code: ErrorCode<RekeyError>,
        path: String?,
        reason: String? = nil,
        cause: (any Error)? = nil,
        oldFile: String? = nil
    ) {
        self.code = code
        self.path = path ?? ""
        self.reason = reason
        self.cause = cause
        self.oldFile = oldFile
    }
}

extension ErrorCode where Failure == RekeyError {
    /// Something forbids to begin; nothing was touched. The text says what and how to go on.
    public static var notStarted: Self { Self { "the key was not changed: \(given: $0.reason)" } }
    /// There is nothing to do; the file is unchanged. The text says why.
    public static var notNeeded: Self { Self { "nothing to do: \(given: $0.reason)" } }
    /// The new key is the present one: a passphrase under the file's salt always gives the same key.
    public static var sameKey: Self { Self("the new key is the same as the old one") }
    /// A raw key with another salt. A file keeps its salt, because SQLCipher cannot change it safely in place: a failure
    /// half-way would leave a file that neither key opens.
    public static var saltDiffers: Self {
        Self("the salt of the new key differs from that of the file; give the 32-byte key without a salt")
    }
    /// The engine did not do it, whatever it answered: the old key still opens the database.
    public static var oldKeyInForce: Self {
        Self {
            "the key could not be changed, and the old one is still in force"
                + ($0.cause.map { ": \(($0 as? DatabaseError)?.message ?? "\($0)")" }
                    ?? "; the disk may be full, or another connection was in the way")
        }
    }
    /// The new key is in force, but other connections may keep pages under the old key in the file until its next checkpoint. A rotation
    /// stays pending until the next one, or the next opening for writing.
    public static var checkpointPending: Self {
        Self(
            "the new key is in force, but other connections may keep pages under the old key in the file until its next checkpoint"
        )
    }
    /// The new file is in force, but the old one could not be overwritten or removed.
    public static var oldFileRemains: Self {
        Self {
            "the new file is in force, but the old file" + ($0.oldFile.map { " at \($0)" } ?? ", which has no name,")
                + " could not be overwritten and removed: \(given: $0.cause)"
        }
    }
    /// The new key is in force; what the error tells was met afterwards, when the file was checked.
    public static var newKeyInForce: Self {
        Self { "the new key is in force, but the file could not be checked afterwards: \(given: $0.cause)" }
    }
    /// Neither key could be proved; keep both. The error is what reopening met.
    public static var undecided: Self {
        Self { "the database could not be reopened after the change of key; keep both keys: \(given: $0.cause)" }
    }
}
