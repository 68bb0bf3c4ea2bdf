import ArgumentParser
import CipherDB
import CipherKeys
import CipherSystem
import Foundation
import Rekeying

/// What the command does about an error: its exit status, and the command or option that helps.
struct Answer {
    let status: ExitStatus
    /// Only looked for where it is asked for, because it may need the file.
    let advice: () -> String?

    private init(_ status: ExitStatus, _ advice: @escaping @autoclosure () -> String? = nil) {
        self.status = status
        self.advice = advice
    }

    /// - Parameter file: The database that the command was about.
    init(_ error: any Error, _ file: String) {
        switch error {
        case let error as KeyError: self = Answer.to(error, file)
        case let error as KeyringError: self = Answer.to(error, file)
        case let error as RekeyError: self = Answer.to(error)
        case let error as BackupError: self = Answer.to(error)
        case let error as FileError: self = Answer.to(error)
        case let error as KeySourceError: self = Answer.to(error)
        case let error as DatabaseError: self = Answer.to(error)
        case let error as UnusableCipherFormat: self = Answer.to(error)
        case is Interrupted: self = Answer(.interrupted)
        case is UnwritableMetrics, is BackupExists: self = Answer(.cannotCreate)
        case is BackupOpensNothing: self = Answer(.noPermission)
        case is MalformedKey, is MalformedCommand, is UnusablePassphraseDerivation, is ValidationError,
            is UnknownCommand, is UnknownOption, is AlreadyEncrypted, is PlaintextHasNoKey:
            self = Answer(.usage)
        default: self = Answer(.failure)
        }
    }

    /// The word for the error in JSON: its code, or else the name of the exit status.
    static func name(of error: any Error) -> String {
        switch error {
        case let error as any CodedError where error.codeName != "system": error.codeName
        case is BackupExists: "exists"
        case is BackupOpensNothing: "otherDatabase"
        default: ExitStatus(error).name
        }
    }

    // One row for each code. A code without a row is another failure, for which no command helps.

    private static func to(_ error: KeyError, _ file: String) -> Answer {
        switch error.code {
        case .wrongKey: Answer(.noPermission, wrongKey(error, file))
        case .otherMACKey:
            Answer(
                .noPermission,
                "otherwise the options are --file-hmac-salt-mask and --file-fast-kdf-iter, and --salt for a plaintext header"
            )
        case .saltMissing: Answer(.noPermission, saltMissing)
        case .keyMissing: Answer(.noPermission)
        case .notEncrypted: Answer(.damaged, "to encrypt it, run `rekey encrypt`")
        case .notADatabase: Answer(.damaged)
        case .damaged: Answer(.damaged, "restore a backup, or run `rekey recover`")
        case .withoutMACs:
            Answer(.damaged, "if you know that it was made so, give --file-hmac-algorithm none")
        case .journalUnderOtherKey: Answer(.damaged, "`rekey recover` reads the file without it")
        case .otherFormat:
            if let format = error.format, Engine.current.writes(format) {
                Answer(.noPermission, "give \(format.fileOptions)")
            } else {
                Answer(.unavailable)
            }
        case .otherCipher, .otherLayout, .engineHasNoEncryption, .engineHidesDamage: Answer(.unavailable)
        default: Answer(.failure)
        }
    }

    private static func to(_ error: KeyringError, _ file: String) -> Answer {
        switch error.code {
        case .missing: Answer(.noInput, missingKeyring(file))
        case .lost: Answer(.noInput)
        case .notSynced: Answer(.cannotRemove)
        case .system: Answer(status(of: error.errno))
        case .notAFile, .notAKeyring, .damaged, .altered: Answer(.damaged)
        case .unknownVersion, .unusableSlot: Answer(.unavailable)
        case .otherDatabase: Answer(.noPermission, otherDatabase(error.path))
        case .oldDatabase, .recordAltered: Answer(.noPermission, "run `rekey keyring adopt`")
        case .commandNotAllowed:
            Answer(.noPermission, "to allow it, give --allow-command with this text")
        case .wrongSecret, .outdated, .ownership: Answer(.noPermission)
        case .exists:
            Answer(
                .cannotCreate,
                "`rekey keyring add` adds a slot, `rekey keyring restore` replaces it by a backup"
            )
        case .busy: Answer(.busy)
        case .rotationPending: Answer(.failure, "run `rekey keyring resume` or `rekey keyring cancel`")
        case .notTypedBack: Answer(.usage, "run `rekey keyring recovery` again")
        case .notConfirmed:
            Answer(.usage, "the printed code opens nothing: run `rekey keyring recovery` again")
        case .tooManySlots: Answer(.usage, "give --slot")
        case .lastSlot: Answer(.usage, "or give --force")
        case .noCommand, .noSuchSlot, .noSuchLabel, .labelNotUnique, .onlySlot, .full, .secretInUse, .unusableLabel,
            .severalNames:
            Answer(.usage)
        default: Answer(.failure)
        }
    }

    private static func to(_ error: RekeyError) -> Answer {
        switch error.code {
        case .saltDiffers, .sameKey: Answer(.usage)
        case .checkpointPending: Answer(.busy, "a rotation is ended by `rekey keyring resume` when they are closed")
        case .oldFileRemains: Answer(.cannotRemove)
        case .oldKeyInForce, .undecided, .newKeyInForce: Answer(error.cause.map(ExitStatus.init) ?? .inputOutput)
        default: Answer(.failure)
        }
    }

    private static func to(_ error: BackupError) -> Answer {
        switch error.code {
        case .unusableLocation: Answer(.usage)
        case .notARepository, .noGeneration: Answer(.noInput)
        case .otherThanNoted:
            Answer(
                .noInput,
                "--at-least 0 makes a new repository, in an empty directory, or stores in the one that is there"
            )
        case .noKeyring:
            Answer(
                .noInput,
                "the file that --keyring names is missing; `rekey backups check` names stored keyrings that cannot be read"
            )
        case .otherFiles: Answer(.cannotCreate)
        case .unknownVersion: Answer(.unavailable)
        case .outdated: Answer(.damaged, "--at-least 0 accepts an old copy")
        case .missingObject, .damagedObject:
            Answer(.damaged, "`rekey backups check` tells which generations can be restored")
        case .unauthenticated:
            Answer(
                .noPermission,
                "--allow-unauthenticated accepts it"
                    + (error.newestProved.map { ", --generation \($0) restores that one" } ?? "")
            )
        case .altered, .otherKey: Answer(.noPermission)
        case .busy: Answer(.busy)
        case .transport: Answer(.inputOutput)
        case .system: Answer(status(of: error.errno))
        default: Answer(.failure)
        }
    }

    private static func to(_ error: FileError) -> Answer {
        switch error.code {
        case .missing: Answer(.noInput)
        case .noPermission: Answer(.noPermission)
        case .ownership:
            Answer(
                .noPermission,
                "`rekey change --in-place` and `rekey keyring rotate --in-place` need no new file"
            )
        case .notAFile: Answer(.damaged)
        case .severalNames, .nameTooLong: Answer(.usage)
        case .exists, .belongs, .otherDisk: Answer(.cannotCreate)
        case .noSpace: Answer(.inputOutput)
        case .system: Answer(status(of: error.errno))
        default: Answer(.failure)
        }
    }

    private static func to(_ error: KeySourceError) -> Answer {
        switch error.code {
        case .missing, .noTerminal, .notConfirmed, .endOfInput, .tooLarge, .notAFile, .notHere: Answer(.usage)
        case .othersCanRead, .leadsElsewhere, .ofAnotherUser, .keychain: Answer(.noPermission)
        case .system: Answer(error.errno == ENOENT ? .noInput : error.errno == EACCES ? .noPermission : .inputOutput)
        default: Answer(.failure)
        }
    }

    private static func to(_ error: DatabaseError) -> Answer {
        switch error.code.primary {
        case .busy, .locked: Answer(.busy)
        case .corrupt, .notADatabase: Answer(.damaged)
        case .inputOutput, .full: Answer(.inputOutput)
        case .cannotOpen: Answer(.cannotCreate)
        case .readOnly: Answer(.noPermission)
        default: Answer(.failure)
        }
    }

    private static func to(_ error: UnusableCipherFormat) -> Answer {
        switch error {
        case .rawKeyWithoutAuthentication: Answer(.usage, "`rekey migrate` gives an encrypted file MACs")
        case .weaker: Answer(.usage, "give --allow-weaker if that is intended")
        case .weak: Answer(.usage, "--allow-weaker allows it")
        case .saltMissing: Answer(.usage, saltMissing)
        default: Answer(.usage)
        }
    }

    private static func status(of errno: Int32?) -> ExitStatus {
        [EPERM, EACCES].contains(errno) ? .noPermission : .inputOutput
    }

    private static let saltMissing =
        "the option is --salt: the program that made the file has it; only for a new file, `openssl rand -hex 16` makes one"

    private static func wrongKey(_ error: KeyError, _ file: String) -> String {
        let parameters = error.isAboutRawKey ? nil : "for other iterations give --file-kdf-iter"
        // The commonest mistake with a keyring is to leave it out.
        let keyring = Keyring(besideDatabase: file).path
        let isThere = (try? Platform.status(of: keyring)) != nil
        let own = "there is a keyring beside it: if the database is under its key, give --keyring \(keyring)"
        let lost = "if it was under a keyring that is lost, run `rekey keyring restore`"
        let raw = error.spellsRawKey ? "if the passphrase is a raw key, give it by --key-file" : nil
        return [isThere ? own : lost, raw, parameters].compactMap { $0 }.joined(separator: "; ")
    }

    /// For a database that is under no key of the keyring at `path`, be it a retired one.
    private static func otherDatabase(_ path: String) -> String {
        // No database ever came under it.
        if let content = try? Keyring(path: path).content(), !content.isInUse {
            return
                "if it was under another keyring, `rekey keyring restore` replaces this one by a backup of that; if it has a key of its own, "
                + "run `rekey keyring init`"
        }
        return
            "if it has another keyring, give that by --keyring; `rekey keyring restore` replaces this one by a backup of that"
    }

    /// For a keyring that is missing.
    private static func missingKeyring(_ file: String) -> String {
        guard let found = try? DatabaseFile(path: file).inspect(), found.kind == .encrypted else {
            return "run `rekey keyring init`"
        }
        return
            "run `rekey keyring restore` with a backup; if the database has a key of its own, run `rekey keyring init`"
    }
}

extension ExitStatus {
    /// The status that stands for an error.
    init(_ error: any Error) { self = Answer(error, "").status }
}

/// An error's message in the words of the command, where the library's names what only programs have.
struct CommandMessage {
    let text: String

    init(_ error: any Error) {
        text =
            switch error {
            case let error as KeyError: CommandMessage.text(of: error)
            case let error as KeyringError where error.code == .notTypedBack:
                "\(error.path): a recovery code must be typed back"
            case let error as KeySourceError:
                "\(error)".replacing("allow it explicitly", with: "give --unsafe-permissions")
            default: String(describing: error)
            }
    }

    private static func text(of error: KeyError) -> String {
        switch error.code {
        case .notEncrypted: "\(error.path): the file is already plaintext"
        case .keyMissing: "\(error.path): the file is encrypted, and no key was given"
        case .withoutMACs:
            "\(error.path): the key is right, but the pages have no MACs: either the file was made so (cipher_use_hmac = OFF), or somebody "
                + "removed the MACs, and the content may be forged"
        case .otherFormat where error.format.map(Engine.current.writes) == true:
            "\(error.path): the key is right, but the file is in the format of \(given: error.format)"
                + (error.detail.map { "; \($0)" } ?? "")
        default: error.description
        }
    }
}
