#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The system calls that make, replace and remove files. Each throws the `errno`.
package enum FileCalls {
    /// Makes a file that only its owner can use; fails where anything of that name exists, a link too.
    package static func create(_ path: String) throws(Errno) -> Int32 {
        try FaultInjection.check(.open, path)
        return Int32(
            try Platform.call(path) {
                Int(open($0, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600))
            }
        )
    }

    /// Makes a directory that only its owner can use; fails where anything of that name exists.
    package static func createDirectory(_ path: String) throws(Errno) {
        try FaultInjection.check(.open, path)
        _ = try Platform.call(path) { Int(mkdir($0, 0o700)) }
    }

    /// Opens a file for writing, and no link to one.
    package static func openExisting(_ path: String) throws(Errno) -> Int32 {
        try FaultInjection.check(.open, path)
        return Int32(try Platform.call(path) { Int(open($0, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)) })
    }

    /// Locks the file for this descriptor; false where another has it locked. It has nothing to do with the engine's locks.
    package static func tryLock(_ descriptor: Int32, _ path: String) -> Bool {
        #if canImport(Darwin)
            // There such locks and the engine's shut each other out, also within one process.
            true
        #else
            (try? tryLockOwnFile(descriptor, path)) == true
        #endif
    }

    /// As ``tryLock(_:)``, for a file that the engine never has. Throws where the file system has no locks.
    ///
    /// - Parameter exclusively: Whether others may not lock the file so that they share it, either.
    package static func tryLockOwnFile(
        _ descriptor: Int32,
        _ path: String,
        exclusively: Bool = true
    ) throws(Errno) -> Bool {
        try FaultInjection.check(.lock, path)
        if flock(descriptor, (exclusively ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw Errno(code: errno) }
        return false
    }

    /// Gives the lock of a file back and closes it. Closing alone would leave the lock to a child that was forked meanwhile; and a child must
    /// not take it from its parent.
    package static func unlockAndClose(_ descriptor: Int32, of owner: OwnerProcess) {
        if owner.isCurrent { _ = flock(descriptor, LOCK_UN) }
        Platform.close(descriptor)
    }

    /// Writes all of `bytes` at `offset`.
    package static func write(
        _ bytes: UnsafeRawBufferPointer,
        to descriptor: Int32,
        at offset: Int64,
        _ path: String
    ) throws(Errno) {
        var done = 0
        while done < bytes.count {
            let most = try FaultInjection.limit(bytes.count - done, .write, path)
            done += try Platform.retrying {
                pwrite(descriptor, bytes.baseAddress! + done, most, off_t(offset) + off_t(done))
            }
        }
    }

    /// Removes all bytes of the file, and goes back to its beginning.
    package static func truncate(_ descriptor: Int32, _ path: String) throws(Errno) {
        try FaultInjection.check(.write, path)
        _ = try Platform.retrying { Int(ftruncate(descriptor, 0)) }
        _ = try Platform.retrying { Int(lseek(descriptor, 0, SEEK_SET)) }
    }

    /// Returns when what was written is on the disk.
    package static func sync(_ descriptor: Int32, _ path: String) throws(Errno) {
        try FaultInjection.check(.sync, path)
        #if canImport(Darwin)
            // > fsync … the drive itself may not write the data to the platters for quite some time (fsync(2))
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        _ = try Platform.retrying { Int(fsync(descriptor)) }
    }

    /// Returns when the names in the directory of `path` are on the disk.
    package static func syncDirectory(of path: String) throws(Errno) {
        try FaultInjection.check(.sync, path)
        let descriptor = Int32(
            try Platform.call(directory(of: path)) { Int(open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
        )
        defer { Platform.close(descriptor) }
        #if canImport(Darwin)
            if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
        #endif
        _ = try Platform.retrying { Int(fsync(descriptor)) }
    }

    /// Gives the file these permissions, whatever the umask is.
    package static func setMode(_ mode: Int, of descriptor: Int32, _ path: String) throws(Errno) {
        try FaultInjection.check(.adopt, path)
        _ = try Platform.retrying { Int(fchmod(descriptor, mode_t(mode))) }
    }

    /// Gives the file `old` the name `new`; a file that had that name loses it, in one step.
    package static func rename(_ old: String, over new: String) throws(Errno) {
        try FaultInjection.check(.rename, old)
        try withBoth(old, new, systemRename)
    }

    /// Gives each of two files the name of the other, in one step. Not every file system can.
    package static func exchange(_ path: String, with other: String) throws(Errno) {
        try FaultInjection.check(.rename, path)
        try withBoth(path, other, Platform.exchange)
    }

    /// Creates a hard link to the file `old`; no file may exist there.
    package static func link(_ old: String, as new: String) throws(Errno) {
        try FaultInjection.check(.link, old)
        try withBoth(old, new, systemLink)
    }

    /// Removes the name `path`.
    package static func remove(_ path: String) throws(Errno) {
        try FaultInjection.check(.unlink, path)
        try Platform.remove(path)
    }

    /// Removes the name `path`, unless nothing has it.
    package static func removeIfThere(_ path: String) throws(Errno) {
        do throws(Errno) {
            try remove(path)
        } catch {
            guard error.meansNoFile else { throw error }
        }
    }

    /// The names in the directory of `path`.
    package static func names(beside path: String) throws(Errno) -> [String] {
        let descriptor = Int32(
            try Platform.call(directory(of: path)) { Int(open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) }
        )
        guard let directory = fdopendir(descriptor) else {
            defer { Platform.close(descriptor) }
            throw Errno(code: errno)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(withUnsafeBytes(of: &entry.pointee.d_name) { String(pathBytes: $0.prefix { $0 != 0 }) })
        }
        return names
    }

    // By bytes: to Swift a slash with an accent behind it is another character.
    package static func directory(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    package static func name(of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    /// The path of `name` in the directory of `path`.
    package static func sibling(_ name: String, of path: String) -> String {
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<path.utf8.index(after: $0)]) + name } ?? name
    }

    private static func withBoth(
        _ old: String,
        _ new: String,
        _ call: (UnsafePointer<CChar>, UnsafePointer<CChar>) -> Int32
    ) throws(Errno) {
        _ = try Platform.call(old) { old in
            do throws(Errno) {
                return try Platform.call(new) { Int(call(old, $0)) }
            } catch {
                // For the outer call, which reads it again.
                errno = error.code
                return -1
            }
        }
    }

    // The names are those of functions of this type, too.
    private static func systemRename(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        #if canImport(Darwin)
            Darwin.rename(old, new)
        #elseif canImport(Glibc)
            Glibc.rename(old, new)
        #else
            Musl.rename(old, new)
        #endif
    }

    private static func systemLink(_ old: UnsafePointer<CChar>, _ new: UnsafePointer<CChar>) -> Int32 {
        #if canImport(Darwin)
            Darwin.link(old, new)
        #elseif canImport(Glibc)
            Glibc.link(old, new)
        #else
            Musl.link(old, new)
        #endif
    }
}
