internal import CCipherSystem

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

// What the system tells of the place of a file, for errors.
extension Platform {
    /// How many bytes this user can still write to the file system of `path`. Throws the `errno`.
    package static func freeBytes(at path: String) throws(Errno) -> Int64 { try fileSystem(of: path).freeBytes }

    /// Whether the file system of `path` is mounted read-only.
    package static func isMountedReadOnly(_ path: String) -> Bool {
        (try? fileSystem(of: path).isReadOnly) ?? false
    }

    /// Whether the file system of `path` has no inode left for another file.
    package static func lacksInodes(_ path: String) -> Bool { (try? fileSystem(of: path).lacksInodes) ?? false }

    /// What the system tells of the file system of `path`. Throws the `errno`.
    private static func fileSystem(of path: String) throws(Errno) -> (
        freeBytes: Int64, lacksInodes: Bool, isReadOnly: Bool
    ) {
        // The first flag of both is ST_RDONLY, or MNT_RDONLY: an enumerator with some C libraries and a macro with others.
        #if canImport(Darwin)
            // The number of blocks in statvfs has 32 bits there.
            var status = statfs()
            _ = try call(path) { Int(statfs($0, &status)) }
            let (blocks, size, flags) = (UInt64(status.f_bavail), UInt64(status.f_bsize), UInt64(status.f_flags))
            let lacksInodes = status.f_files > 0 && status.f_ffree == 0
        #else
            var status = statvfs()
            _ = try call(path) { Int(statvfs($0, &status)) }
            let (blocks, size, flags) = (UInt64(status.f_bavail), UInt64(status.f_frsize), UInt64(status.f_flag))
            // Some file systems have no fixed number, and say 0.
            let lacksInodes = status.f_files > 0 && status.f_favail == 0
        #endif
        let bytes = blocks.multipliedReportingOverflow(by: size)
        return (bytes.overflow ? .max : Int64(clamping: bytes.partialValue), lacksInodes, flags & 1 != 0)
    }

    /// How many descriptors this process may have, where it has them all; nil where it can open another file.
    package static var exhaustedDescriptorLimit: Int? {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { close(descriptor) }
        guard descriptor < 0, errno == EMFILE else { return nil }
        return Int(sysconf(Int32(_SC_OPEN_MAX)))
    }

    /// Another process that has a part of the file locked; nil for none.
    ///
    /// - Parameters:
    ///   - isReading: Whether readers count, too.
    package static func lockHolder(
        _ descriptor: Int32,
        at offset: Int64,
        count: Int64,
        isReading: Bool
    ) -> LockHolder? {
        let number = csystem_lock_holder(descriptor, offset, count, isReading ? 1 : 0)
        return number == 0 ? nil : LockHolder(number: number > 0 ? number : nil)
    }
}

/// A process that has a file locked.
package struct LockHolder: Equatable {
    /// Nil where the system does not tell, as of one in another container.
    package let number: Int32?
}
