public import CipherKeys

// Values to compare an error with: they have no path, and are not thrown.
extension KeyError {
    /// To compare with an error; see ``Problem/wrongKey``.
    public static let wrongKey = KeyError(.wrongKey)
    /// To compare with an error; see ``Problem/otherCipher``.
    public static let otherCipher = KeyError(.otherCipher)
    /// To compare with an error; see ``Problem/otherLayout``.
    public static let otherLayout = KeyError(.otherLayout)
    /// To compare with an error; see ``Problem/otherMACKey``.
    public static let otherMACKey = KeyError(.otherMACKey)
    /// To compare with an error; see ``Problem/journalUnderOtherKey``.
    public static let journalUnderOtherKey = KeyError(.journalUnderOtherKey)
    /// To compare with an error; see ``Problem/saltMissing``.
    public static let saltMissing = KeyError(.saltMissing)
    /// To compare with an error; see ``Problem/keyMissing``.
    public static let keyMissing = KeyError(.keyMissing)
    /// To compare with an error; see ``Problem/notEncrypted``.
    public static let notEncrypted = KeyError(.notEncrypted)
    /// To compare with an error; see ``Problem/notADatabase``.
    public static let notADatabase = KeyError(.notADatabase)
    /// To compare with an error; see ``Problem/engineHasNoEncryption``.
    public static let engineHasNoEncryption = KeyError(.engineHasNoEncryption)
    /// To compare with an error; see ``Problem/engineHidesDamage``.
    public static let engineHidesDamage = KeyError(.engineHidesDamage)

    /// To compare with an error; see ``Problem/damaged(pages:)``, and ``damagedPages`` for the pages of an error.
    public static func damaged(pages: [Int]) -> KeyError { KeyError(.damaged(pages: pages)) }

    /// To compare with an error; see ``Problem/otherFormat(_:)``.
    public static func otherFormat(_ format: CipherFormat) -> KeyError { KeyError(.otherFormat(format)) }

    /// To compare with an error; see ``Problem/withoutMACs(_:)``.
    public static func withoutMACs(_ format: CipherFormat) -> KeyError { KeyError(.withoutMACs(format)) }
}
