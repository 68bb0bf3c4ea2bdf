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
        derivation: PassphraseDerivation = .standard,
        for database: String? = nil
    ) async throws -> UnlockedKeyring {
        try await SerialWorker.once { try create(with: secret, label: label, derivation: derivation, for: database) }
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

/// For tasks: deriving a key takes a good part of a second, and writing waits for the disk.
extension UnlockedKeyring {
    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func content() async throws -> KeyringContent {
        try await SerialWorker.once { try content() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func databaseKey() async throws -> DatabaseKey {
        try await SerialWorker.once { try databaseKey() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    @discardableResult
    public func add(
        _ secret: KeyringSecret,
        label: String = "",
        derivation: PassphraseDerivation = .standard
    ) async throws -> Int {
        try await SerialWorker.once { try add(secret, label: label, derivation: derivation) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    @discardableResult
    public func add(_ code: RecoveryCode, typedBack typed: RecoveryCode, label: String = "") async throws -> Int {
        try await SerialWorker.once { try add(code, typedBack: typed, label: label) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func change(
        slot number: Int,
        to secret: KeyringSecret,
        label: String? = nil,
        derivation: PassphraseDerivation = .standard
    ) async throws {
        try await SerialWorker.once { try change(slot: number, to: secret, label: label, derivation: derivation) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func remove(slot number: Int, force: Bool = false) async throws {
        try await SerialWorker.once { try remove(slot: number, force: force) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func change(
        label: String,
        to secret: KeyringSecret,
        derivation: PassphraseDerivation = .standard
    ) async throws {
        try await SerialWorker.once { try change(label: label, to: secret, derivation: derivation) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func remove(label: String, force: Bool = false) async throws {
        try await SerialWorker.once { try remove(label: label, force: force) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func forgetOlderKeys() async throws {
        try await SerialWorker.once { try forgetOlderKeys() }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func backUp(to path: String) async throws {
        try await SerialWorker.once { try backUp(to: path) }
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public func restore(to other: Keyring, overtaking generation: UInt64 = 0) async throws {
        try await SerialWorker.once { try restore(to: other, overtaking: generation) }
    }
}
