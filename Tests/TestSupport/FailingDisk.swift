import CSQLCipher
import CipherSystem
package import Foundation

/// A disk on which one call fails, or each from one on, as an SQLite VFS over the system's; it also keeps what a cut of the power would
/// leave before each call.
package final class FailingDisk: Sendable {
    package enum Fault: CaseIterable, Sendable {
        case full, broken, brokenForGood
        /// A call that reads; only those are counted.
        case unreadable
    }

    package struct Image: Sendable {
        /// By the names of their files: all that was written, and what was synced only.
        package let written: [String: Data]
        package let synced: [String: Data]
        /// What the program had promised before.
        package let promised: Set<Int>
    }

    private struct State {
        var fault: Fault?
        var left = 0
        var images: [Image]?
        var synced: [String: Data] = [:]
        var promised: @Sendable () -> Set<Int> = { [] }
    }

    private static var system: UnsafeMutablePointer<sqlite3_vfs>? { sqlite3_vfs_find(nil) }
    private static let disks = Lock<[UInt: FailingDisk]>([:])
    private let directory: String
    private let state = Lock(State())
    /// Of the VFS.
    package let name: String

    package init(_ directory: String) {
        self.directory = directory
        name = "failing " + directory
        Self.register(name)
        Self.disks.withLock { $0[Self.address(name)] = self }
    }

    /// To be called when all of its files are closed.
    package func remove() {
        Self.disks.withLock { $0[Self.address(name)] = nil }
        let vfs = sqlite3_vfs_find(name)
        sqlite3_vfs_unregister(vfs)
        free(UnsafeMutableRawPointer(mutating: vfs?.pointee.zName))
        vfs?.deallocate()
    }

    /// Orders that a call fails after so many that go well.
    package func fail(_ fault: Fault, after calls: Int) {
        state.withLock { ($0.fault, $0.left) = (fault, calls) }
    }

    package var hasFailed: Bool { state.withLock { $0.left < 0 } }

    /// Goes well again.
    ///
    /// - Returns: Whether a call failed.
    package func mend() -> Bool {
        state.withLock { state in
            defer { state.fault = nil }
            return state.left < 0
        }
    }

    /// From here on keeps an image before each call, and what `promised` says then.
    package func keepImages(_ promised: @escaping @Sendable () -> Set<Int>) {
        let content = content
        state.withLock { ($0.images, $0.synced, $0.promised) = ([], content, promised) }
    }

    package func takeImages() -> [Image] { state.withLock { $0.images.take() ?? [] } }

    private var content: [String: Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        let kept = names.filter { !$0.hasSuffix("-shm") }
        return kept.reduce(into: [:]) { $0[$1] = FileManager.default.contents(atPath: directory + "/" + $1) }
    }

    // MARK: Calls

    /// Whether this call fails, and with what.
    private func failure(_ code: Int32, ofWrite: Bool = false) -> Int32? {
        if let promised = state.withLock({ $0.images == nil ? nil : $0.promised })?() {
            let content = content
            state.withLock { state in
                // A file that was made since is there, but empty.
                state.synced = content.reduce(into: [:]) { $0[$1.key] = state.synced[$1.key] ?? Data() }
                state.images?.append(Image(written: content, synced: state.synced, promised: promised))
            }
        }
        return failure(code, ofWrite) { $0 != .unreadable }
    }

    private func failure(_ code: Int32, _ ofWrite: Bool, _ counts: (Fault) -> Bool) -> Int32? {
        state.withLock { state in
            guard let fault = state.fault, counts(fault) else { return nil }
            state.left -= 1
            guard state.left == -1 || state.left < -1 && fault == .brokenForGood else { return nil }
            return fault == .full && ofWrite ? SQLITE_FULL : SQLITE_IOERR | code << 8
        }
    }

    private func didSync(_ name: String) {
        guard state.withLock({ $0.images != nil }) else { return }
        let content = FileManager.default.contents(atPath: directory + "/" + name)
        state.withLock { $0.synced[name] = content }
    }

    private typealias File = UnsafeMutablePointer<sqlite3_file>

    private struct Open {
        let disk: FailingDisk
        let name: String
        /// The address of the system's methods.
        let stock: UInt
    }

    private static let files = Lock<[UInt: Open]>([:])

    private static func of(_ file: File?) -> (disk: FailingDisk, name: String, stock: sqlite3_io_methods)? {
        guard let open = files.withLock({ $0[UInt(bitPattern: file)] }),
            let stock = UnsafePointer<sqlite3_io_methods>(bitPattern: open.stock)
        else { return nil }
        return (open.disk, open.name, stock.pointee)
    }

    private static func address(_ name: String) -> UInt { UInt(bitPattern: sqlite3_vfs_find(name)) }

    private static func disk(_ vfs: UnsafeMutablePointer<sqlite3_vfs>?) -> FailingDisk? {
        disks.withLock { $0[UInt(bitPattern: vfs)] }
    }

    /// The methods of the system, and in them those that fail. One table serves all files.
    private static let methods = Lock<[UInt: UInt]>([:])

    private static func methods(over stock: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods>? {
        let address = methods.withLock { all in
            if let made = all[UInt(bitPattern: stock)] { return made }
            let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            methods.initialize(to: stock.pointee)
            methods.pointee.xWrite = { file, bytes, count, offset in
                guard let (disk, _, stock) = FailingDisk.of(file) else { return SQLITE_MISUSE }
                guard let code = disk.failure(3, ofWrite: true) else { return stock.xWrite(file, bytes, count, offset) }
                _ = stock.xWrite(file, bytes, count / 2, offset)
                return code
            }
            methods.pointee.xRead = { file, bytes, count, offset in
                guard let (disk, _, stock) = FailingDisk.of(file) else { return SQLITE_MISUSE }
                return disk.failure(1, false) { $0 == .unreadable } ?? stock.xRead(file, bytes, count, offset)
            }
            methods.pointee.xTruncate = { file, size in
                guard let (disk, _, stock) = FailingDisk.of(file) else { return SQLITE_MISUSE }
                return disk.failure(6) ?? stock.xTruncate(file, size)
            }
            methods.pointee.xSync = { file, flags in
                guard let (disk, name, stock) = FailingDisk.of(file) else { return SQLITE_MISUSE }
                if let code = disk.failure(4) { return code }
                defer { disk.didSync(name) }
                return stock.xSync(file, flags)
            }
            methods.pointee.xClose = { file in
                guard let (_, _, stock) = FailingDisk.of(file) else { return SQLITE_MISUSE }
                FailingDisk.files.withLock { $0[UInt(bitPattern: file)] = nil }
                return stock.xClose(file)
            }
            all[UInt(bitPattern: stock)] = UInt(bitPattern: methods)
            return UInt(bitPattern: methods)
        }
        return UnsafePointer(bitPattern: address)
    }

    private static func register(_ name: String) {
        guard let stock = system else { return }
        let vfs = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        vfs.initialize(to: stock.pointee)
        vfs.pointee.pNext = nil
        vfs.pointee.zName = UnsafePointer(strdup(name))
        vfs.pointee.xOpen = { vfs, path, file, flags, answered in
            let disk = FailingDisk.disk(vfs)
            if flags & SQLITE_OPEN_MAIN_DB == 0, disk?.failure(0) != nil {
                file?.pointee.pMethods = nil
                return SQLITE_CANTOPEN
            }
            let code =
                FailingDisk.system?.pointee.xOpen(FailingDisk.system, path, file, flags, answered) ?? SQLITE_CANTOPEN
            guard code == SQLITE_OK, let disk, let file, let stock = file.pointee.pMethods else { return code }
            let name = FileCalls.name(of: path.map { String(cString: $0) } ?? "")
            FailingDisk.files.withLock {
                $0[UInt(bitPattern: file)] = Open(disk: disk, name: name, stock: UInt(bitPattern: stock))
            }
            file.pointee.pMethods = FailingDisk.methods(over: stock)
            return code
        }
        vfs.pointee.xDelete = { vfs, path, syncs in
            FailingDisk.disk(vfs)?.failure(10) ?? FailingDisk.system?.pointee.xDelete(FailingDisk.system, path, syncs)
                ?? SQLITE_IOERR
        }
        sqlite3_vfs_register(vfs, 0)
    }
}
