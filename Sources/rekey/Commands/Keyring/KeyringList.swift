import ArgumentParser
import CipherDB

/// `rekey keyring list FILE`
struct KeyringList: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Say what stands in the keyring; no secret is needed.",
        discussion: "Nothing proves it without a secret: see `rekey keyring unlock`."
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
            let kind = slot.kind.map { "\($0)" } ?? "of a kind that this version does not know"
            let stretched = slot.derivation.map { ", \($0)" } ?? ""
            return (name(slot.number, slot.label), "\(kind)\(stretched), changed \(slot.changed.day)")
        }
    }
}
