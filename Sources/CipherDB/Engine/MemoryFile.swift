internal import CSQLCipher

/// A file in memory that the engine takes for one on the disk: what is tried with an engine leaves nothing behind.
///
/// It is an SQLite VFS of one file, without a journal and without locks, for one connection at a time.
final class MemoryFile {
    var bytes: [UInt8] = []
    private let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    private let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    private let name = UnsafeMutableBufferPointer<CChar>.allocate(capacity: MemoryFile.vfsName.utf8.count + 1)
    private static let vfsName = "cipherdb-memory"

    /// What the engine allocates for the open file.
    fileprivate struct Opened {
        var base: sqlite3_file
        var file: Unmanaged<MemoryFile>
    }

    /// Nil where the engine has no VFS.
    init?() {
        guard let system = sqlite3_vfs_find(nil) else { return nil }
        // Time, sleep and randomness stay the system's.
        _ = name.initialize(from: Self.vfsName.utf8CString)
        vfs.initialize(to: system.pointee)
        methods.initialize(to: Self.fileMethods)
        vfs.pointee.iVersion = 1
        vfs.pointee.szOsFile = Int32(MemoryLayout<Opened>.size)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(name.baseAddress)
        vfs.pointee.pAppData = Unmanaged.passUnretained(self).toOpaque()
        vfs.pointee.xOpen = { vfs, _, file, flags, answered in
            guard flags & SQLITE_OPEN_MAIN_DB != 0, let file, let content = vfs?.pointee.pAppData else {
                return SQLITE_CANTOPEN
            }
            let memory = Unmanaged<MemoryFile>.fromOpaque(content)
            let base = sqlite3_file(pMethods: UnsafePointer(memory.takeUnretainedValue().methods))
            UnsafeMutableRawPointer(file).initializeMemory(as: Opened.self, to: Opened(base: base, file: memory))
            answered?.pointee = flags
            return SQLITE_OK
        }
        vfs.pointee.xDelete = { _, _, _ in SQLITE_OK }
        vfs.pointee.xAccess = { _, _, _, answer in
            answer?.pointee = 0
            return SQLITE_OK
        }
        vfs.pointee.xFullPathname = { _, path, size, full in
            guard let path, let full else { return SQLITE_CANTOPEN }
            for index in 0..<Int(size) {
                full[index] = path[index]
                if path[index] == 0 { return SQLITE_OK }
            }
            return SQLITE_CANTOPEN
        }
        guard sqlite3_vfs_register(vfs, 0) == SQLITE_OK else { return nil }
    }

    deinit {
        sqlite3_vfs_unregister(vfs)
        vfs.deallocate()
        methods.deallocate()
        name.deallocate()
    }

    /// A connection to it, which must be closed while the file is there.
    func open() throws(DatabaseError) -> Connection {
        try Connection(path: "memory", flags: [.readWrite, .create], vfs: Self.vfsName)
    }

    /// The file that the engine means.
    private static func content(_ file: UnsafeMutablePointer<sqlite3_file>?) -> MemoryFile? {
        guard let file else { return nil }
        return UnsafeMutableRawPointer(file).load(as: Opened.self).file.takeUnretainedValue()
    }

    private static let fileMethods: sqlite3_io_methods = {
        var methods = sqlite3_io_methods()
        methods.iVersion = 1
        methods.xClose = { _ in SQLITE_OK }
        methods.xRead = { file, target, count, offset in
            guard let bytes = content(file)?.bytes, let target else { return SQLITE_IOERR }
            let buffer = UnsafeMutableRawBufferPointer(start: target, count: Int(count))
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            let there = bytes.dropFirst(Int(offset)).prefix(Int(count))
            buffer.copyBytes(from: there)
            return there.count == Int(count) ? SQLITE_OK : EngineFile.shortRead
        }
        methods.xWrite = { file, source, count, offset in
            guard let memory = content(file), let source else { return SQLITE_IOERR }
            let end = Int(offset) + Int(count)
            if memory.bytes.count < end { memory.bytes += [UInt8](repeating: 0, count: end - memory.bytes.count) }
            memory.bytes.replaceSubrange(
                Int(offset)..<end,
                with: UnsafeRawBufferPointer(start: source, count: Int(count))
            )
            return SQLITE_OK
        }
        methods.xTruncate = { file, size in
            guard let memory = content(file) else { return SQLITE_IOERR }
            if memory.bytes.count > size { memory.bytes.removeLast(memory.bytes.count - Int(size)) }
            return SQLITE_OK
        }
        methods.xSync = { _, _ in SQLITE_OK }
        methods.xFileSize = { file, size in
            size?.pointee = sqlite3_int64(content(file)?.bytes.count ?? 0)
            return SQLITE_OK
        }
        methods.xLock = { _, _ in SQLITE_OK }
        methods.xUnlock = { _, _ in SQLITE_OK }
        methods.xCheckReservedLock = { _, answer in
            answer?.pointee = 0
            return SQLITE_OK
        }
        methods.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        methods.xSectorSize = { _ in 0 }
        methods.xDeviceCharacteristics = { _ in 0 }
        return methods
    }()
}
