public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// Operations on a whole database file: inspect, verify, change its key.
///
/// Each operation opens the file by itself, through the engine, whose locks keep it apart from other connections.
public struct DatabaseFile: Sendable {
    /// Where the file is.
    public let path: String
    /// What is known of the file. `busyTimeout` limits all waits of an operation together; `format` is tried before all others, and is the
    /// only one without MACs that is tried under a raw key; each of `searchedIterations` takes three derivations.
    ///
    /// `prepareDatabase`, `unsafeAllowsAllSQL` and `trustsSchema` bring the program's own functions, collations, modules and tokenizers. A
    /// connection may be for reading only, or to a new file that has no tables yet. Nothing else of it counts.
    public var configuration = Configuration()
    /// Tried after the format of the configuration: that of other versions, with the parameters that are known.
    package var otherFormats: [CipherFormat] = []
    /// The PBKDF2 iterations that the file was made with, where they are not its format's own.
    public var iterations: Int?
    /// Called before each derivation of a passphrase with which the format is searched for, with the number of those made and of those to
    /// be made at most; what it throws ends the operation.
    public var willDerive: (@Sendable (_ done: Int, _ all: Int) throws -> Void)?
    /// Called with what an operation that writes a new file is about to do, when nothing was written yet; what it throws ends
    /// the operation.
    public var willRewrite: (@Sendable (RewritePlan) throws -> Void)?

    /// The file at `path`; nothing is opened yet.
    public init(path: String) {
        self.path = path
    }

    /// The format that the file is said to have.
    var format: CipherFormat? { configuration.format.flatMap { $0.isAny ? nil : $0 } }

    /// Runs an operation, whose waits for locks end together.
    func limitingWaits<Result>(_ body: () throws -> Result) rethrows -> Result {
        try LockWait.limiting(to: LockWait(limit: configuration.busyTimeout), body)
    }

    /// Opens the file without keying it; for writing only where that is wanted, or where a rollback may be due: not beside a
    /// write-ahead log.
    func open(forWriting: Bool = false, plaintext: Bool = false) throws -> UnkeyedFile {
        try FileError.check(path, forWriting: forWriting)
        return try UnkeyedFile(
            path: path,
            configuration: configured(plaintext: plaintext),
            flags: openFlags(forWriting: forWriting)
        )
    }

    /// That of the program, for a connection of an operation: the file stays as it is, and may be an old copy.
    ///
    /// - Parameter memoryLimit: Bytes that a statement may take: without a limit, since an index that does not fit would be missing in a copy.
    func configured(plaintext: Bool, memoryLimit: Int = .max) -> Configuration {
        Configuration {
            $0.prepareDatabase = configuration.prepareDatabase
            $0.statementMemoryLimit = memoryLimit
            $0.unsafeAllowsAllSQL = configuration.unsafeAllowsAllSQL
            $0.trustsSchema = configuration.trustsSchema
            $0.busyTimeout = configuration.busyTimeout
            $0.allowsPlaintext = plaintext
        }
    }

    func openFlags(forWriting: Bool) -> OpenFlags {
        Platform.mayWrite(path) && (forWriting || !hasLog) ? .readWrite : .readOnly
    }

    /// Opens the file as a database, which is to be closed.
    func database(under present: VerifiedKey?, forWriting: Bool = false) throws -> Database {
        let database = Database(try open(forWriting: forWriting, plaintext: present == nil))
        if let present { try database.unlock(present) }
        return database
    }

    /// Opens the file under `key`, to be closed, where neither it nor what belongs to it is damaged.
    func database(under key: DatabaseKey, forWriting: Bool = false) throws -> (database: Database, key: VerifiedKey) {
        let file = try open(forWriting: forWriting)
        let database = Database(file)
        do {
            let found = try authenticateUndamaged(key, file)
            try database.unlock(found)
            return (database, found)
        } catch {
            database.close()
            throw error
        }
    }

    /// Whether a write-ahead log stands beside the file: the last connection that may write copies it into the file when it closes.
    private var hasLog: Bool {
        // The engine has it beside the file that a link leads to.
        guard let resolved = try? Platform.resolved(path) else { return false }
        return (try? Platform.status(of: SideFile.writeAheadLog.path(of: resolved)).size) ?? 0 > 0
    }

    /// Finds the format in which `key` is right.
    func authenticate(_ key: DatabaseKey, _ file: UnkeyedFile) throws -> Authentication {
        try file.authenticate(key, search(), progress: willDerive)
    }

    /// The format that the file is said to have, with each number of iterations that is tried, then all others.
    func search() throws -> FormatSearch {
        let likely = try [expectedFormat()] + otherFormats
        let known = (iterations.map { [$0] } ?? []) + configuration.searchedIterations
        let counts = format == nil ? [] : known + FormatSearch.usualIterations
        return FormatSearch(
            preferred: try likely
                + counts.flatMap { count in try likely.map { try $0.changed { $0.iterations = count } } },
            iterations: known,
            acceptsFormat1: format?.pageAuthentication == nil
        )
    }

    /// The format that the file most probably has: the engine's own, with the file's iterations.
    func expectedFormat() throws -> CipherFormat {
        let own = try format ?? Engine.current.ownFormat()
        return try iterations.map { count in try own.changed { $0.iterations = count } } ?? own
    }

    /// Finds the format in which `key` is right.
    ///
    /// - Throws: also where the file, or what belongs to it, is damaged so that the engine must not have it.
    func authenticateUndamaged(_ key: DatabaseKey, _ file: UnkeyedFile) throws -> VerifiedKey {
        let found = try authenticate(key, file)
        switch found.damage {
        case .none: return found.verifiedKey
        case .firstPage: throw KeyError(.damaged, path: path, damagedPages: [1])
        case .sideFileUnderOtherKey(let side): throw file.underOtherKey(side)
        case .header(let flaw): throw KeyError(.damaged, path: path, damagedPages: [1], detail: flaw)
        case .sideFiles(let errors):
            try check(errors: errors, remedy: "A recovery saves what stands in the file")
            return found.verifiedKey
        }
    }

    /// Throws where a journal or WAL is damaged.
    func check(errors: [String], remedy: String) throws {
        guard let flaw = errors.first else { return }
        throw DatabaseError(
            code: .corrupt,
            message: "\(flaw); the engine would lose what stands there, so nothing was changed. \(remedy)"
        )
    }
}

/// The progress of an operation on a file.
public struct FileProgress: Sendable, Equatable {
    /// The stages of an operation; not every operation has all.
    public enum Stage: String, Sendable {
        /// The pages of the file are authenticated.
        case checking
        /// The new file is written.
        case writing
        /// The pages of the new file are authenticated.
        case verifying
        /// The old file is copied, to be kept.
        case keeping
        /// The old file is overwritten.
        case erasing
        /// The database is read, and what has changed is stored in a repository.
        case storing
        /// The blocks of a repository are written to the new file.
        case restoring
    }

    /// What is being done.
    public let stage: Stage
    /// Bytes of the stage that are done.
    public let done: Int64
    /// Bytes of the stage in all; 1 where that is not known.
    public let all: Int64

    package init(_ stage: Stage, done: Int64, all: Int64) {
        self.stage = stage
        self.done = done
        self.all = max(1, all)
    }

    /// For what counts pages of `size` bytes.
    init(_ stage: Stage, pages done: Int, of all: Int, size: Int) {
        self.init(stage, done: Int64(done) * Int64(size), all: Int64(all) * Int64(size))
    }
}
