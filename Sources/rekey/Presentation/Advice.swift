import CipherDB
import CipherSystem
import Foundation
import Rekeying

/// The command or option to use after an error; the library's errors do not know them.
struct Advice {
    /// To be appended to the error's message.
    let text: String

    init(_ error: any Error, _ file: String) {
        let advice: String? =
            switch error {
            case let error as KeyError: Advice.advice(for: error, file)
            case let error as KeyringError where error.problem == .otherDatabase: Advice.otherDatabase(error.path)
            case let error as KeyringError where error.problem == .missing: Advice.missingKeyring(file)
            case let error as KeyringError: Advice.advice(for: error.problem)
            case BackupError.noKeyring:
                "the file that --keyring names is missing; `rekey backups check` names stored keyrings that cannot be read"
            case BackupError.otherThanNoted: "--at-least 0 makes a new repository"
            case BackupError.outdated: "--at-least 0 accepts an old copy"
            case BackupError.missingObject, BackupError.damagedObject:
                "`rekey backups check` tells which generations can be restored"
            case FileError.ownership: "`rekey change --in-place` and `rekey keyring rotate --in-place` need no new file"
            case BackupError.unauthenticated(_, let newest):
                "--allow-unauthenticated accepts it" + (newest.map { ", --generation \($0) restores that one" } ?? "")
            case UnusableCipherFormat.rawKeyWithoutAuthentication: "`rekey migrate` gives an encrypted file MACs"
            case UnusableCipherFormat.weaker: "give --allow-weaker if that is intended"
            case UnusableCipherFormat.weak, UnusableCipherFormat.iterations: "--allow-weaker allows it"
            case UnusableCipherFormat.saltMissing: Advice.saltMissing
            default: nil
            }
        text = advice.map { "; \($0)" } ?? ""
    }

    private static let saltMissing =
        "the option is --salt: the program that made the file has it; only for a new file, `openssl rand -hex 16` makes one"

    private static func advice(for error: KeyError, _ file: String) -> String? {
        switch error.problem {
        case .damaged: return "restore a backup, or run `rekey recover`"
        case .notEncrypted: return "to encrypt it, run `rekey encrypt`"
        case .wrongKey:
            let parameters = error.isAboutRawKey ? nil : "for other iterations give --file-kdf-iter"
            // The commonest mistake with a keyring is to leave it out.
            let keyring = Keyring(besideDatabase: file).path
            let isThere = (try? Platform.status(of: keyring)) != nil
            let own = "there is a keyring beside it: if the database is under its key, give --keyring \(keyring)"
            let lost = "if it was under a keyring that is lost, run `rekey keyring restore`"
            let raw = error.spellsRawKey ? "if the passphrase is a raw key, give it by --key-file" : nil
            return [isThere ? own : lost, raw, parameters].compactMap { $0 }.joined(separator: "; ")
        case .saltMissing: return saltMissing
        case .withoutMACs: return "if you know that it was made so, give --file-hmac-algorithm none"
        case .otherFormat(let format) where Engine.current.writes(format): return "give \(format.fileOptions)"
        case .otherMACKey:
            return
                "otherwise the options are --file-hmac-salt-mask and --file-fast-kdf-iter, and --salt for a plaintext header"
        case .journalUnderOtherKey: return "`rekey recover` reads the file without it"
        case .otherCipher, .otherLayout, .keyMissing, .notADatabase, .otherFormat, .engineHasNoEncryption,
            .engineHidesDamage:
            return nil
        }
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

    private static func advice(for problem: KeyringError.Problem) -> String? {
        switch problem {
        case .exists: "`rekey keyring add` adds a slot, `rekey keyring restore` replaces it by a backup"
        case .rotationPending: "run `rekey keyring resume` or `rekey keyring cancel`"
        case .oldDatabase, .recordAltered: "run `rekey keyring adopt`"
        case .notTypedBack: "run `rekey keyring recovery` again"
        case .notConfirmed: "the printed code opens nothing: run `rekey keyring recovery` again"
        case .tooManySlots: "give --slot"
        case .lastSlot: "or give --force"
        case .commandNotAllowed: "to allow it, give --allow-command with this text"
        default: nil
        }
    }
}
