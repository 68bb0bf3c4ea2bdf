internal import CSQLCipher
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// The database file, read through the engine's own descriptor.
///
/// A descriptor of our own would, when it is closed, drop every POSIX lock that this process holds on the file
/// (sqlite.org/howtocorrupt.html, section 2.2).
struct EngineFile: PageSource {
    private let connection: Connection
    let file: UnsafeMutablePointer<sqlite3_file>
    let methods: sqlite3_io_methods
    /// `SQLITE_IOERR_SHORT_READ`, a macro that does not reach Swift.
    static let shortRead = SQLITE_IOERR | (2 << 8)

    init(_ connection: Connection) throws(DatabaseError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        try connection.check(sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &file))
        guard let file, let methods = file.pointee.pMethods?.pointee else {
            throw DatabaseError(.cannotOpen, "the database has no file")
        }
        self.connection = connection
        self.file = file
        self.methods = methods
    }

    /// Reads bytes of the file at an offset, zeros behind its end; good as long as the engine has the file open, and keeps no reference.
    var reader: (UnsafeMutableRawBufferPointer, Int64) -> Bool {
        { [file, methods] buffer, offset in
            let code = methods.xRead(file, buffer.baseAddress, Int32(buffer.count), offset)
            return code == SQLITE_OK || code == EngineFile.shortRead
        }
    }

    func size() throws -> Int64 {
        var size: sqlite3_int64 = 0
        try check(methods.xFileSize(file, &size))
        // The engine calls a file of one byte empty, and would let any key open it.
        return size == 0 ? (try? Platform.status(of: connection.filename).size) ?? 0 : size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        let count = min(Int64(buffer.count), max(0, try size() - offset))
        guard count > 0 else { return 0 }
        let code = methods.xRead(file, buffer.baseAddress, Int32(count), offset)
        // A file that another process shortens meanwhile is read as far as it goes; the engine fills up with zeros.
        if code != EngineFile.shortRead { try check(code) }
        return Int(count)
    }

    /// The first `count` bytes, without a lock: what another process writes at this moment may be in them. Nil if the file is shorter.
    func beginning(_ count: Int) throws -> [UInt8]? {
        var code = SQLITE_OK
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            code = methods.xRead(file, buffer.baseAddress, Int32(count), 0)
            initialized = code == SQLITE_OK ? count : 0
        }
        if code == EngineFile.shortRead { return nil }
        try check(code)
        return bytes
    }

    /// Calls `body` while this connection holds a shared lock, so that no writer changes the file meanwhile.
    /// Waits up to `milliseconds` for it. Only for a connection that has not read anything yet.
    func locked<Result>(waiting milliseconds: Int, _ body: () throws -> Result) throws -> Result {
        try lockShared(LockWait.current(or: .milliseconds(milliseconds)))
        defer { unlock() }
        return try body()
    }

    /// Waits for a shared lock, and holds it until ``unlock()``. Only for a connection that has not read anything yet.
    func lockShared(_ wait: LockWait) throws {
        try waiting(wait) { methods.xLock(file, SQLITE_LOCK_SHARED) }
    }

    /// Asks for a lock, again as long as another connection has it and there is time.
    func waiting(_ wait: LockWait, _ lock: () -> Int32) throws {
        while true {
            let code = lock()
            if code == SQLITE_OK { return }
            guard code & 0xff == SQLITE_BUSY, wait.mayTryAgain() else { throw error(code, waited: wait.waited) }
        }
    }

    /// Calls `body` while nobody else has any lock on the file; does nothing where somebody has.
    func ifUnlocked(_ body: () -> Void) {
        defer { unlock() }
        guard methods.xLock(file, SQLITE_LOCK_SHARED) == SQLITE_OK,
            methods.xLock(file, SQLITE_LOCK_EXCLUSIVE) == SQLITE_OK
        else { return }
        body()
    }

    /// Waits up to `milliseconds` until nobody else has a lock, and keeps everybody out until ``unlock()``.
    /// Only for a connection that has not read anything yet.
    func lockExclusively(waiting milliseconds: Int) throws {
        try waiting(LockWait.current(or: .milliseconds(milliseconds))) {
            var code = methods.xLock(file, SQLITE_LOCK_SHARED)
            if code == SQLITE_OK { code = methods.xLock(file, SQLITE_LOCK_EXCLUSIVE) }
            // What was got of it would keep a writer from ending, for whom this waits.
            if code != SQLITE_OK { unlock() }
            return code
        }
    }

    /// Whether some connection is in a transaction that writes.
    var isReserved: Bool {
        get throws {
            var reserved: Int32 = 0
            try check(methods.xCheckReservedLock(file, &reserved))
            return reserved != 0
        }
    }

    func unlock() {
        _ = methods.xUnlock(file, SQLITE_LOCK_NONE)
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws {
        // The engine writes pages, and takes no more than 131,071 bytes at once.
        for start in stride(from: 0, to: bytes.count, by: 65536) {
            let part = UnsafeRawBufferPointer(rebasing: bytes[start...].prefix(65536))
            try check(methods.xWrite(file, part.baseAddress, Int32(part.count), offset + Int64(start)))
        }
    }

    func sync() throws {
        try check(methods.xSync(file, SQLITE_SYNC_FULL))
    }

    /// Goes back to a shared lock after an exclusive one was refused.
    ///
    /// SQLite 3.15 keeps its PENDING lock then in WAL mode, without knowing that it does: nobody else could open the file.
    func dropPendingLock() {
        _ = methods.xUnlock(file, SQLITE_LOCK_SHARED)
    }

    func check(_ code: Int32) throws(DatabaseError) {
        guard code != SQLITE_OK else { return }
        throw error(code)
    }

    /// File methods leave no message in the connection.
    private func error(_ code: Int32, waited: Duration? = nil) -> DatabaseError {
        let code = ResultCode(rawValue: code)
        guard StorageFailure.concerns(code) else {
            return DatabaseError(code, String(cString: sqlite3_errstr(code.rawValue)))
        }
        return connection.storageError(code, waited: waited)
    }
}

/// The locks of the WAL, which are in its shared memory (sqlite.org/walformat.html, section 2).
extension EngineFile {
    /// The number of a lock.
    enum WALLock: Int32 {
        /// > WAL_WRITE_LOCK: held by the connection that writes.
        case writer = 0
        /// > WAL_CKPT_LOCK: held while frames are copied into the database.
        case checkpoint = 1
        /// > WAL_READ_LOCK(0), of readers that need no frame of the log.
        case firstReader = 3
        /// > WAL_READ_LOCK(4), the last of those that a restart of the log needs.
        case lastReader = 7
    }

    /// Opens the shared memory; nil where no connection of any process has written its header.
    func walIndexHeader() throws -> WALIndexHeader? {
        guard let map = methods.xShmMap, let barrier = methods.xShmBarrier else { return nil }
        var region: UnsafeMutableRawPointer?
        try check(map(file, 0, WALIndexHeader.regionSize, 0, &region))
        guard let region else { return nil }
        for _ in 0..<100 {
            let bytes = [UInt8](UnsafeRawBufferPointer(start: region, count: 2 * WALIndexHeader.size))
            // > The header is written twice, so that a reader sees whether a writer was at it.
            if bytes.prefix(WALIndexHeader.size) == bytes.suffix(WALIndexHeader.size) { return WALIndexHeader(bytes) }
            barrier(file)
            Platform.sleep(milliseconds: 1)
        }
        throw DatabaseError(.busy, "\(connection.filename): the index of the WAL goes on changing; try again")
    }

    /// Waits for a lock of the WAL, whose header was looked for before.
    func lock(_ lock: WALLock, exclusively: Bool, _ wait: LockWait) throws {
        guard let call = methods.xShmLock else { return }
        let flags = SQLITE_SHM_LOCK | (exclusively ? SQLITE_SHM_EXCLUSIVE : SQLITE_SHM_SHARED)
        try waiting(wait) { call(file, lock.rawValue, 1, flags) }
    }

    func unlock(_ lock: WALLock, exclusively: Bool) {
        _ = methods.xShmLock?(
            file,
            lock.rawValue,
            1,
            SQLITE_SHM_UNLOCK | (exclusively ? SQLITE_SHM_EXCLUSIVE : SQLITE_SHM_SHARED)
        )
    }

    /// Closes the shared memory, and drops its locks.
    func closeSharedMemory() {
        _ = methods.xShmUnmap?(file, 0)
    }
}

/// What the index of a WAL says of the last commit. Numbers are in the byte order of the machine.
package struct WALIndexHeader {
    static let size = 48
    /// The engine's own size of a part of the shared memory; the header begins the first.
    static let regionSize: Int32 = 32768
    static let saltsOffset = 32
    /// How many frames of the WAL are in force. One that a killed writer has left behind them is not, whatever its checksum.
    package let frames: Int
    /// Of the WAL, as its file has them; of the next one, if there are no frames.
    package let salts: [UInt8]

    /// Nil where it was not written yet, or is of a version that SQLite never had.
    init?(_ bytes: [UInt8]) {
        func number(at offset: Int) -> Int {
            bytes.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
        }
        guard number(at: 0) == 3_007_000, bytes[12] != 0 else { return nil }
        frames = number(at: 16)
        salts = Array(bytes[Self.saltsOffset..<Self.saltsOffset + 8])
    }
}

extension UnkeyedFile {
    /// What the index of the WAL says, without a lock; nil where there is none.
    package func walIndexHeader() throws -> WALIndexHeader? {
        defer { pages.file.closeSharedMemory() }
        return try pages.file.walIndexHeader()
    }
}
