internal import CipherSystem
internal import SQLiteFormat

/// Why a file could not be locked, read or written: what SQLite's codes 5, 8, 10, 13 and 14 leave open. It is found out when the error is
/// made.
struct StorageFailure {
    let code: ResultCode
    /// The file of the database.
    private(set) var path: String
    /// The files of which it may be any, where databases are attached: the engine does not tell which.
    private(set) var candidates: [String] = []
    /// How long a lock was waited for; nil where that is not known.
    var waited: Duration?
    /// What the system answered, where the engine kept it.
    var systemError: Errno?
    /// Whether the file was opened for reading only.
    var isForReading = false

    /// The primary codes whose cause lies outside of the program.
    static let codes: [ResultCode] = [.busy, .readOnly, .inputOutput, .full, .cannotOpen]

    static func concerns(_ code: ResultCode) -> Bool { codes.contains(code.primary) }

    /// The cause, and what to do about it; empty where nothing was found.
    var cause: String {
        let found: [String?] =
            switch code.primary {
            case .busy: causesOfBusy
            case .readOnly: causesOfReadOnly
            case .full: [room, "make room and try again"]
            case .cannotOpen: causesOfCannotOpen
            default: causesOfInputOutput
            }
        return found.compactMap { $0 }.joined(separator: "; ")
    }

    /// `message` with the path and the cause.
    func explaining(_ message: String) -> String {
        let cause = cause
        let places = candidates.isEmpty ? path : candidates.joined(separator: " or ")
        return "\(places): \(message)" + (cause.isEmpty ? "" : ": \(cause)")
    }

    private var directory: String { FileCalls.directory(of: path) }

    /// Takes the file that the most speaks against, of this one and those that are attached.
    mutating func chooseFile(among attached: [String]) {
        guard !attached.isEmpty else { return }
        let all = [path] + attached
        var found: [Int] = []
        for file in all {
            path = file
            found.append(signs)
        }
        let likely = all.indices.filter { found[$0] == found.max() }.map { all[$0] }
        path = likely[0]
        if likely.count > 1 { candidates = likely }
    }

    /// How much speaks for this file; 0 where nothing does.
    private var signs: Int {
        switch code.primary {
        case .busy: code == .busySnapshot ? 0 : LockSearch(path).signs
        case .readOnly: whyNoFileIsMade != nil || !Platform.mayWrite(path) ? 1 : 0
        case .cannotOpen: whyNoFileIsMade != nil || !Platform.mayRead(path) ? 1 : 0
        default: lackOfRoom != nil ? 1 : 0
        }
    }

    // MARK: Locks

    private var causesOfBusy: [String?] {
        if code == .busySnapshot {
            return [
                "another connection has written since this transaction began to read; begin it again, .immediate if it writes"
            ]
        }
        let waited = waited.map { "waited \($0.inSeconds)" }
        let holder = LockSearch(path).description
        return [waited, holder, "try again when it is released, or wait longer"]
    }

    // MARK: The place of the file

    private var lackOfDescriptors: String? {
        Platform.exhaustedDescriptorLimit.map {
            "this process has all of the \($0) descriptors that it may have (ulimit -n); raise that, or open fewer files"
        }
    }

    private var room: String? {
        guard let free = try? Platform.freeBytes(at: directory) else { return nil }
        let limit = free > 1 << 20 ? "; a quota or PRAGMA max_page_count may be reached" : ""
        return "\(Int(free).counted("byte")) free in \(directory)\(limit)"
    }

    private var lackOfRoom: String? {
        if Platform.lacksInodes(directory) {
            return "the disk is full: no inode is left for another file in \(directory) (df -i); remove files"
        }
        guard let free = try? Platform.freeBytes(at: directory), free < 65536 else { return nil }
        return "the disk is full: \(Int(free).counted("byte")) free in \(directory); make room"
    }

    /// Why files cannot be made in the directory.
    private var whyNoFileIsMade: String? {
        if Platform.isMountedReadOnly(directory) { return "the file system of \(directory) is mounted read-only" }
        return Platform.mayWrite(directory)
            ? nil : "user \(Platform.user) has no permission to make files in \(directory)"
    }

    /// What helps where a database in WAL mode cannot have its side files.
    private var adviceOnSideFiles: String {
        let log = (try? Platform.status(of: SideFile.writeAheadLog.path(of: path)).size) ?? 0
        return
            "a database in WAL mode needs the files -wal and -shm beside it, also to be read: copy it to where they can be made"
            + (log > 0
                ? ", with its -wal"
                : ", or open file:\(path)?immutable=1 with the flags .readOnly and .uri if nobody writes to it")
    }

    private var causesOfReadOnly: [String?] {
        if code == .readOnlyMoved { return ["the file was moved or removed since it was opened; open it again"] }
        let isAboutSideFiles = [.readOnlyDirectory, .readOnlyRecovery, .readOnlyRollback].contains(code)
        if let why = whyNoFileIsMade { return [why, isAboutSideFiles || isForReading ? adviceOnSideFiles : nil] }
        if isForReading { return ["it was opened for reading only"] }
        return [Platform.mayWrite(path) ? nil : "user \(Platform.user) has no permission to write to it"]
    }

    private var causesOfCannotOpen: [String?] {
        if let lack = lackOfDescriptors ?? lackOfRoom { return [lack] }
        do throws(Errno) {
            _ = try Platform.status(of: path)
        } catch {
            return [missing(error)]
        }
        if let why = whyNoFileIsMade { return [why, adviceOnSideFiles] }
        return [Platform.mayRead(path) ? systemsWords : "user \(Platform.user) has no permission to read it"]
    }

    private var causesOfInputOutput: [String?] {
        // SQLITE_IOERR_SHMSIZE: SQLite says so of a full disk, too.
        if code.rawValue == 4874 {
            return [lackOfDescriptors ?? lackOfRoom ?? "the file -shm beside it cannot be made"]
        }
        let words = systemError == .inputOutput ? "the disk may be failing: look at the log of the system" : nil
        return [lackOfDescriptors ?? lackOfRoom, systemsWords, words]
    }

    private var systemsWords: String? { systemError.map { "the system says: \($0)" } }

    // MARK: Calls of the system

    /// The error of a call of the system that opens or makes the file, with what to do.
    static func description(of error: Errno, _ path: String) -> String {
        let failure = StorageFailure(code: .cannotOpen, path: path)
        let cause: String? =
            switch error {
            case .noSuchFile, .notADirectory: failure.missing(error)
            case .noSpace: failure.lackOfRoom
            case .noPermission, .readOnlyFileSystem, .notPermitted: failure.whyNoFileIsMade
            default: failure.lackOfDescriptors
            }
        return cause.map { $0.hasPrefix("\(error)") ? $0 : "\(error): \($0)" } ?? "\(error)"
    }

    private func missing(_ error: Errno) -> String {
        guard error == .noSuchFile, (try? Platform.status(of: directory)) == nil else { return "\(error)" }
        return "\(error): the directory \(directory) does not exist"
    }
}

extension Duration {
    /// Such as `5.0 s`.
    fileprivate var inSeconds: String {
        let tenths = Int(self / .milliseconds(100))
        return "\(tenths / 10).\(tenths % 10) s"
    }
}

/// The process that has a database locked, if the system tells: by POSIX locks at the bytes that SQLite locks.
///
/// It asks by the engine's own descriptors: closing another would drop the engine's locks.
struct LockSearch: CustomStringConvertible {
    private let writer: LockHolder?
    private let reader: LockHolder?
    private let isOpenHereTwice: Bool

    init(_ path: String) {
        let file = LockSearch.descriptor(path)
        let memory = LockSearch.descriptor(SideFile.sharedMemory.path(of: path))
        // > PENDING_BYTE 0x40000000, RESERVED_BYTE behind it, and 510 bytes that readers lock (sqlite3.c, os.h).
        let inFile = { (isReading: Bool) in
            file.flatMap { Platform.lockHolder($0, at: 0x4000_0000, count: 512, isReading: isReading) }
        }
        // > WAL_WRITE_LOCK, WAL_CKPT_LOCK and WAL_RECOVER_LOCK, then those of readers (walformat.html, 2.3).
        let inMemory = { (offset: Int64, count: Int64, isReading: Bool) in
            memory.flatMap { Platform.lockHolder($0, at: offset, count: count, isReading: isReading) }
        }
        writer = inFile(false) ?? inMemory(120, 3, false)
        // In WAL mode each connection has the file locked as a reader.
        reader = memory == nil ? inFile(true) : inMemory(123, 5, true)
        isOpenHereTwice = OpenFile.count(path) > 1
    }

    private static func descriptor(_ path: String) -> Int32? {
        (try? Platform.status(of: path).identity).flatMap { Platform.descriptor(on: $0) }
    }

    /// How sure it is that the lock is on this file; 0 where nobody is found.
    var signs: Int { writer != nil ? 3 : reader != nil ? 2 : isOpenHereTwice ? 1 : 0 }

    var description: String {
        if let writer { return "\(LockSearch.name(writer)) holds a lock for writing" }
        let own = isOpenHereTwice ? "this process has it open in another connection, which may hold the lock" : nil
        let others = reader.map { "\(LockSearch.name($0)) holds a lock for reading" }
        let found = [others, own].compactMap { $0 }
        return found.isEmpty ? "no process holds the lock any more" : found.joined(separator: "; ")
    }

    private static func name(_ holder: LockHolder) -> String {
        holder.number.map { "process \($0)" } ?? "a process that this one cannot see, as of another container,"
    }
}
