import CipherDB
import Rekeying

/// The word for an error in JSON.
struct ErrorName {
    let text: String

    init(_ error: any Error, _ status: ExitStatus) {
        let name: String? =
            switch error {
            case let error as KeyringError: ErrorName.name(of: error.problem)
            case let error as KeyError: ErrorName.name(of: error.problem)
            case let error as BackupError: ErrorName.name(of: error)
            case FileError.notAFile: "notAFile"
            case is BackupExists: "exists"
            case is BackupOpensNothing: "otherDatabase"
            default: nil
            }
        text = name ?? status.name
    }

    private static func name(of problem: KeyError.Problem) -> String {
        switch problem {
        case .wrongKey: "wrongKey"
        case .otherCipher: "otherCipher"
        case .otherLayout: "otherLayout"
        case .otherMACKey: "otherMACKey"
        case .journalUnderOtherKey: "journalUnderOtherKey"
        case .saltMissing: "saltMissing"
        case .withoutMACs: "withoutMACs"
        case .keyMissing: "keyMissing"
        case .notEncrypted: "notEncrypted"
        case .notADatabase: "notADatabase"
        case .damaged: "damaged"
        case .otherFormat: "otherFormat"
        case .engineHasNoEncryption: "engineHasNoEncryption"
        case .engineHidesDamage: "engineHidesDamage"
        }
    }

    /// Nil for an error of the system, for which the exit status has the word.
    private static func name(of error: BackupError) -> String? {
        switch error {
        case .unusableLocation: "unusableLocation"
        case .notARepository: "notARepository"
        case .otherThanNoted: "otherThanNoted"
        case .otherFiles: "otherFiles"
        case .unknownVersion: "unknownVersion"
        case .noGeneration: "noGeneration"
        case .outdated: "outdated"
        case .missingObject: "missingObject"
        case .noKeyring: "noKeyring"
        case .damagedObject: "damagedObject"
        case .altered: "altered"
        case .unauthenticated: "unauthenticated"
        case .otherKey: "otherKey"
        case .busy: "busy"
        case .transport: "transport"
        case .system: nil
        }
    }

    /// Nil for an error of the system, for which the exit status has the word.
    private static func name(of problem: KeyringError.Problem) -> String? {
        switch problem {
        case .system: nil
        case .notSynced: "notSynced"
        case .missing: "missing"
        case .notAFile: "notAFile"
        case .notAKeyring: "notAKeyring"
        case .damaged: "damaged"
        case .unknownVersion: "unknownVersion"
        case .wrongSecret: "wrongSecret"
        case .altered: "altered"
        case .tooManySlots: "tooManySlots"
        case .unusableSlot: "unusableSlot"
        case .noCommand: "noCommand"
        case .commandNotAllowed: "commandNotAllowed"
        case .slotChanged: "slotChanged"
        case .noSuchSlot: "noSuchSlot"
        case .noSuchLabel: "noSuchLabel"
        case .labelNotUnique: "labelNotUnique"
        case .lastSlot: "lastSlot"
        case .full: "full"
        case .notConfirmed: "notConfirmed"
        case .notTypedBack: "notTypedBack"
        case .secretInUse: "secretInUse"
        case .onlySlot: "onlySlot"
        case .exists: "exists"
        case .busy: "busy"
        case .replaced: "replaced"
        case .unusableLabel: "unusableLabel"
        case .rotationPending: "rotationPending"
        case .noRotationPending: "noRotationPending"
        case .otherDatabase: "otherDatabase"
        case .severalNames: "severalNames"
        case .ownership: "ownership"
        case .oldDatabase: "oldDatabase"
        case .inUse: "inUse"
        case .outdated: "outdated"
        case .recordAltered: "recordAltered"
        case .databaseMissing: "databaseMissing"
        case .otherKeys: "otherKeys"
        case .lost: "lost"
        }
    }
}
