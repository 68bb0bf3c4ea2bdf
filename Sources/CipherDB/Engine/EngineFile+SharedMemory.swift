internal import CSQLCipher
internal import CipherSystem

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
        throw DatabaseError(.busy, "the index of the WAL goes on changing; try again")
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
