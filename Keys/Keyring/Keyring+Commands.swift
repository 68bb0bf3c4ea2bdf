internal import CipherSystem

/// Opening by the commands of slots.
///
/// The secret that a command prints is needed before the keyring can be verified. Until then somebody who can write the file may
/// have put another command there, so no command is run that the caller does not name.
extension Keyring {
    /// Opens the keyring with the secret of a slot that has a command, and verifies all of it. The command of a slot is run if it is
    /// one of `commands`, argument for argument; no other program is ever run.
    ///
    /// Each command is run once, in the order of the slots, until a slot opens.
    ///
    /// - Parameters:
    ///   - commands: What the owner of the program has decided, not what the keyring says: do not pass it the commands of `content().slots`
    ///     without asking somebody.
    ///   - slot: The only slot to try.
    /// - Throws: ``KeyringError``; `KeyringError.noCommand`, `KeyringError.commandNotAllowed` where no slot
    ///   has one of the commands; ``KeySourceError`` of the first command that failed, where no slot opens.
    public func unlock(allowing commands: [SecretCommand], slot number: Int? = nil) throws -> UnlockedKeyring {
        try naming {
            let (bytes, content) = try read()
            let (masterKey, opened) = try content.unlock(allowing: commands, slot: number)
            try content.authenticate(bytes, masterKey)
            return UnlockedKeyring(
                keyring: self,
                identifier: content.identifier,
                masterKey: masterKey,
                opened: opened
            )
        }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func unlock(allowing commands: [SecretCommand], slot: Int? = nil) async throws -> UnlockedKeyring {
        try await SerialWorker.once { try unlock(allowing: commands, slot: slot) }
    }
}

extension KeyringContent {
    fileprivate func unlock(
        allowing commands: [SecretCommand],
        slot number: Int?
    ) throws -> (masterKey: SecretBytes, slot: KeyringSlot) {
        if let number, slot(number) == nil { throw KeyringError(.noSuchSlot, slots: [number]) }
        var secrets: [SecretCommand: Result<KeyringSecret, any Error>] = [:]
        var refused: KeyringError?
        var failure: (any Error)?
        for slot in slots where number == nil || slot.number == number {
            guard let command = slot.command else { continue }
            guard commands.contains(command) else {
                refused = refused ?? KeyringError(.commandNotAllowed, slots: [slot.number], command: command)
                continue
            }
            let secret = secrets[command] ?? Result { try KeyringSecret.command(command) }
            secrets[command] = secret
            do {
                return try unlock(secret.get(), slot: slot.number)
            } catch {
                failure = failure ?? error
            }
        }
        throw failure ?? refused ?? KeyringError(.noCommand)
    }
}
