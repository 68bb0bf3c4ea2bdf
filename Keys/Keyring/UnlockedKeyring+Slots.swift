extension UnlockedKeyring {
    /// Adds a slot; any slot opens the same database.
    ///
    /// - Parameters: as of ``Keyring/create(with:label:derivation:for:)``.
    /// - Returns: its number.
    /// - Throws: ``KeyringError``; `KeyringError.notTypedBack` for a recovery code that was not typed.
    @discardableResult
    public func add(
        _ secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard
    ) throws -> Int {
        guard !secret.isUntypedCode else { throw KeyringError(.notTypedBack, path: keyring.path) }
        return try append(secret, label, derivation)
    }

    /// Adds a recovery code, once it has been typed back: a code that was written down wrong opens nothing.
    ///
    /// - Parameter typed: What the user typed: `RecoveryCode(typed: text)`.
    /// - Returns: the slot's number.
    /// - Throws: `KeyringError.notConfirmed` where that is another code; ``KeyringError``.
    @discardableResult
    public func add(_ code: RecoveryCode, typedBack typed: RecoveryCode, label: String = "") throws -> Int {
        guard try typed.isTyped && typed == code else {
            throw KeyringError(.notConfirmed, path: keyring.path)
        }
        return try append(.recoveryCode(typed), label, .standard)
    }

    private func append(_ secret: KeyringSecret, _ label: String, _ derivation: PassphraseDerivation) throws -> Int {
        try checkIsUnused(secret)
        let derived = try KeyringContent.DerivedSecret(secret, derivation)
        return try update { content in
            try KeyringContent.check(label: label)
            let number = (content.slots.map(\.number).max() ?? 0) + 1
            guard content.slots.count < KeyringContent.mostSlots, number <= 0xffff else {
                throw KeyringError(.full)
            }
            content.slots.append(try content.makeSlot(number, derived, label, masterKey))
            return number
        }
    }

    /// Throws where a slot opens with the secret already, but for the one that gets it: it would still open after one of the two was
    /// changed or removed.
    func checkIsUnused(_ secret: KeyringSecret, in changed: Int? = nil) throws {
        let content = try content()
        for slot in content.slots where slot.kind == secret.kind && slot.isUsable && slot.number != changed {
            if try content.opens(slot: slot.number, with: secret) {
                throw KeyringError(.secretInUse, path: keyring.path, slots: [slot.number])
            }
        }
    }

    /// Whether `secret` opens the slot.
    package func opens(slot number: Int, with secret: KeyringSecret) throws -> Bool {
        let content = try content()
        guard content.slot(number)?.kind == secret.kind else { return false }
        return try content.opens(slot: number, with: secret)
    }

    /// Gives a slot another secret. The database is not touched.
    ///
    /// - Parameters:
    ///   - label: The slot's new label; nil for the one that it has.
    ///   - derivation: The KDF of a passphrase.
    /// - Throws: ``KeyringError``.
    public func change(
        slot number: Int,
        to secret: KeyringSecret,
        label: String? = nil,
        derivation: PassphraseDerivation = .standard
    ) throws {
        guard let slot = try content().slot(number), !slot.isNote else {
            throw KeyringError(.noSuchSlot, path: keyring.path, slots: [number])
        }
        try change(slot, to: secret, label: label, derivation)
    }

    /// Gives a slot that was just read another secret.
    func change(
        _ slot: KeyringSlot,
        to secret: KeyringSecret,
        label: String?,
        _ derivation: PassphraseDerivation
    ) throws {
        guard !secret.isUntypedCode else { throw KeyringError(.notTypedBack, path: keyring.path) }
        if let label { try keyring.naming { try KeyringContent.check(label: label) } }
        try checkIsUnused(secret, in: slot.number)
        try change(slot, to: KeyringContent.DerivedSecret(secret, derivation), label: label)
    }

    /// Changes the slot where it is still what it was: somebody else may have given it another secret meanwhile.
    func change(
        _ old: KeyringSlot,
        to secret: KeyringContent.DerivedSecret,
        label: String? = nil,
        waiting: Duration = .seconds(5)
    ) throws {
        try withLock(waiting: waiting) { locked in
            try locked.write { content in
                guard let index = content.slots.firstIndex(of: old) else {
                    throw KeyringError(.slotChanged, slots: [old.number])
                }
                content.slots[index] = try content.makeSlot(
                    old.number,
                    secret,
                    label ?? old.label,
                    masterKey,
                    created: old.created
                )
                try content.checkSlotRemains(without: old)
            }
        }
    }

    /// Upgrades weak KDF parameters of the passphrase that unlocked the keyring.
    package func upgrade(_ secret: KeyringSecret) throws {
        guard opened.derivation?.isWeak == true else { return }
        do {
            // Nobody is waited for: the next opening does it.
            let derivation = try content().upgradedDerivation(of: opened)
            try change(opened, to: KeyringContent.DerivedSecret(secret, derivation), waiting: .zero)
        } catch let error as KeyringError where error.isOfTheSystem || error.code == .slotChanged {
            // A keyring that cannot be written opens all the same.
        }
    }

    /// Removes a slot. Its secret still opens old copies of the keyring, and a database that has had no
    /// new keyring since.
    ///
    /// - Parameter force: Also where no passphrase and no recovery code would be left; but never the only slot.
    /// - Throws: ``KeyringError``, with `KeyringError.lastSlot`.
    public func remove(slot number: Int, force: Bool = false) throws {
        try update { content in
            guard let slot = content.slot(number) else { throw KeyringError(.noSuchSlot, slots: [number]) }
            try content.remove(slot, force: force)
        }
    }
}

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
    /// Removes a slot, unless too few would be left.
    mutating func remove(_ slot: KeyringSlot, force: Bool) throws {
        slots.removeAll { $0.number == slot.number }
        guard !slots.allSatisfy(\.isNote) else { throw KeyringError(.onlySlot) }
        if !force { try checkSlotRemains(without: slot) }
    }

    /// The only slot with this label. A slot without one is named by its number.
    func slot(labeled label: String) throws(KeyringError) -> KeyringSlot {
        let found = label.isEmpty ? [] : slots.filter { $0.label == label }
        guard let slot = found.first else { throw KeyringError(.noSuchLabel, label: label) }
        guard found.count == 1 else { throw KeyringError(.labelNotUnique, slots: found.map(\.number)) }
        return slot
    }
}
