/// What is open on a connection, and ends with it: statements, blobs and backups.
///
/// None is kept alive by this: each is taken out before it is gone.
struct OpenHandles {
    /// Weak references would make each use of a statement count references the slow way.
    private var statements: [OpaquePointer: Unmanaged<PreparedStatement>] = [:]
    private var blobs: [OpaquePointer: WeakBlob] = [:]
    /// Backups that the connection is a side of.
    private var backups: [WeakBackup] = []

    private struct WeakBackup {
        weak var backup: BackupHandle?
    }

    private struct WeakBlob {
        weak var blob: BlobHandle?
    }

    mutating func add(_ statement: PreparedStatement, _ handle: OpaquePointer) {
        statements[handle] = .passUnretained(statement)
    }

    mutating func remove(statement handle: OpaquePointer) {
        statements[handle] = nil
    }

    mutating func add(_ blob: BlobHandle, _ handle: OpaquePointer) {
        blobs[handle] = WeakBlob(blob: blob)
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
    var hasRunning: Bool { statements.values.contains { $0.takeUnretainedValue().isInUse } || !blobs.isEmpty }
}

// Copies of the tables are gone through: what ends takes itself out of the connection's.
extension OpenHandles {
    /// What reports the end of one may let go of another.
    private var retained: [PreparedStatement] { statements.values.map { $0.takeUnretainedValue() } }

    /// Ends every execution of a statement that began.
    func endExecutions() {
        for statement in retained { statement.endIfActive() }
    }

    func closeBlobs() {
        for entry in blobs.values { entry.blob?.close() }
    }

    /// Ends all of them, each for good.
    func closeAll() {
        for entry in backups { entry.backup?.end() }
        closeBlobs()
        for statement in retained { statement.finalize() }
    }
}
