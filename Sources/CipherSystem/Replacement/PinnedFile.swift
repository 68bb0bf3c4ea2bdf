#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that is known again after its descriptor is closed, whatever names it has or had: no other file gets its number meanwhile.
///
/// It has no descriptor whose closing would drop locks of this process.
package final class PinnedFile: Sendable {
    package let identity: [UInt64]
    private let pin: Int32

    /// Pins the file that is open as `descriptor`.
    package init(_ descriptor: Int32, _ path: String) throws(Errno) {
        try FaultInjection.check(.open, path)
        identity = try Platform.status(of: descriptor).identity
        #if canImport(Darwin)
            // APFS gives no number twice.
            pin = -1
        #else
            pin = try Platform.pin(descriptor)
        #endif
    }

    deinit {
        if pin >= 0 { Platform.close(pin) }
    }

    /// Whether `path` is a name of the file.
    package func has(name path: String) -> Bool { Platform.has(name: path, identity) }

    /// Opens the file for writing, whatever its name is by now; where the system can open only by a name, by `path`.
    package func open(_ path: String) throws(Errno) -> Int32 {
        #if canImport(Darwin)
            let descriptor = try FileCalls.openExisting(path)
            if (try? Platform.status(of: descriptor).identity) == identity { return descriptor }
            Platform.close(descriptor)
            throw .noSuchFile
        #else
            try FaultInjection.check(.open, path)
            return Int32(try Platform.call("/proc/self/fd/\(pin)") { Int(systemOpen($0, O_RDWR | O_CLOEXEC)) })
        #endif
    }
}

#if !canImport(Darwin)
    // The name is that of a method, too.
    private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32) -> Int32 {
        #if canImport(Glibc)
            Glibc.open(path, flags)
        #else
            Musl.open(path, flags)
        #endif
    }
#endif
