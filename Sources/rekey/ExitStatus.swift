import ArgumentParser
import CipherDB
import Rekeying

/// What the process answers: 0, 1, or a code of sysexits.h.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failure = 1
    case usage = 64
    case damaged = 65
    case noInput = 66
    case unavailable = 69
    case cannotRemove = 70
    case cannotCreate = 73
    case inputOutput = 74
    case busy = 75
    case noPermission = 77
    case interrupted = 130

    var meaning: String {
        switch self {
        case .done: "done; after `verify` the file is sound, after `recover` nothing is missing"
        case .failure: "another failure"
        case .usage: "the arguments or the given key make no sense"
        case .damaged: "the file is damaged, not a database, or not encrypted"
        case .noInput: "no such file"
        case .unavailable: "the SQLCipher library lacks what is needed"
        case .cannotRemove: "done, but what is left of the old file could not be removed"
        case .cannotCreate: "a file could not be created"
        case .inputOutput: "reading or writing failed, or the disk is full"
        case .busy: "another connection is in the way; try again"
        case .noPermission: "wrong key, or no permission"
        case .interrupted: "stopped by a signal; the file is as it was"
        }
    }

    static var table: String {
        allCases.map { "  \(String($0.rawValue).padded(to: 3)) \($0.meaning)" }.joined(separator: "\n")
    }

    /// The status that stands for an error.
    init(_ error: any Error) {
        switch error {
        case let error as KeyError: self = ExitStatus(error)
        case let error as DatabaseError: self = ExitStatus(error)
        case let error as RekeyError: self = ExitStatus(error)
        case let error as KeySourceError: self = ExitStatus(error)
        case FileProblem.missing: self = .noInput
        case FileProblem.noPermission: self = .noPermission
        case FileProblem.notAFile: self = .damaged
        case FileProblem.severalNames: self = .usage
        case FileProblem.exists, FileProblem.belongs, FileProblem.otherDisk: self = .cannotCreate
        case FileProblem.noSpace: self = .inputOutput
        case let error as FileFailure: self = ExitStatus(error)
        case let error as KeyringError: self = ExitStatus(error)
        case is Interrupted: self = .interrupted
        case is MalformedKey, is MalformedRecoveryCode, is UnusableCipherFormat, is UnusablePassphraseDerivation,
            is ValidationError:
            self = .usage
        default: self = .failure
        }
    }

    private init(_ error: KeyError) {
        switch error {
        case .wrongKey, .keyMissing: self = .noPermission
        case .notEncrypted, .notADatabase, .damaged: self = .damaged
        case .otherFormat, .engineHasNoEncryption, .engineHidesDamage: self = .unavailable
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

    private init(_ error: RekeyError) {
        switch error {
        case .saltDiffers, .sameKey: self = .usage
        case .checkpointPending: self = .busy
        case .oldKeyInForce(let cause?): self = ExitStatus(cause)
        case .undecided(let cause): self = ExitStatus(cause)
        case .oldFileRemains: self = .cannotRemove
        case .newKeyInForce(let cause): self = ExitStatus(cause)
        case .notStarted, .notNeeded, .oldKeyInForce(nil): self = .failure
        }
    }

    private init(_ error: FileFailure) {
        // EPERM and EACCES; all else is the disk's.
        self = [1, 13].contains(error.code) ? .noPermission : .inputOutput
    }

    private init(_ error: KeyringError) {
        switch error.problem {
        case .missing: self = .noInput
        case .system(let code): self = ExitStatus(FileFailure(path: error.path, code: code))
        case .notAFile, .notAKeyring, .damaged, .altered: self = .damaged
        case .unknownVersion, .unusableSlot: self = .unavailable
        case .wrongSecret, .otherDatabase, .oldDatabase, .outdated, .recordAltered: self = .noPermission
        case .tooManySlots, .noSuchSlot, .lastSlot, .onlySlot, .full, .notConfirmed, .notTypedBack, .secretInUse,
            .unusableLabel, .severalNames:
            self = .usage
        case .exists: self = .cannotCreate
        case .busy: self = .busy
        case .replaced, .slotChanged, .rotationPending, .noRotationPending, .databaseMissing, .otherKeys, .inUse:
            self = .failure
        }
    }

    private init(_ error: KeySourceError) {
        switch error.problem {
        case .missing, .noTerminal, .notConfirmed, .endOfInput, .tooLarge, .notAFile, .notHere: self = .usage
        case .othersCanRead, .leadsElsewhere, .ofAnotherUser, .keychain: self = .noPermission
        case .commandFailed: self = .failure
        case .system(let code): self = code == 2 ? .noInput : code == 13 ? .noPermission : .inputOutput
        }
    }
}

extension String {
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
