import ArgumentParser
import CipherDB
import Rekeying

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
            let object = KeyringObject(content, path: target.keyring.path)
            return Report.Result(
                object,
                lines: [("keyring", target.keyring.path)] + KeyringObject.lines(content) + KeyringList.lines(content)
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

/// `rekey keyring status FILE`
struct KeyringStatus: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say whether the database is under the keyring's key, and whether a change of it was interrupted.",
        discussion: "The keyring is opened and verified for this."
    )

    @OptionGroup var target: KeyringTarget

    func run() throws {
        try target.run { _ in
            let unlocked = try target.unlock(upgrades: false)
            let content = try unlocked.content()
            let position = try DatabaseFile(path: target.file).position(in: unlocked)
            let text =
                switch position {
                case .current: "under the keyring's key"
                case .next: "under the new key, which `rekey keyring resume` makes the only one"
                case .older: "under a key that was given up; `rekey keyring adopt` makes it the one that counts"
                case .other where content.isInUse: "not under the keyring's key"
                case .other: "not under the keyring's key yet: `rekey keyring init`"
                }
            return Report.Result(
                KeyringObject(content, path: target.keyring.path, position: position),
                lines: [("database", text)] + KeyringObject.lines(content),
                status: [.older, .other].contains(position) ? .noPermission : .done
            )
        }
    }
}

/// A keyring as the commands print it.
struct KeyringObject: Encodable {
    struct Slot: Encodable {
        let number: Int
        let kind: String?
        let label: String
        let stretched: String?
        let created: String
        let changed: String
    }

    let keyring: String
    let generation: UInt64
    let created: String
    let written: String
    let version: String
    let keyCreated: String
    let olderKeys: Int
    let rotationPending: Bool
    let slots: [Slot]
    let database: String?

    init(_ content: KeyringContent, path: String, position: DatabaseFile.KeyringPosition? = nil) {
        keyring = path
        generation = content.generation
        created = content.created.day
        written = content.written.day
        version = content.writer
        keyCreated = content.keyCreated.day
        olderKeys = content.olderKeyCount
        rotationPending = content.isRotationPending
        slots = content.slots.map { slot in
            Slot(
                number: slot.number,
                kind: slot.kind.map { "\($0)" },
                label: slot.label,
                stretched: slot.derivation?.description,
                created: slot.created.day,
                changed: slot.changed.day
            )
        }
        database = position?.rawValue
    }

    static func lines(_ content: KeyringContent) -> [(String, String)] {
        [
            ("generation", "\(content.generation)"), ("made", content.created.day),
            ("written", "\(content.written.day), by CipherDB \(content.writer)"),
            ("database's key", "made \(content.keyCreated.day)"), ("older keys", "\(content.olderKeyCount)"),
        ]
            + (content.isRotationPending
                ? [("interrupted", "a change of the key: rekey keyring resume, or cancel")] : [])
    }
}
