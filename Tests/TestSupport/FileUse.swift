import CSQLCipher
import CipherSystem
import Foundation

/// Tells a test when files of its directory are used, by the engine or by this library, and on which kind of thread.
///
/// What waits for a file shows so: the engine takes no lock, and reads and writes nothing, without one of these calls.
package final class FileUse: Sendable {
    package struct Call: Hashable, Sendable {
        package let path: String
        /// Whether a thread of Swift's cooperative pool made it.
        package let isOfPool: Bool
        /// Whether the engine may lock the file.
        package let isLock: Bool
    }

    private let directory: String
    private let made = Lock<Set<Call>>([])
    private let action: @Sendable (Call) -> Void

    fileprivate init(_ directory: String, _ action: @escaping @Sendable (Call) -> Void) {
        self.directory = directory
        self.action = action
    }

    /// The files that were used so far.
    package var calls: Set<Call> { made.withLock { $0 } }

    /// The names of the files that threads of Swift's pool used.
    package var ofPool: [String] {
        calls.filter(\.isOfPool).map { FileCalls.name(of: $0.path) }.sorted()
    }

    fileprivate func note(_ path: String, isLock: Bool = false) {
        guard path.hasPrefix(directory) else { return }
        let call = Call(path: path, isOfPool: Platform.isOfPool, isLock: isLock)
        made.withLock { _ = $0.insert(call) }
        action(call)
    }

    private static let all = Lock<[FileUse]>([])

    /// Runs `body` while the use of files in `directory` is noted.
    ///
    /// - Parameter action: Called before each use.
    package static func noted<Result: Sendable>(
        in directory: String,
        action: @escaping @Sendable (Call) -> Void = { _ in },
        _ body: (FileUse) async throws -> Result
    ) async throws -> Result {
        EngineCalls.install()
        let use = FileUse(directory, action)
        all.withLock { $0.append(use) }
        defer { all.withLock { $0.removeAll { $0 === use } } }
        var blocks: [HeldBlock] = []
        for call in FaultInjection.Call.allCases {
            let order = FaultInjection.Order(prefix: directory, call: call, after: 0, code: nil, persists: true) {
                use.note(directory + "/a file of the library")
            }
            blocks.append(try await HeldBlock { hold in _ = FaultInjection.with(order, hold) })
        }
        let result = await Swift.Result<Result, any Error>.of { try await body(use) }
        for block in blocks { try await block.end() }
        return try result.get()
    }

    fileprivate static func note(_ path: String, isLock: Bool = false) {
        for use in all.withLock({ $0 }) { use.note(path, isLock: isLock) }
    }

    fileprivate static func note(_ descriptor: Int32) {
        guard all.withLock({ !$0.isEmpty }) else { return }
        var buffer = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count - 1) > 0 else { return }
        note(String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self), isLock: true)
    }
}

extension Swift.Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

/// The system calls that the engine's file system interface makes by a table of its own.
private enum EngineCalls {
    typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
    typealias Control = @convention(c) (Int32, Int32, UnsafeMutableRawPointer?) -> Int32
    typealias Remove = @convention(c) (UnsafePointer<CChar>?) -> Int32

    private static let open = unsafeBitCast(original("open"), to: Open.self)
    private static let control = unsafeBitCast(original("fcntl"), to: Control.self)
    private static let remove = unsafeBitCast(original("unlink"), to: Remove.self)

    private static func original(_ name: String) -> sqlite3_syscall_ptr? {
        let system = sqlite3_vfs_find("unix")
        return system?.pointee.xGetSystemCall?(system, name)
    }

    private static func replace<Function>(_ name: String, _ function: Function) {
        let system = sqlite3_vfs_find("unix")
        _ = system?.pointee.xSetSystemCall?(system, name, unsafeBitCast(function, to: sqlite3_syscall_ptr.self))
    }

    static func install() { _ = isInstalled }

    private static let isInstalled: Bool = {
        _ = (open, control, remove)
        let noteAndOpen: Open = { path, flags, mode in
            if let path { FileUse.note(String(cString: path)) }
            return EngineCalls.open(path, flags, mode)
        }
        // Of locks.
        let noteAndControl: Control = { descriptor, command, argument in
            FileUse.note(descriptor)
            return EngineCalls.control(descriptor, command, argument)
        }
        let noteAndRemove: Remove = { path in
            if let path { FileUse.note(String(cString: path)) }
            return EngineCalls.remove(path)
        }
        replace("open", noteAndOpen)
        replace("fcntl", noteAndControl)
        replace("unlink", noteAndRemove)
        return true
    }()
}
