import ArgumentParser
import CipherDB

/// `rekey keyring list FILE`
struct KeyringList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the slots and dates of the keyring; no secret is needed.",
        discussion: "Without a secret they are not authenticated: see `rekey keyring unlock`."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let content = try target.keyring.content()
            let object = KeyringJSON(content, path: target.keyring.path)
            return Report.Result(
                object,
                lines: [("keyring", target.keyring.path)] + KeyringLines.of(content) + KeyringList.lines(content)
            )
        }
    }

    static func name(_ number: Int, _ label: String) -> String {
        "slot \(number)" + (label.isEmpty ? "" : " “\(label)”")
    }

    private static func lines(_ content: KeyringContent) -> [(String, String)] {
        content.slots.map { slot in
            let kind = slot.kind.map { "\($0)" } ?? (slot.isNote ? "notes of backups" : "unknown kind")
            // At the end of the line, to be copied.
            let command = slot.command.map { ": \($0)" } ?? ""
            let kdf = slot.derivation.map { ", \($0)" } ?? ""
            return (name(slot.number, slot.label), "\(kind)\(kdf), changed \(slot.changed.day)\(command)")
        }
    }
}
