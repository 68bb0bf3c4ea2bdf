internal import CipherDB
internal import CipherKeys
internal import CipherPages

/// A database file as a whole: what it is, whether it is sound, and its key.
///
/// Each operation opens the file by itself, through the engine, whose locks keep it apart from other connections.
public struct DatabaseFile: Sendable {
    /// Where the file is.
    public let path: String
    /// How long an operation waits for another connection's lock.
    public var busyTimeout: Duration = .seconds(5)
    /// The PBKDF2 iterations that the file was made with, where they are not its format's own; they stand nowhere in it.
    public var iterations: Int?
    /// Called with what an operation that writes a new file is about to do, when nothing was written yet; what it throws ends
    /// the operation.
    public var willRewrite: (@Sendable (RewritePlan) throws -> Void)?

    /// The file at `path`; nothing is opened yet.
    public init(path: String) {
        self.path = path
    }

    /// Opens the file without keying it; for writing only where that is wanted, or where a rollback may be due: not beside a
    /// write-ahead log.
    func open(forWriting: Bool = false, plaintext: Bool = false) throws -> Database {
        try FileProblem.check(path, forWriting: forWriting)
        let configuration = Configuration {
            $0.busyTimeout = busyTimeout
            $0.allowsPlaintext = plaintext
        }
        let database = Database(path: path, configuration: configuration)
        let writes = Platform.mayWrite(path) && (forWriting || !hasLog)
        try database.open(flags: writes ? [.readWrite] : [.readOnly])
        return database
    }

    /// Whether a write-ahead log stands beside the file: the last connection that may write copies it into the file when it closes.
    private var hasLog: Bool { (try? Platform.status(of: path + "-wal").size) ?? 0 > 0 }

    /// How a key fits a file.
    struct Fit {
        let unlocked: Unlocked
        /// Page 1, without which the engine cannot open the file, is damaged.
        let firstPageIsDamaged: Bool
        /// What is wrong with a journal or log, which the engine would act on.
        var sideFileFlaws: [String] = []
    }

    /// Finds the format in which `key` fits: this engine's own first, then all others at every page size.
    func fit(_ key: DatabaseKey, to database: Database) throws -> Fit {
        switch try database.fileKind() {
        case .plaintext: throw KeyError.notEncrypted
        case .empty, .tooShort: throw KeyError.notADatabase
        case .opaque: break
        }
        let own = Engine.current.formats
        // Under a raw key the page key is the same in every format: without the key a file could be laid out anew in format
        // 1, whose pages nothing authenticates. So format 1 is looked for with passphrases only.
        let formats = try (own + CipherFormat.standard.filter { !own.contains($0) })
            .filter { key.isPassphrase || $0.pageAuthentication != nil }
            .map { format in try iterations.map { try format.with(unsafeIterations: $0) } ?? format }
        switch try database.probe(key, formats: formats) {
        case .opens(let key, let format):
            return Fit(
                unlocked: Unlocked(key: key, format: format),
                firstPageIsDamaged: false,
                sideFileFlaws: try database.sideFileFlaws(.encrypted(key, format))
            )
        case .firstPageDamaged(let key, let format):
            return Fit(unlocked: Unlocked(key: key, format: format), firstPageIsDamaged: true)
        case .rejected:
            throw try database.looksEncrypted() ? KeyError.wrongKey : .notADatabase
        }
    }

    /// Throws where the file, or what belongs to it, is damaged so that the engine must not have it.
    func check(_ fit: Fit) throws {
        if fit.firstPageIsDamaged { throw KeyError.damaged(pages: [1]) }
        try check(flaws: fit.sideFileFlaws, remedy: "`rekey recover` saves it")
    }

    /// Throws where a journal or WAL is damaged.
    func check(flaws: [String], remedy: String) throws {
        guard let flaw = flaws.first else { return }
        throw DatabaseError(
            code: .corrupt,
            message: "\(flaw); the engine would lose what stands there, so nothing was changed. \(remedy)"
        )
    }

    /// Keys `database` with what fits; throws where this engine cannot open it.
    func unlock(_ database: Database, _ fit: Fit) throws {
        try check(fit)
        try database.unlock(.unlocked(fit.unlocked))
    }
}
