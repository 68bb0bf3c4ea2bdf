internal import Synchronization

/// A new file of a ``TemporaryName``, which only its owner can use. While it is open it is locked, so that no other process takes it
/// for a leftover.
package final class TemporaryFile: Sendable {
    package let path: String
    package let descriptor: Int32
    private let isOpen = Atomic(true)

    /// Nil if another process took the file for a leftover first.
    package init?(_ name: TemporaryName, beside owner: String) throws(Errno) {
        path = name.path(beside: owner)
        descriptor = try FileCalls.create(path)
        do throws(Errno) {
            // It may have been removed, and that process have gone, before this one had it locked.
            if try name.tryLock(descriptor, path),
                try Platform.has(name: path, Platform.status(of: descriptor).identity)
            {
                return
            }
        } catch {
            discard()
            throw error
        }
        discard()
        return nil
    }

    deinit {
        close()
    }

    /// Closes the file, and releases the lock.
    package func close() {
        if isOpen.exchange(false, ordering: .relaxed) { Platform.close(descriptor) }
    }

    package var isClosed: Bool { !isOpen.load(ordering: .relaxed) }

    /// Removes and closes the file.
    package func discard() {
        try? FileCalls.remove(path)
        close()
    }

    /// Removes a temporary file that SQLite never opens, if no process has it locked: it is that of a killed one.
    ///
    /// - Returns: Whether it was removed.
    @discardableResult
    package static func removeIfAbandoned(_ path: String) -> Bool {
        guard let descriptor = try? FileCalls.openExisting(path) else { return false }
        defer { Platform.close(descriptor) }
        return (try? FileCalls.tryLockOwnFile(descriptor, path)) == true && (try? FileCalls.remove(path)) != nil
    }

    /// Leaves the descriptor, with its lock, to the caller.
    package func release() -> Int32 {
        isOpen.store(false, ordering: .relaxed)
        return descriptor
    }

    package func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Errno) {
        try FileCalls.write(bytes, to: descriptor, at: offset, path)
    }

    /// Writes all of the content.
    package func write(_ content: [UInt8]) throws(Errno) {
        try content.withUnsafeBytes { bytes in Result { () throws(Errno) in try write(bytes, at: 0) } }.get()
    }

    package func sync() throws(Errno) {
        try FileCalls.sync(descriptor, path)
    }
}
