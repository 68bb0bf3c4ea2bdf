#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Values to compare an error with: they have no path, and are not thrown to callers.
extension KeyringError {
    /// To compare with an error; see ``Problem/missing``.
    public static let missing = KeyringError(.missing)
    /// To compare with an error; see ``Problem/notAFile``.
    public static let notAFile = KeyringError(.notAFile)
    /// To compare with an error; see ``Problem/notAKeyring``.
    public static let notAKeyring = KeyringError(.notAKeyring)
    /// To compare with an error; see ``Problem/wrongSecret``.
    public static let wrongSecret = KeyringError(.wrongSecret)
    /// To compare with an error; see ``Problem/altered``.
    public static let altered = KeyringError(.altered)
    /// To compare with an error; see ``Problem/tooManySlots``.
    public static let tooManySlots = KeyringError(.tooManySlots)
    /// To compare with an error; see ``Problem/noCommand``.
    public static let noCommand = KeyringError(.noCommand)
    /// To compare with an error; see ``Problem/lastSlot``.
    public static let lastSlot = KeyringError(.lastSlot)
    /// To compare with an error; see ``Problem/full``.
    public static let full = KeyringError(.full)
    /// To compare with an error; see ``Problem/notConfirmed``.
    public static let notConfirmed = KeyringError(.notConfirmed)
    /// To compare with an error; see ``Problem/notTypedBack``.
    public static let notTypedBack = KeyringError(.notTypedBack)
    /// To compare with an error; see ``Problem/onlySlot``.
    public static let onlySlot = KeyringError(.onlySlot)
    /// To compare with an error; see ``Problem/exists``.
    public static let exists = KeyringError(.exists)
    /// To compare with an error; see ``Problem/busy``.
    public static let busy = KeyringError(.busy)
    /// To compare with an error; see ``Problem/replaced``.
    public static let replaced = KeyringError(.replaced)
    /// To compare with an error; see ``Problem/unusableLabel``.
    public static let unusableLabel = KeyringError(.unusableLabel)
    /// To compare with an error; see ``Problem/rotationPending``.
    public static let rotationPending = KeyringError(.rotationPending)
    /// To compare with an error; see ``Problem/noRotationPending``.
    public static let noRotationPending = KeyringError(.noRotationPending)
    /// To compare with an error; see ``Problem/otherDatabase``.
    public static let otherDatabase = KeyringError(.otherDatabase)
    /// To compare with an error; see ``Problem/severalNames``.
    public static let severalNames = KeyringError(.severalNames)
    /// To compare with an error; see ``Problem/inUse``.
    public static let inUse = KeyringError(.inUse)
    /// To compare with an error; see ``Problem/recordAltered``.
    public static let recordAltered = KeyringError(.recordAltered)
    /// To compare with an error; see ``Problem/databaseMissing``.
    public static let databaseMissing = KeyringError(.databaseMissing)
    /// To compare with an error; see ``Problem/otherKeys``.
    public static let otherKeys = KeyringError(.otherKeys)
}

extension KeyringError {
    /// To compare with an error; see ``Problem/system(_:)``.
    public static func system(_ errno: Int32) -> KeyringError { KeyringError(.system(errno)) }

    /// To compare with an error; see ``Problem/notSynced(_:)``.
    public static func notSynced(_ errno: Int32) -> KeyringError { KeyringError(.notSynced(errno)) }

    /// To compare with an error; see ``Problem/damaged(offset:)``.
    public static func damaged(offset: Int?) -> KeyringError { KeyringError(.damaged(offset: offset)) }

    /// To compare with an error; see ``Problem/unknownVersion(_:)``.
    public static func unknownVersion(_ version: Int) -> KeyringError { KeyringError(.unknownVersion(version)) }

    /// To compare with an error; see ``Problem/unusableSlot(_:)``.
    public static func unusableSlot(_ number: Int) -> KeyringError { KeyringError(.unusableSlot(number)) }

    /// To compare with an error; see ``Problem/commandNotAllowed(slot:_:)``.
    public static func commandNotAllowed(slot: Int, _ command: SecretCommand) -> KeyringError {
        KeyringError(.commandNotAllowed(slot: slot, command))
    }

    /// To compare with an error; see ``Problem/slotChanged(_:)``.
    public static func slotChanged(_ number: Int) -> KeyringError { KeyringError(.slotChanged(number)) }

    /// To compare with an error; see ``Problem/noSuchSlot(_:)``.
    public static func noSuchSlot(_ number: Int) -> KeyringError { KeyringError(.noSuchSlot(number)) }

    /// To compare with an error; see ``Problem/noSuchLabel(_:)``.
    public static func noSuchLabel(_ label: String) -> KeyringError { KeyringError(.noSuchLabel(label)) }

    /// To compare with an error; see ``Problem/labelNotUnique(slots:)``.
    public static func labelNotUnique(slots: [Int]) -> KeyringError { KeyringError(.labelNotUnique(slots: slots)) }

    /// To compare with an error; see ``Problem/secretInUse(slot:)``.
    public static func secretInUse(slot: Int) -> KeyringError { KeyringError(.secretInUse(slot: slot)) }

    /// To compare with an error; see ``Problem/ownership(owner:group:)``.
    public static func ownership(owner: String?, group: String?) -> KeyringError {
        KeyringError(.ownership(owner: owner, group: group))
    }

    /// To compare with an error; see ``Problem/oldDatabase(retired:)``.
    public static func oldDatabase(retired: Date) -> KeyringError { KeyringError(.oldDatabase(retired: retired)) }

    /// To compare with an error; see ``Problem/outdated(generation:)``.
    public static func outdated(generation: UInt64) -> KeyringError { KeyringError(.outdated(generation: generation)) }

    /// To compare with an error; see ``Problem/lost(database:)``.
    public static func lost(database: String) -> KeyringError { KeyringError(.lost(database: database)) }
}
