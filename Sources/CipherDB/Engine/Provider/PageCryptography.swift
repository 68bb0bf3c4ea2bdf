internal import CSQLCipher
internal import CipherSystem

/// Which code computes the MACs and the ciphertext of the pages that the engine reads and writes. Both call the same OpenSSL and
/// write the same bytes.
public enum PageCryptography: Sendable, Hashable, CustomStringConvertible {
    /// CipherDB's: it keeps the contexts of OpenSSL while a connection is open. The engine calls it by its own interface.
    case keptContexts
    /// The engine's, which makes new contexts for every page; with the reason.
    case engine(String)

    /// Such as `kept contexts`.
    public var description: String {
        switch self {
        case .keptContexts: "kept contexts"
        case .engine(let reason): "the engine's (\(reason))"
        }
    }
}

extension Engine {
    /// Which code computes the MACs and the ciphertext of pages: ``PageCryptography/keptContexts`` where the engine is one whose
    /// interface is known, and its functions give the same bytes as CipherDB's when that is tried, once in each process.
    public var pageCryptography: PageCryptography { Provider.registration.pageCryptography }

    /// Leaves the cryptography of pages to the engine's own code, for as long as the process lives.
    ///
    /// Call it before the first encrypted database is opened. The environment variable `CIPHERDB_PAGE_CRYPTOGRAPHY=engine` does the
    /// same.
    ///
    /// - Returns: Whether it is in force.
    @discardableResult
    public func useEnginePageCryptography() -> Bool {
        Provider.isWanted.withLock { $0 = false }
        return pageCryptography != .keptContexts
    }
}
