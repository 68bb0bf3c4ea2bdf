import CipherDB

/// An error's message in the words of the command, where the library's names what only programs have.
struct CommandMessage {
    let text: String

    init(_ error: any Error) {
        text =
            switch error {
            case let error as KeyError where error.problem == .notEncrypted:
                "\(error.path): the file is already plaintext"
            case let error as KeyError where error.problem == .keyMissing:
                "\(error.path): the file is encrypted, and no key was given"
            case let error as KeyringError where error.problem == .notTypedBack:
                "\(error.path): a recovery code must be typed back"
            case let error as KeySourceError:
                "\(error)".replacing("allow it explicitly", with: "give --unsafe-permissions")
            default: String(describing: error)
            }
    }
}
