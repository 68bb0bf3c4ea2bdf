internal import CipherSystem
internal import SQLiteFormat

/// Who has a database locked, as far as the system tells: POSIX locks of other processes, at the bytes that SQLite locks.
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
