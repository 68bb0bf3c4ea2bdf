public import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Opening for reading only, as other libraries ask for it: the compiler says what to write instead.

extension DatabaseQueue {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(url:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(path:keyring:unlockedBy:slot:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String,
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(path:keyring:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String,
        keyring: UnlockedKeyring,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }
}

extension DatabasePool {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String?,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(url:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(path:keyring:unlockedBy:slot:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String,
        keyring: Keyring,
        unlockedBy secret: KeyringSecret,
        slot: Int? = nil,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }

    /// Not there: see ``init(path:keyring:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public convenience init(
        path: String,
        keyring: UnlockedKeyring,
        configuration: Configuration = Configuration(),
        readOnly: Bool
    ) throws { fatalError("unavailable") }
}

extension Database {
    /// Not there: see ``open(key:flags:)``.
    @available(
        *,
        unavailable,
        message: "what only reads is opened with flags: .readOnly, as in open(key: key, flags: .readOnly)"
    )
    public func open(key: DatabaseKey? = nil, readOnly: Bool) throws { fatalError("unavailable") }
}

extension Configuration {
    /// Not there: see ``OpenFlags/readOnly``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public init(readOnly: Bool) { fatalError("unavailable") }

    /// Not there: see ``OpenFlags/readOnly``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public var isReadOnly: Bool {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Not there: see ``OpenFlags/readOnly``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public var readOnly: Bool {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }

    /// Not there: see ``OpenFlags/readOnly``.
    @available(
        *,
        unavailable,
        message:
            "what only reads is opened with flags: .readOnly, as in DatabaseQueue(path: path, key: key, flags: .readOnly)"
    )
    public var readonly: Bool {
        get { fatalError("unavailable") }
        set { fatalError("unavailable") }
    }
}
