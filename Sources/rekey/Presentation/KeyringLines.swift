import CipherDB

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
