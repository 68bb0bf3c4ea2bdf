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
    package static func freeBytes(at path: String) throws(Errno) -> Int64 {
        let status = try fileSystem(of: path)
        let bytes = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return bytes.overflow ? .max : Int64(clamping: bytes.partialValue)
    }

    /// Whether the file system of `path` is mounted read-only.
    package static func isMountedReadOnly(_ path: String) -> Bool {
        // ST_RDONLY, which is an enumerator with some C libraries and a macro with others.
        (try? fileSystem(of: path)).map { UInt64($0.f_flag) & 1 != 0 } ?? false
    }

    private static func fileSystem(of path: String) throws(Errno) -> statvfs {
        var status = statvfs()
        _ = try call(path) { Int(statvfs($0, &status)) }
        return status
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
