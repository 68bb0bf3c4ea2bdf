import ArgumentParser
import CipherDB
import Foundation
import Rekeying

/// The exit statuses of the command.
enum ExitStatus: CaseIterable {
    case done, failure, usage, damaged, noInput, unavailable, cannotRemove, cannotCreate, inputOutput, busy,
        noPermission, interrupted

    /// 0, 1, a code of sysexits.h, or what a shell gives for SIGINT.
    var code: Int32 {
        switch self {
        case .done: EXIT_SUCCESS
        case .failure: EXIT_FAILURE
        case .usage: EX_USAGE
        case .damaged: EX_DATAERR
        case .noInput: EX_NOINPUT
        case .unavailable: EX_UNAVAILABLE
        case .cannotRemove: EX_SOFTWARE
        case .cannotCreate: EX_CANTCREAT
        case .inputOutput: EX_IOERR
        case .busy: EX_TEMPFAIL
        case .noPermission: EX_NOPERM
        case .interrupted: 128 + SIGINT
        }
    }

    /// In JSON.
    var name: String {
        switch self {
        case .done: "done"
        case .failure: "failure"
        case .usage: "usage"
        case .damaged: "damaged"
        case .noInput: "noInput"
        case .unavailable: "unavailable"
        case .cannotRemove: "cannotRemove"
        case .cannotCreate: "cannotCreate"
        case .inputOutput: "inputOutput"
        case .busy: "busy"
        case .noPermission: "noPermission"
        case .interrupted: "interrupted"
        }
    }

    var meaning: String {
        switch self {
        case .done: "done; after `verify` the file is sound, after `recover` nothing is missing"
        case .failure: "another failure"
        case .usage: "invalid arguments, or an invalid new key"
        case .damaged:
            "the file or repository is damaged or outdated, not encrypted, without MACs"
        case .noInput: "no such file, repository or generation"
        case .unavailable: "the SQLCipher library lacks a needed feature"
        case .cannotRemove: "done, but the old file could not be removed or the change not synced"
        case .cannotCreate: "a file exists already, or SQLite or the metrics could not open one"
        case .inputOutput: "reading or writing failed, the disk is full, or a directory is missing"
        case .busy: "another connection holds a lock; try again"
        case .noPermission: "wrong key, secret or parameters of the file, or no permission"
        case .interrupted: "interrupted by a signal; the file is unchanged"
        }
    }

    /// All but `done`, the gravest first: what the file is, then why it was not seen, then what another try may mend.
    private static let bySeverity: [ExitStatus] = [
        .damaged, .noPermission, .noInput, .unavailable, .inputOutput, .cannotCreate, .cannotRemove, .failure, .usage,
        .interrupted, .busy,
    ]

    /// The gravest of `statuses`; `done` where there is none.
    static func worst(_ statuses: [ExitStatus]) -> ExitStatus {
        bySeverity.first(where: statuses.contains) ?? .done
    }

    /// Whether the same may succeed later: of what the system, a disk or a server refuses, and of locks.
    var mayPass: Bool { self == .inputOutput || self == .busy }

    static var table: String {
        allCases.map { "  \(String($0.code).padded(to: 3)) \($0.meaning)" }.joined(separator: "\n")
    }

    /// The status that stands for an error.
    init(_ error: any Error) {
        switch error {
        case let error as KeyError: self = ExitStatus(error.problem)
        case let error as DatabaseError: self = ExitStatus(error)
        case let error as RekeyError: self = ExitStatus(error.problem)
        case let error as KeySourceError: self = ExitStatus(error)
        case let error as FileError: self = ExitStatus(error)
        case let error as KeyringError: self = ExitStatus(error)
        case let error as BackupError: self = ExitStatus(error)
        case is Interrupted: self = .interrupted
        case is UnwritableMetrics, is BackupExists: self = .cannotCreate
        case is BackupOpensNothing: self = .noPermission
        case is MalformedKey, is MalformedCommand, is UnusableCipherFormat, is UnusablePassphraseDerivation,
            is ValidationError, is UnknownCommand, is UnknownOption, is AlreadyEncrypted, is PlaintextHasNoKey:
            self = .usage
        default: self = .failure
        }
    }

    private init(_ problem: KeyError.Problem) {
        switch problem {
        case .wrongKey, .otherMACKey, .saltMissing, .keyMissing: self = .noPermission
        case .otherFormat(let format) where Engine.current.writes(format): self = .noPermission
        case .notEncrypted, .notADatabase, .damaged, .withoutMACs, .journalUnderOtherKey: self = .damaged
        case .otherFormat, .otherCipher, .otherLayout, .engineHasNoEncryption, .engineHidesDamage: self = .unavailable
        }
    }

    private init(_ error: DatabaseError) {
        switch error.code.primary {
        case .busy, .locked: self = .busy
        case .corrupt, .notADatabase: self = .damaged
        case .inputOutput, .full: self = .inputOutput
        case .cannotOpen: self = .cannotCreate
        case .readOnly: self = .noPermission
        default: self = .failure
        }
    }

    private init(_ problem: RekeyError.Problem) {
        switch problem {
        case .saltDiffers, .sameKey: self = .usage
        case .checkpointPending: self = .busy
        case .oldKeyInForce(let cause?): self = ExitStatus(cause)
        case .undecided(let cause): self = ExitStatus(cause)
        case .oldFileRemains: self = .cannotRemove
        case .newKeyInForce(let cause): self = ExitStatus(cause)
        case .oldKeyInForce(nil): self = .inputOutput
        case .notStarted, .notNeeded: self = .failure
        }
    }

    private init(_ error: FileError) {
        switch error {
        case .missing: self = .noInput
        case .noPermission, .ownership, .system(_, EPERM), .system(_, EACCES): self = .noPermission
        case .notAFile: self = .damaged
        case .severalNames, .nameTooLong: self = .usage
        case .exists, .belongs, .otherDisk: self = .cannotCreate
        case .noSpace, .system: self = .inputOutput
        }
    }

    private init(_ error: KeyringError) {
        switch error.problem {
        case .missing, .lost: self = .noInput
        case .notSynced: self = .cannotRemove
        case .system(let code): self = ExitStatus(FileError.system(path: error.path, code: code))
        case .notAFile, .notAKeyring, .damaged, .altered: self = .damaged
        case .unknownVersion, .unusableSlot: self = .unavailable
        case .wrongSecret, .commandNotAllowed, .otherDatabase, .oldDatabase, .outdated, .recordAltered,
            .ownership:
            self = .noPermission
        case .tooManySlots, .noCommand, .noSuchSlot, .noSuchLabel, .labelNotUnique, .lastSlot, .onlySlot, .full,
            .notConfirmed,
            .notTypedBack, .secretInUse,
            .unusableLabel, .severalNames:
            self = .usage
        case .exists: self = .cannotCreate
        case .busy: self = .busy
        case .replaced, .slotChanged, .rotationPending, .noRotationPending, .databaseMissing, .otherKeys, .inUse:
            self = .failure
        }
    }

    private init(_ error: BackupError) {
        switch error {
        case .unusableLocation: self = .usage
        case .notARepository, .otherThanNoted, .noGeneration, .noKeyring: self = .noInput
        case .otherFiles: self = .cannotCreate
        case .unknownVersion: self = .unavailable
        case .outdated, .missingObject, .damagedObject: self = .damaged
        case .altered, .unauthenticated, .otherKey: self = .noPermission
        case .busy: self = .busy
        case .transport: self = .inputOutput
        case .system(let path, let code): self = ExitStatus(FileError.system(path: path, code: code))
        }
    }

    private init(_ error: KeySourceError) {
        switch error.problem {
        case .missing, .noTerminal, .notConfirmed, .endOfInput, .tooLarge, .notAFile, .notHere: self = .usage
        case .othersCanRead, .leadsElsewhere, .ofAnotherUser, .keychain: self = .noPermission
        case .commandFailed, .timedOut, .notRepeatable: self = .failure
        case .system(let code): self = code == ENOENT ? .noInput : code == EACCES ? .noPermission : .inputOutput
        }
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
