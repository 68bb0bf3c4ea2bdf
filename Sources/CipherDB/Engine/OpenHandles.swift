/// What is open on a connection, and ends with it: statements, blobs and backups.
///
/// Each statement and blob stays until it was ended: the program may let go of it on a thread that must not end it.
struct OpenHandles {
    private var statements: [OpaquePointer: PreparedStatement] = [:]
    private var blobs: [OpaquePointer: BlobHandle] = [:]
    /// Backups that the connection is a side of.
    private var backups: [WeakBackup] = []

    private struct WeakBackup {
        weak var backup: BackupHandle?
    }

    mutating func add(_ statement: PreparedStatement, _ handle: OpaquePointer) {
        statements[handle] = statement
    }

    mutating func remove(statement handle: OpaquePointer) {
        statements[handle] = nil
    }

    mutating func add(_ blob: BlobHandle, _ handle: OpaquePointer) {
        blobs[handle] = blob
    }

    mutating func remove(blob handle: OpaquePointer) {
        blobs[handle] = nil
    }

    mutating func add(_ backup: BackupHandle) {
        backups.append(WeakBackup(backup: backup))
    }

    mutating func remove(_ backup: BackupHandle) {
        backups.removeAll { $0.backup == nil || $0.backup === backup }
    }

    var hasBackups: Bool { !backups.isEmpty }

    /// Whether a statement was stepped and neither finished nor reset, or a blob is open.
    var hasRunning: Bool { !blobs.isEmpty || statements.values.contains { $0.isInUse } }
}

// Copies of the tables are gone through: what ends takes itself out of the connection's.
extension OpenHandles {
    /// Ends every execution of a statement that began.
    func endExecutions() {
        for statement in statements.values { statement.endIfActive() }
    }

    func closeBlobs() {
        for blob in blobs.values { blob.close() }
    }

    /// Ends all of them, each for good.
    func closeAll() {
        for entry in backups { entry.backup?.end() }
        closeBlobs()
        for statement in statements.values { statement.finalize() }
    }
}
