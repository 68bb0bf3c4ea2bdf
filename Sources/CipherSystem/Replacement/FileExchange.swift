#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Gives a new file the name of an old one, in a directory to which others may write.
///
/// There a name says little: another user can give it to a file of his own at any moment. So what has a name is compared with the files
/// that are open, directly before the call and directly after it.
package struct FileExchange {
    /// Which file has the name afterwards.
    package enum Outcome: Equatable {
        case new
        /// The old one, still or again: somebody had replaced one of the two. The path is that of the other file, if it had
        /// the name meanwhile.
        case old(other: String?)
        /// Another file, and the old one could not be put back. The path is where the old one stands; nil where that is not known.
        case other(old: String?)
    }

    /// The name that the new file has, and that it gets.
    private let new: String, name: String
    private let newIdentity: [UInt64], oldIdentity: [UInt64]
    /// A hard link of the old file.
    private let link: String?

    /// - Parameters:
    ///   - newIdentity: That of the new file, which must be open or pinned.
    ///   - oldIdentity: That of the old file, which must be open.
    package init(_ new: String, _ newIdentity: [UInt64], over name: String, _ oldIdentity: [UInt64], link: String?) {
        (self.new, self.newIdentity, self.name, self.oldIdentity, self.link) = (
            new, newIdentity, name, oldIdentity, link
        )
    }

    /// Renames the new file, and puts the old one back if another one came in between.
    ///
    /// - Throws: what the call throws; nothing has changed then.
    package func run() throws(Errno) -> Outcome {
        guard Platform.has(name: name, oldIdentity), Platform.has(name: new, newIdentity) else {
            return .old(other: nil)
        }
        try FileCalls.rename(new, over: name)
        return Platform.has(name: name, newIdentity) ? .new : putBack()
    }

    private func putBack() -> Outcome {
        guard let link, Platform.has(name: link, oldIdentity) else { return .other(old: nil) }
        // It is kept whoever owns it, and not under the name of a leftover, which the next run would remove.
        let other = TemporaryName.foreign.path(beside: name)
        let isKept = (try? FileCalls.link(name, as: other)) != nil
        if (try? FileCalls.rename(link, over: name)) != nil, Platform.has(name: name, oldIdentity) {
            return .old(other: isKept ? other : nil)
        }
        let old = TemporaryName.foreign.path(beside: name)
        return .other(old: (try? FileCalls.rename(link, over: old)) != nil ? old : nil)
    }
}

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
            // APFS and HFS+ give no number twice; a file system without numbers of its own, such as exFAT, may.
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
