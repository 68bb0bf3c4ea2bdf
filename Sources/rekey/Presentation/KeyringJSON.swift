import CipherDB
import Rekeying

/// A keyring as the commands print it in JSON.
struct KeyringJSON: Encodable {
    struct Slot: Encodable {
        let number: Int
        let kind: String?
        let label: String
        let kdf: String?
        let command: String?
        let created: String
        let changed: String
    }

    let keyring: String
    let sequenceNumber: UInt64
    let created: String
    let written: String
    let version: String
    let keyCreated: String
    let retiredKeys: Int
    let rotationPending: Bool
    let slots: [Slot]
    let database: String?

    init(_ content: KeyringContent, path: String, position: DatabaseFile.KeyringPosition? = nil) {
        keyring = path
        sequenceNumber = content.generation
        created = content.created.day
        written = content.written.day
        version = content.writer
        keyCreated = content.keyCreated.day
        retiredKeys = content.olderKeyCount
        rotationPending = content.isRotationPending
        slots = content.slots.map { slot in
            Slot(
                number: slot.number,
                kind: slot.isNote ? "notes of backups" : slot.kind.map { "\($0)" },
                label: slot.label,
                kdf: slot.derivation?.description,
                command: slot.command?.description,
                created: slot.created.day,
                changed: slot.changed.day
            )
        }
        database = position?.rawValue
    }
}

/// A keyring as the commands print it for people.
enum KeyringLines {
    static func of(_ content: KeyringContent) -> [(String, String)] {
        [
            ("sequence number", "\(content.generation)"), ("created", content.created.day),
            ("written", "\(content.written.day), by CipherDB \(content.writer)"),
            ("database key", "created \(content.keyCreated.day)"), ("retired keys", "\(content.olderKeyCount)"),
        ]
            + (content.isRotationPending
                ? [("rotation", "pending; run `rekey keyring resume` or `rekey keyring cancel`")] : [])
    }
}
