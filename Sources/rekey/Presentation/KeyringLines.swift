import CipherDB

/// A keyring as the commands print it for people.
enum KeyringLines {
    static func of(_ content: KeyringContent) -> [(String, String)] {
        [
            ("generation", "\(content.generation)"), ("made", content.created.day),
            ("written", "\(content.written.day), by CipherDB \(content.writer)"),
            ("database's key", "made \(content.keyCreated.day)"), ("older keys", "\(content.olderKeyCount)"),
        ]
            + (content.isRotationPending
                ? [("interrupted", "a change of the key: rekey keyring resume, or cancel")] : [])
    }
}
