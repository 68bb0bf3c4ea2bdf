public import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

// Keys and places that are no arguments of an opening: the compiler says what to write instead.

extension Database {
    /// Not there: see ``setKey(_:)-(String)``.
    @available(
        *,
        unavailable,
        message:
            "the key is an argument of the opening call, such as DatabaseQueue(path: path, key: .passphrase(text)); a Database that you opened yourself has setKey"
    )
    public func usePassphrase(_ passphrase: String) throws { fatalError("unavailable") }

    /// Not there: see ``open(key:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public func open(key: String, flags: OpenFlags = [.readWrite, .create]) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``open(key:flags:)``.
    @available(*, unavailable, message: "a passphrase is key: .passphrase(text)")
    public func open(passphrase: String, flags: OpenFlags = [.readWrite, .create]) throws { fatalError("unavailable") }

    /// Not there: see ``init(path:configuration:)``.
    @available(
        *,
        unavailable,
        message: "the key is set when it is opened: Database(path: path), then open(key: .passphrase(text))"
    )
    public convenience init(path: String?, passphrase: String, configuration: Configuration = Configuration()) {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:configuration:)``.
    @available(*, unavailable, message: "the key is set when it is opened: Database(path: path), then open(key: key)")
    public convenience init(path: String?, key: DatabaseKey, configuration: Configuration = Configuration()) {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:configuration:)``.
    @available(*, unavailable, message: "a database in memory is Database(path: nil)")
    public convenience init(configuration: Configuration = Configuration()) { fatalError("unavailable") }

    /// Not there: see ``backup(to:key:pagesPerStep:progress:)``.
    @available(*, unavailable, message: "the copy is named by its path: backup(to: url.path)")
    public func backup(to url: URL, key: DatabaseKey? = nil) throws { fatalError("unavailable") }
}

extension DatabaseReader {
    /// Not there: see ``backup(to:key:pagesPerStep:progress:)``.
    @available(*, unavailable, message: "a backup is a new file: backup(to: \"path\", key: key)")
    public func backup(to other: some DatabaseWriter) throws { fatalError("unavailable") }

    /// Not there: see ``backup(to:key:pagesPerStep:progress:)``.
    @available(*, unavailable, message: "the copy is named by its path: backup(to: url.path)")
    public func backup(to url: URL, key: DatabaseKey? = nil) throws { fatalError("unavailable") }
}

extension DatabaseQueue {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public convenience init(path: String?, key: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "secret bytes are a passphrase as key: .passphrase(bytes), a raw key as key: .raw(bytes), its hexadecimal digits as key: .raw(hex: bytes)"
    )
    public convenience init(path: String?, key: SecretBytes, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase is key: .passphrase(text)")
    public convenience init(path: String?, passphrase: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase is key: .passphrase(text)")
    public convenience init(url: URL, passphrase: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a database in memory is DatabaseQueue(path: nil)")
    public convenience init(configuration: Configuration = Configuration()) throws { fatalError("unavailable") }
}

extension DatabasePool {
    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message: "text is a passphrase as key: .passphrase(text), hexadecimal as key: .raw(hex: text)"
    )
    public convenience init(path: String?, key: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(
        *,
        unavailable,
        message:
            "secret bytes are a passphrase as key: .passphrase(bytes), a raw key as key: .raw(bytes), its hexadecimal digits as key: .raw(hex: bytes)"
    )
    public convenience init(path: String?, key: SecretBytes, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase is key: .passphrase(text)")
    public convenience init(path: String?, passphrase: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a passphrase is key: .passphrase(text)")
    public convenience init(url: URL, passphrase: String, configuration: Configuration = Configuration()) throws {
        fatalError("unavailable")
    }

    /// Not there: see ``init(path:key:configuration:flags:)``.
    @available(*, unavailable, message: "a database in memory is DatabasePool(path: nil)")
    public convenience init(configuration: Configuration = Configuration()) throws { fatalError("unavailable") }
}
