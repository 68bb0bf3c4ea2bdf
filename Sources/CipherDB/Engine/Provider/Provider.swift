internal import CSQLCipher
internal import CipherPages
internal import CipherSystem

/// Registers CipherDB's page cryptography with the engine, where the engine's interface is known and behaves as known.
///
/// Of the engine's provider for OpenSSL four functions are replaced: the HMAC, the cipher, and those that make and free the context of a
/// connection. Everything else stays the engine's, and so do the HMAC and the cipher where OpenSSL refuses ours.
enum Provider {
    /// Why the engine's own code is used.
    struct Unusable: Error {
        let reason: String
    }

    /// What was found before the first key was set in this process.
    struct Registration: Sendable {
        let pageCryptography: PageCryptography
        /// The engine's own functions, where ours are registered.
        let stock: StockProvider?
        // Compared with, and never followed.
        nonisolated(unsafe) fileprivate let address: UnsafeMutableRawPointer?
        // Never used again: while it is open, an engine that would forget its provider with the last keyed connection keeps it.
        nonisolated(unsafe) fileprivate let anchor: Connection?
    }

    /// False once the program wants the engine's own.
    static let isWanted = Lock(
        Platform.withEnvironmentVariable("CIPHERDB_PAGE_CRYPTOGRAPHY") { $0.elementsEqual("engine".utf8) } != true
    )

    /// Another number after this thread has met a wrong MAC, and on each thread. It only says that something is to be looked at: in a
    /// database with auto-vacuum the engine accepts a page of zeros behind the end of the file, which has no MAC.
    ///
    /// A page is read by the thread that steps the statement, and looked at before that goes on.
    static var wrongMACs: UInt64 { Platform.threadCount }

    /// Whether a connection that gets its key now calls ``ProviderFunctions``; a program may have registered a provider of its own.
    static var isInUse: Bool {
        guard let registered = registration.address, let stock = registration.stock else { return false }
        return stock.current() == registered
    }

    /// Done once, before the first key is set.
    static let registration: Registration = {
        do {
            guard isWanted.withLock({ $0 }) else { throw Unusable(reason: "asked for by the program") }
            guard let version = Engine.current.sqlcipherVersion, let layout = ProviderLayout.of(version) else {
                throw Unusable(reason: "the interface of this version is not known")
            }
            // The engine has its provider from the first key on.
            let anchor = try Connection(path: ":memory:", flags: [.readWrite, .create])
            // It stores nothing: this is never derived.
            try anchor.check(anchor.working { csqlcipher_key(anchor.handle, "anchor", 6) })
            let stock = try StockProvider(layout)
            try stock.compare()
            return Registration(
                pageCryptography: .keptContexts,
                stock: stock,
                address: try register(stock),
                anchor: layout.isForgotten ? anchor : nil
            )
        } catch {
            let reason = (error as? Unusable)?.reason ?? "\(error)"
            return Registration(pageCryptography: .engine(reason), stock: nil, address: nil, anchor: nil)
        }
    }()

    /// Makes the engine call ``ProviderFunctions`` on each connection that gets a key from now on. Returns the structure.
    private static func register(_ stock: StockProvider) throws -> UnsafeMutableRawPointer {
        let layout = stock.layout
        guard
            let allocate = csqlcipher_symbol("sqlcipher_malloc"),
            let register = csqlcipher_symbol("sqlcipher_register_provider")
        else { throw Unusable(reason: "its interface is not exported") }
        // These are the types of the engine's functions of these names, in all versions that have a layout.
        let allocated = unsafeBitCast(allocate, to: csqlcipher_malloc.self)(
            UInt64(layout.size * MemoryLayout<UnsafeRawPointer>.size)
        )
        guard let provider = allocated?.bindMemory(to: UnsafeMutableRawPointer?.self, capacity: layout.size) else {
            throw Unusable(reason: "out of memory")
        }
        // The engine owns it, and frees it with the size of its own structure.
        for index in 0..<layout.size { provider[index] = index < layout.count ? stock.members[index] : nil }
        provider[layout.hmac] = ProviderFunctions.hmac(layout)
        provider[layout.cipher] = ProviderFunctions.address(of: ProviderFunctions.cipher)
        provider[layout.contextInit] = ProviderFunctions.address(of: ProviderFunctions.contextInit)
        provider[layout.contextFree] = ProviderFunctions.address(of: ProviderFunctions.contextFree)
        guard unsafeBitCast(register, to: csqlcipher_register_provider.self)(provider) == SQLITE_OK else {
            throw Unusable(reason: "the engine refused it")
        }
        return UnsafeMutableRawPointer(provider)
    }
}

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
