internal import CipherSystem

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

    /// Whether the engine runs a statement, or the program has the bytes of a row.
    var hasTaken: Bool { statements.values.contains { $0.state.isTaken } }

    var hasBlobs: Bool { !blobs.isEmpty }

    /// Of the statements that write and are not over, and of the blobs that may be written: the engine ends no savepoint beside them.
    var writers: Set<OpaquePointer> {
        Set(statements.filter { !$0.value.isReadOnly && $0.value.isInUse }.keys)
            .union(blobs.filter(\.value.isWritable).keys)
    }
}

// Copies of the tables are gone through: what ends takes itself out of the connection's.
extension OpenHandles {
    /// Ends every execution of a statement that began.
    func endExecutions() {
        for statement in statements.values { statement.endIfActive() }
    }

    func end(writers: Set<OpaquePointer>) {
        for handle in writers {
            statements[handle]?.endIfActive()
            blobs[handle]?.close()
        }
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

/// Handles that were released by a thread that must not use the connection, until one ends them that may.
final class Leftovers: Sendable {
    // Safe because a thread that keeps it here looks at it no more, and one that takes it out has the connection's turn.
    private struct Leftover: @unchecked Sendable {
        let end: () -> Void
    }

    /// Nil once the connection is closed, which ended everything.
    private let kept = Lock<[Leftover]?>([])
    private let hasAny = Atomic(false)

    var isAny: Bool { hasAny.load(ordering: .relaxed) }

    /// - Parameter end: Ends it, on the connection's turn.
    func keep(_ end: @escaping () -> Void) {
        let leftover = Leftover(end: end)
        let isKept = kept.withLock { kept in
            kept?.append(leftover)
            return kept != nil
        }
        if isKept { hasAny.store(true, ordering: .relaxed) }
    }

    /// Ends them all.
    ///
    /// - Parameter forGood: Whether none is kept from here on.
    func end(forGood: Bool = false) {
        hasAny.store(false, ordering: .relaxed)
        let leftovers = kept.withLock { kept in
            defer { kept = forGood ? nil : [] }
            return kept
        }
        for leftover in leftovers ?? [] { leftover.end() }
    }
}

extension Connection {
    /// Ends what the program let go of meanwhile.
    @inline(__always) func endLeftovers() {
        if leftovers.isAny { leftovers.end() }
    }

    /// Runs `end`, which ends what the program let go of: now, or when it is this connection's turn.
    func letGo(_ end: @escaping () -> Void) {
        if let stay = turn.enterIfFree() {
            defer { turn.leave(stay) }
            end()
            endLeftovers()
        } else if !turn.isOfParent {
            leftovers.keep(end)
        }
    }
}
