/// A keyring on the disk, kept from all other writers. Readers need no lock: a keyring is replaced whole.
final class KeyringFile {
    let path: String
    private var descriptor: Int32

    /// Locks the keyring at `path`, where links are followed.
    ///
    /// - Parameter waiting: How long another process may take.
    init(locking path: String, waiting: Duration) throws {
        let resolved = try KeyringFile.naming(path) { () throws(Errno) in try Platform.resolved(path) }
        self.path = resolved
        let clock = ContinuousClock()
        let end = clock.now + waiting
        while true {
            let descriptor = try KeyringFile.naming(path) { () throws(Errno) in try FileCalls.openExisting(resolved) }
            self.descriptor = descriptor
            // Whoever had it locked may have put another file in its place.
            if try KeyringFile.naming(path, { () throws(Errno) in try FileCalls.tryLockKeyring(descriptor, resolved) }),
                let own = try? Platform.status(of: descriptor), let named = try? Platform.statusOfLink(resolved),
                own.identity == named.identity
            {
                return
            }
            Platform.close(descriptor)
            self.descriptor = -1
            guard clock.now < end else { throw KeyringError(path: path, problem: .busy) }
            Platform.sleep(milliseconds: 5)
        }
    }

    deinit {
        if descriptor >= 0 { Platform.close(descriptor) }
    }

    /// Returns when the file and its name are on the disk.
    func sync() throws {
        try KeyringFile.naming(path) { () throws(Errno) in
            try FileCalls.sync(descriptor, path)
            try FileCalls.syncFolder(of: path)
        }
    }

    /// Puts `bytes` in its place, so that after a crash the old or the new is there, whole; and stays locked.
    func replace(with bytes: [UInt8]) throws {
        KeyringFile.removeLeftovers(of: path)
        let names = try KeyringFile.naming(path) { () throws(Errno) in try Platform.status(of: descriptor).linkCount }
        guard names == 1 else { throw KeyringError(path: path, problem: .severalNames) }
        let new = try KeyringFile.makeBeside(path, bytes)
        do {
            try KeyringFile.naming(path) { () throws(Errno) in
                try FileCalls.adopt(new.descriptor, from: descriptor, path)
                try FileCalls.sync(new.descriptor, new.path)
            }
            guard (try? Platform.statusOfLink(path).identity == Platform.status(of: descriptor).identity) == true else {
                throw KeyringError(path: path, problem: .busy)
            }
            try KeyringFile.naming(path) { () throws(Errno) in try FileCalls.rename(new.path, over: path) }
        } catch {
            Platform.close(new.descriptor)
            try? FileCalls.remove(new.path)
            throw error
        }
        // The lock of the file that has the name.
        Platform.close(descriptor)
        descriptor = new.descriptor
        try KeyringFile.naming(path) { () throws(Errno) in try FileCalls.syncFolder(of: path) }
    }

    /// Overwrites the file and removes it.
    func erase() throws {
        // What cannot be removed is not overwritten either: it would be lost without having gone.
        guard Platform.mayWrite(FileCalls.folder(of: path)) else {
            throw KeyringError(path: FileCalls.folder(of: path), problem: .system(Errno.noPermission.code))
        }
        let begin = KeyringContent.magic.count + KeyringContent.versionSize
        let noise = try SecretBytes.random(count: KeyringContent.largestFile - begin)
        try KeyringFile.naming(path) { () throws(Errno) in
            try noise.withUnsafeBytes { noise throws(Errno) in
                // What a kill leaves of it must be known for a keyring, so that it can be erased again.
                try FileCalls.write(noise, to: descriptor, at: Int64(begin), path)
            }
            try FileCalls.sync(descriptor, path)
            try FileCalls.remove(path)
            try FileCalls.syncFolder(of: path)
        }
        KeyringFile.removeLeftovers(of: path)
    }

    // MARK: Without a lock

    /// The bytes, and the content, of the keyring at `path`.
    static func read(_ path: String) throws -> (bytes: [UInt8], content: KeyringContent) {
        guard let bytes = try naming(path, { () throws(Errno) in try readBytes(path) }) else {
            throw KeyringError(path: path, problem: .notAFile)
        }
        do {
            return (bytes, try KeyringContent(bytes))
        } catch let problem as KeyringError.Problem {
            throw KeyringError(path: path, problem: problem)
        }
    }

    private static func readBytes(_ path: String) throws(Errno) -> [UInt8]? {
        try Faults.check(.read, path)
        let descriptor = try Platform.openForReading(path)
        defer { Platform.close(descriptor) }
        guard try Platform.status(of: descriptor).kind == .regular else { return nil }
        // A byte more than any keyring has is enough to refuse it.
        var bytes = [UInt8](repeating: 0, count: KeyringContent.largestFile + 1)
        var result: Result<Int, Errno> = .success(0)
        bytes.withUnsafeMutableBytes { buffer in
            do throws(Errno) {
                result = .success(try Platform.read(descriptor, into: buffer, at: 0))
            } catch {
                result = .failure(error)
            }
        }
        return Array(bytes.prefix(try result.get()))
    }

    /// Makes a keyring where nothing is.
    static func create(_ path: String, _ bytes: [UInt8]) throws {
        removeLeftovers(of: path)
        let new = try makeBeside(path, bytes)
        defer {
            try? FileCalls.remove(new.path)
            Platform.close(new.descriptor)
        }
        try naming(path) { () throws(Errno) in try FileCalls.sync(new.descriptor, new.path) }
        do {
            try FileCalls.link(new.path, as: path)
        } catch .exists {
            throw KeyringError(path: path, problem: .exists)
        } catch  where error.meansNoLinks && (try? Platform.statusOfLink(path)) == nil {
            try naming(path) { () throws(Errno) in try FileCalls.rename(new.path, over: path) }
        } catch {
            throw KeyringError(path: path, problem: .system(error.code))
        }
        try naming(path) { () throws(Errno) in try FileCalls.syncFolder(of: path) }
    }

    private static let infix = ".new-"

    /// A locked file of a name that nothing has, which only its owner can read.
    private static func makeBeside(_ path: String, _ bytes: [UInt8]) throws -> (path: String, descriptor: Int32) {
        let name = try path + infix + Hexadecimal.randomName()
        let descriptor = try naming(path) { () throws(Errno) in try FileCalls.create(name) }
        do {
            guard try naming(path, { () throws(Errno) in try FileCalls.tryLockKeyring(descriptor, name) }) else {
                throw KeyringError(path: path, problem: .busy)
            }
            try bytes.withUnsafeBytes { bytes in
                try naming(path) { () throws(Errno) in try FileCalls.write(bytes, to: descriptor, at: 0, name) }
            }
            return (name, descriptor)
        } catch {
            Platform.close(descriptor)
            try? FileCalls.remove(name)
            throw error
        }
    }

    /// Removes what killed writers left, and returns the paths. A writer that works has its own locked.
    @discardableResult
    static func removeLeftovers(of path: String) -> [String] {
        var removed: [String] = []
        let name = FileCalls.name(of: path)
        let begin = Array((name + infix).utf8)
        for found in (try? FileCalls.names(beside: path)) ?? []
        where found.utf8.starts(with: begin) && Hexadecimal.isRandomName(found.utf8.dropFirst(begin.count)) {
            let leftover = FileCalls.sibling(found, of: path)
            // One that was killed when it had given the keyring its name left it with two; then it is whoever locked the keyring
            // that has this one locked.
            if let own = try? Platform.statusOfLink(path), let other = try? Platform.statusOfLink(leftover),
                own.identity == other.identity
            {
                if (try? FileCalls.remove(leftover)) != nil { removed.append(leftover) }
                continue
            }
            guard let descriptor = try? FileCalls.openExisting(leftover) else { continue }
            if (try? FileCalls.tryLockKeyring(descriptor, leftover)) == true, (try? FileCalls.remove(leftover)) != nil {
                removed.append(leftover)
            }
            Platform.close(descriptor)
        }
        return removed
    }

    /// Runs `body` and names `path` in what it throws.
    static func naming<Result>(
        _ path: String,
        _ body: () throws(Errno) -> Result
    ) throws(KeyringError) -> Result {
        do {
            return try body()
        } catch .noSuchFile {
            throw KeyringError(path: path, problem: .missing)
        } catch {
            throw KeyringError(path: path, problem: .system(error.code))
        }
    }
}
