// Slots by their labels, which their owners know better than numbers. Labels need not differ, so one of several slots is never guessed.
extension UnlockedKeyring {
    /// Gives the slot with this label another secret, as `change(slot:to:label:derivation:)`.
    ///
    /// - Throws: ``KeyringError``; `KeyringError.noSuchLabel`, and `KeyringError.labelNotUnique` where
    ///   several slots have the label.
    public func change(
        label: String,
        to secret: KeyringSecret,
        derivation: PassphraseDerivation = .standard
    ) throws {
        let slot = try keyring.naming { try content().slot(labeled: label) }
        try change(slot, to: secret, label: nil, derivation)
    }

    /// Removes the slot with this label, as `remove(slot:force:)`.
    ///
    /// - Throws: ``KeyringError``; `KeyringError.noSuchLabel`, and `KeyringError.labelNotUnique` where
    ///   several slots have the label.
    public func remove(label: String, force: Bool = false) throws {
        try update { try $0.remove($0.slot(labeled: label), force: force) }
    }
}

extension KeyringContent {
    /// The only slot with this label. A slot without one is named by its number.
    func slot(labeled label: String) throws(KeyringError) -> KeyringSlot {
        let found = label.isEmpty ? [] : slots.filter { $0.label == label }
        guard let slot = found.first else { throw KeyringError(.noSuchLabel, label: label) }
        guard found.count == 1 else { throw KeyringError(.labelNotUnique, slots: found.map(\.number)) }
        return slot
    }
}
