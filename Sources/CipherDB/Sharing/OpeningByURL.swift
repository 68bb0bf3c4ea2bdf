public import CipherKeys

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension DatabaseQueue {
    /// Opens the file that a URL names, as `init(path:key:configuration:flags:)`.
    ///
    /// - Throws: ``DatabaseError`` for a URL of anything but a file; ``KeyError``.
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        try self.init(path: url.pathOfFile, key: key, configuration: configuration, flags: flags)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        try await self.init(path: url.pathOfFile, key: key, configuration: configuration, flags: flags)
    }
}

extension DatabasePool {
    /// Opens the file that a URL names, as `init(path:key:configuration:flags:)`.
    ///
    /// - Throws: ``DatabaseError`` for a URL of anything but a file; ``KeyError``.
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) throws {
        try self.init(path: url.pathOfFile, key: key, configuration: configuration, flags: flags)
    }

    /// Asynchronous version; does not block the calling thread.
    ///
    /// - Throws: as the synchronous version; `CancellationError` where the task is cancelled already.
    public convenience init(
        url: URL,
        key: DatabaseKey? = nil,
        configuration: Configuration = Configuration(),
        flags: OpenFlags = [.readWrite, .create]
    ) async throws {
        try await self.init(path: url.pathOfFile, key: key, configuration: configuration, flags: flags)
    }
}

extension URL {
    var pathOfFile: String {
        get throws {
            guard isFileURL else { throw DatabaseError(.cannotOpen, "the URL is not that of a file") }
            return path
        }
    }
}
