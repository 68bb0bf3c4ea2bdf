/// A new file of a ``TemporaryName``, which only its owner can use. While it is open it is locked, so that no other process takes it
/// for a leftover.
package final class TemporaryFile: Sendable {
    package let path: String
    package let descriptor: Int32
    private let isOpen = Atomic(true)
    /// A child that is forked meanwhile neither writes nor removes the file, which is its parent's.
    package let owner = OwnerProcess()

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
        if isOpen.exchange(false) { FileCalls.unlockAndClose(descriptor, of: owner) }
    }

    package var isClosed: Bool { !isOpen.load(ordering: .relaxed) }

    /// Removes and closes the file.
    package func discard() {
        if owner.isCurrent { try? FileCalls.remove(path) }
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

    /// Gives the file the name `name`, which no other file loses by that; throws ``Errno/exists`` where anything has it.
    ///
    /// Its own name stays for the caller to remove, except where the file system has no hard links.
    package func publish(as name: String) throws(Errno) {
        do throws(Errno) {
            try FileCalls.link(path, as: name)
        } catch {
            guard error.meansNoLinks else { throw error }
            if (try? Platform.statusOfLink(name)) != nil { throw .exists }
            try FileCalls.rename(path, over: name)
        }
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

/// How a file is named that is to take the place of another: `NAME`, an infix and 16 hexadecimal digits. A later run recognises by it
/// what a killed one left.
///
/// A file system takes names of 255 bytes. A longer `NAME` than 224 bytes is shortened, so that there is room for the infix, the digits
/// and what SQLite adds: to its first 200 bytes or somewhat less, `~`, and 16 digits that stand for all of it.
package struct TemporaryName: Sendable {
    private let infix: String
    /// Whether SQLite opens the file, which has locks of its own.
    private let isDatabase: Bool
    private static let digitCount = 16
    private static let longestName = 224
    private static let keptBytes = 200

    package static let keyring = TemporaryName(infix: ".new-", isDatabase: false)
    package static let metrics = TemporaryName(infix: ".new-", isDatabase: false)
    package static let backup = TemporaryName(infix: ".new-", isDatabase: false)
    /// What another user put in the place of ours, or ours that he put away. No run removes it.
    package static let foreign = TemporaryName(infix: ".replaced-", isDatabase: false)
    package static let database = TemporaryName(infix: ".rekey-", isDatabase: true)

    /// Locks a file of such a name; returns false if another process has it locked.
    fileprivate func tryLock(_ descriptor: Int32, _ path: String) throws(Errno) -> Bool {
        isDatabase ? FileCalls.tryLock(descriptor, path) : try FileCalls.tryLockOwnFile(descriptor, path)
    }

    /// A path that nothing has.
    package func path(beside path: String) -> String {
        let owner = FileCalls.name(of: path)
        return FileCalls.sibling(prefix(of: owner) + TemporaryName.digits(.random(in: .min ... .max)), of: path)
    }

    /// Gives the file at `path` a hard link of such a name beside it; nil where the file system has no hard links.
    package func link(to path: String) throws(Errno) -> String? {
        let link = self.path(beside: path)
        do throws(Errno) {
            try FileCalls.link(path, as: link)
            return link
        } catch {
            guard error.meansNoLinks else { throw error }
            return nil
        }
    }

    /// Whether `name` is such a name of a file called `owner`.
    ///
    /// - Parameter suffixes: What may follow the digits.
    package func matches(_ name: String, of owner: String, suffixes: [String] = [""]) -> Bool {
        let begin = Array(prefix(of: owner).utf8)
        guard name.utf8.starts(with: begin) else { return false }
        let rest = name.utf8.dropFirst(begin.count)
        let digits = rest.prefix(TemporaryName.digitCount)
        let suffix = rest.dropFirst(TemporaryName.digitCount)
        return digits.count == TemporaryName.digitCount
            && digits.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
            && suffixes.contains { $0.utf8.elementsEqual(suffix) }
    }

    /// Whether `name` is such a name, whatever the file is called.
    package func matchesAny(_ name: String) -> Bool {
        let length = infix.utf8.count + TemporaryName.digitCount
        guard name.utf8.count > length else { return false }
        return matches(name, of: String(decoding: name.utf8.dropLast(length), as: UTF8.self))
    }

    /// The paths of such files beside `path`, sorted.
    package func paths(beside path: String, suffixes: [String] = [""]) throws(Errno) -> [String] {
        let owner = FileCalls.name(of: path)
        return try FileCalls.names(beside: path).filter { matches($0, of: owner, suffixes: suffixes) }.sorted()
            .map { FileCalls.sibling($0, of: path) }
    }

    /// What stands before the digits.
    private func prefix(of owner: String) -> String {
        let bytes = owner.pathBytes
        guard bytes.count > TemporaryName.longestName else { return owner + infix }
        var kept = ""
        var count = 0
        for scalar in owner.unicodeScalars {
            count += String(scalar).pathBytes.count
            if count > TemporaryName.keptBytes { break }
            kept.unicodeScalars.append(scalar)
        }
        return kept + "~" + TemporaryName.digits(TemporaryName.hash(bytes)) + infix
    }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: digitCount - digits.utf8.count) + digits
    }

    /// FNV-1a: the same in every process, unlike Swift's own.
    private static func hash(_ bytes: [UInt8]) -> UInt64 {
        bytes.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
