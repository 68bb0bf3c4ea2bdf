internal import CipherSystem

/// For tasks: deriving a key takes a good part of a second, and writing waits for the disk.
extension Keyring {
    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    @discardableResult
    public func create(
        with secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard
    ) async throws -> UnlockedKeyring {
        try await SerialWorker.once { try create(with: secret, label: label, derivation: derivation) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func content() async throws -> KeyringContent {
        try await SerialWorker.once { try content() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func slots() async throws -> [KeyringSlot] {
        try await SerialWorker.once { try slots() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func unlock(
        _ secret: KeyringSecret,
        slot: Int? = nil,
        upgrades: Bool = true
    ) async throws -> UnlockedKeyring {
        try await SerialWorker.once { try unlock(secret, slot: slot, upgrades: upgrades) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    @discardableResult
    public func change(
        _ secret: KeyringSecret,
        to newSecret: KeyringSecret,
        slot: Int? = nil,
        derivation: PassphraseDerivation = .standard
    ) async throws -> Int {
        try await SerialWorker.once { try change(secret, to: newSecret, slot: slot, derivation: derivation) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func erase() async throws {
        try await SerialWorker.once { try erase() }
    }
}
