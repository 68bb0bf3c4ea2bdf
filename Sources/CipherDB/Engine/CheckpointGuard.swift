internal import CSQLCipher

/// Stops a checkpoint that would go on after another connection restarted the WAL, on engines that do not notice it (sqlite.org/wal.html,
/// "The WAL-Reset Bug").
///
/// A checkpoint reads the header of the WAL's index, and later locks the readers' slot 0. If all frames were in the database already,
/// another connection can restart the WAL in between. Then the checkpoint marks as many frames of the new WAL as copied as the old one had,
/// later checkpoints skip them, and committed rows are lost. SQLite 3.51.3 compares the salts of the WAL under that lock. This does so in
/// the file's method that locks, for every checkpoint of a connection: of a commit, of a call, by SQL. When the slot is busy, the engine
/// copies nothing and reports no error. A checkpoint at the last close needs no guard: it has the file exclusively.
enum CheckpointGuard {
    /// Whether this engine has the bug.
    static let isNeeded = isNeeded(by: sqlite3_libversion_number())

    /// Whether SQLite of this version has the bug, as each had from the first WAL to the three that mended it.
    static func isNeeded(by version: Int32) -> Bool {
        switch version {
        case 3_044_006..<3_045_000, 3_050_007..<3_051_000, 3_051_003...: false
        default: true
        }
    }

    /// Guards the file of a schema until it is closed; does nothing where the engine has no such bug, or the file no WAL.
    static func install(on handle: OpaquePointer, schema: String) {
        var open: UnsafeMutablePointer<sqlite3_file>?
        guard isNeeded, sqlite3_file_control(handle, schema, SQLITE_FCNTL_FILE_POINTER, &open) == SQLITE_OK,
            let file = open, let stock = file.pointee.pMethods, stock.pointee.iVersion >= 2,
            stock.pointee.xShmLock != nil, !isGuarded(stock)
        else { return }
        var guarded = csqlcipher_guarded_methods()
        guarded.methods = stock.pointee
        guarded.methods.xShmLock = lock
        guarded.methods.xClose = close
        guarded.stock = stock
        let methods = UnsafeMutablePointer<csqlcipher_guarded_methods>.allocate(capacity: 1)
        methods.initialize(to: guarded)
        file.pointee.pMethods = UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self)
    }

    /// Whether these are methods of a guarded file.
    static func isGuarded(_ methods: UnsafePointer<sqlite3_io_methods>) -> Bool {
        unsafeBitCast(methods.pointee.xClose, to: UnsafeRawPointer?.self)
            == unsafeBitCast(close, to: UnsafeRawPointer?.self)
    }

    private typealias File = UnsafeMutablePointer<sqlite3_file>?

    /// What ``install(on:schema:)`` made for the file.
    private static func methods(_ file: File) -> UnsafeMutablePointer<csqlcipher_guarded_methods>? {
        file?.pointee.pMethods.map {
            UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: csqlcipher_guarded_methods.self)
        }
    }

    private static let close: @convention(c) (File) -> Int32 = { file in
        guard let methods = methods(file), let stock = methods.pointee.stock else { return SQLITE_MISUSE }
        file?.pointee.pMethods = stock
        methods.deallocate()
        return stock.pointee.xClose(file)
    }

    private static let lock: @convention(c) (File, Int32, Int32, Int32) -> Int32 = { file, first, count, flags in
        guard let methods = methods(file), let shmLock = methods.pointee.stock.pointee.xShmLock else {
            return SQLITE_MISUSE
        }
        let locks = flags & SQLITE_SHM_LOCK != 0
        let slot = count == 1 && flags & SQLITE_SHM_EXCLUSIVE != 0 ? EngineFile.WALLock(rawValue: first) : nil
        // The header is read after the writer's lock was refused or, where it had to be recovered, before it is given back.
        if slot == .writer, methods.pointee.checkpoints != 0 { methods.pointee.salts = salts(file) }
        let code = shmLock(file, first, count, flags)
        guard code == SQLITE_OK else { return code }
        switch slot {
        case .checkpoint:
            methods.pointee.checkpoints = locks ? 1 : 0
            if locks { methods.pointee.salts = salts(file) }
        case .writer:
            methods.pointee.writes = locks ? 1 : 0
        case .firstReader where locks && methods.pointee.checkpoints != 0 && methods.pointee.writes == 0:
            guard methods.pointee.salts != salts(file) else { break }
            _ = shmLock(file, first, count, SQLITE_SHM_UNLOCK | SQLITE_SHM_EXCLUSIVE)
            return SQLITE_BUSY
        default: break
        }
        return code
    }

    /// The salts in the index of the WAL; 0 where it has none.
    private static func salts(_ file: File) -> UInt64 {
        var region: UnsafeMutableRawPointer?
        guard let map = methods(file)?.pointee.stock.pointee.xShmMap,
            map(file, 0, WALIndexHeader.regionSize, 0, &region) == SQLITE_OK, let region
        else { return 0 }
        return csqlcipher_read_shared(region + WALIndexHeader.saltsOffset)
    }
}
