import CipherDB

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
