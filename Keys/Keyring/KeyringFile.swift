internal import CipherSystem

/// A keyring on the disk, kept from all other writers. Readers need no lock: a keyring is replaced whole.
final class KeyringFile {
    let path: String
    private var descriptor: Int32
    private let owner = OwnerProcess()

    /// Locks the keyring at `path`, where links are followed.
    ///
    /// - Parameter waiting: How long another process may take.
    init(locking path: String, waiting: Duration) throws {
        let resolved = try KeyringError.naming(path, Platform.resolved(path))
        self.path = resolved
        let wait = LockWait.current(or: waiting)
        while true {
            let descriptor = try KeyringError.naming(path, FileCalls.openExisting(resolved))
            self.descriptor = descriptor
            // The process that had it locked may have replaced it.
            if try KeyringError.naming(path, FileCalls.tryLockOwnFile(descriptor, resolved)),
                let own = try? Platform.status(of: descriptor), let named = try? Platform.statusOfLink(resolved),
                own.identity == named.identity
            {
                return
            }
            FileCalls.unlockAndClose(descriptor, of: owner)
            self.descriptor = -1
            guard wait.mayTryAgain() else { throw KeyringError(.busy, path: path) }
        }
    }

    deinit {
        if descriptor >= 0 { FileCalls.unlockAndClose(descriptor, of: owner) }
    }

    /// Returns when the file and its name are on the disk.
    func sync() throws {
        try KeyringError.naming(path, FileCalls.sync(descriptor, path))
        try KeyringError.naming(path, FileCalls.syncDirectory(of: path))
    }

    /// Replaces the content by `bytes`, so that after a crash the old or the new is there, whole; and stays locked.
    func replace(with bytes: [UInt8]) throws {
        try SignalHold.during { () throws in try replaceAtOnce(with: bytes) }
    }

    /// Makes a new file beside the keyring as ``replace(with:)`` does, and removes it.
    func checkMayReplace() throws {
        try SignalHold.during { () throws in
            try checkHasOneName()
            let new = try KeyringFile.makeBeside(path)
            defer { new.discard() }
            try adoptOwner(new)
        }
    }

    /// Copies the keyring, which is about to be replaced by another one, to a new file beside it, and returns the path.
    func keep(_ bytes: [UInt8]) throws -> String {
        var number = 1
        while true {
            let kept = "\(path).replaced-\(number)"
            do {
                try KeyringFile.create(kept, bytes, for: path)
                return kept
            } catch let error as KeyringError where error.code == .exists {
                number += 1
            }
        }
    }

    private func checkHasOneName() throws {
        let names = try KeyringError.naming(path, Platform.status(of: descriptor).linkCount)
        guard names == 1 else { throw KeyringError(.severalNames, path: path) }
    }

    private func replaceAtOnce(with bytes: [UInt8]) throws {
        var new: TemporaryFile?
        var link: String?
        try ReplacementStep.perform(ReplacementStep.ofKeyring) { step in
            switch step {
            case .removeLeftovers:
                KeyringFile.removeLeftovers(of: path)
                try checkHasOneName()
            case .create: new = try KeyringFile.makeBeside(path)
            case .checkOld:
                guard (try? Platform.statusOfLink(path).identity == Platform.status(of: descriptor).identity) == true
                else {
                    throw KeyringError(.busy, path: path)
                }
            case .linkOld: link = try KeyringError.naming(path, TemporaryName.keyring.link(to: path))
            case .rename:
                guard let new else { preconditionFailure("the new file is created first") }
                try exchange(new, &link)
            case .syncDirectory: try KeyringFile.syncName(path, removing: link)
            case .adoptOwner: if let new { try adoptOwner(new) }
            default:
                guard let new else { preconditionFailure("the new file is created first") }
                try KeyringError.naming(path, perform(step, new, bytes))
            }
        } undo: {
            new?.discard()
            if let link { try? FileCalls.remove(link) }
        }
    }

    private func exchange(_ new: TemporaryFile, _ link: inout String?) throws {
        let outcome = try KeyringError.naming(
            path,
            FileExchange(
                new.path,
                Platform.status(of: new.descriptor).identity,
                over: path,
                Platform.status(of: descriptor).identity,
                link: link
            ).run()
        )
        switch outcome {
        case .new:
            // The lock of the file that has the name.
            Platform.close(descriptor)
            descriptor = new.release()
        case .old: throw KeyringError(.busy, path: path)
        case .other:
            // The rest of the old file must stay.
            link = nil
            throw KeyringError(.replaced, path: path)
        }
    }

    private func adoptOwner(_ new: TemporaryFile) throws {
        do {
            try FileCalls.adopt(new.descriptor, from: descriptor, path)
        } catch .ownership(let missing) {
            throw KeyringError(.ownership, path: path, owner: missing.owner, group: missing.group)
        } catch .system(let error, let place) {
            throw KeyringError(.system, path: place, errno: error.code)
        }
    }

    private func perform(_ step: ReplacementStep, _ new: TemporaryFile, _ bytes: [UInt8]) throws(Errno) {
        switch step {
        case .write: try new.write(bytes)
        case .sync: try new.sync()
        default: preconditionFailure("\(step) is no step of a keyring's replacement")
        }
    }

    /// Returns when the name is on the disk, and the old file has none.
    private static func syncName(_ path: String, removing link: String? = nil) throws {
        do {
            // Another process may have taken it for a leftover.
            if let link { try FileCalls.removeIfThere(link) }
            try FileCalls.syncDirectory(of: path)
        } catch {
            throw KeyringError(.notSynced, path: path, errno: error.code)
        }
    }

    /// Overwrites the file and removes it.
    func erase() throws {
        // A file that cannot be removed is not overwritten either: it would be lost and still be there.
        guard Platform.mayWrite(FileCalls.directory(of: path)) else {
            throw KeyringError(.system, path: FileCalls.directory(of: path), errno: Errno.noPermission.code)
        }
        let overwriting = Result { try overwrite() }
        // Noise must not stay as the keyring, whatever the disk says.
        try KeyringError.naming(path, FileCalls.remove(path))
        try KeyringError.naming(path, FileCalls.syncDirectory(of: path))
        KeyringFile.removeLeftovers(of: path)
        try overwriting.get()
    }

    /// Overwrites what the file has, and no more: a full disk has no room for that.
    private func overwrite() throws {
        // After a kill, the rest must be recognised as a keyring, so that it can be erased.
        let begin = KeyringContent.magic.count + KeyringContent.versionSize
        let size = min(
            Int(try KeyringError.naming(path, Platform.status(of: descriptor).size)),
            KeyringContent.largestFile
        )
        guard size > begin else { return }
        let noise = try SecretBytes.random(count: size - begin)
        try noise.withUnsafeBytes { noise in
            try KeyringError.naming(path, FileCalls.write(noise, to: descriptor, at: Int64(begin), path))
        }
        try KeyringError.naming(path, FileCalls.sync(descriptor, path))
    }

    // MARK: Without a lock

    /// The bytes, and the content, of the keyring at `path`.
    static func read(_ path: String) throws -> (bytes: [UInt8], content: KeyringContent) {
        guard let bytes = try KeyringError.naming(path, readBytes(path)) else {
            throw KeyringError(.notAFile, path: path)
        }
        do {
            return (bytes, try KeyringContent(bytes))
        } catch let error as KeyringError {
            throw error.naming(path)
        }
    }

    private static func readBytes(_ path: String) throws(Errno) -> [UInt8]? {
        try FaultInjection.check(.read, path)
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
    ///
    /// - Parameter database: The database that it is for, whose users are to be able to read it; nil where there is none yet.
    static func create(_ path: String, _ bytes: [UInt8], for database: String? = nil) throws {
        try SignalHold.during { () throws in try createAtOnce(path, bytes, database) }
    }

    /// Throws where anything stands at `path`.
    static func checkIsFree(_ path: String) throws {
        guard (try? Platform.statusOfLink(path)) == nil else { throw KeyringError(.exists, path: path) }
    }

    private static func createAtOnce(_ path: String, _ bytes: [UInt8], _ database: String?) throws {
        // Without room for another file, or the right to make one, an existing keyring must stay usable.
        try checkIsFree(path)
        removeLeftovers(of: path)
        let new = try makeBeside(path)
        defer { new.discard() }
        try KeyringError.naming(path, new.write(bytes))
        if let database {
            try KeyringError.naming(
                path,
                FileCalls.adoptWhatMayBe(new.descriptor, fromFileAt: database, path)
            )
        }
        try KeyringError.naming(path, new.sync())
        let identity = try KeyringError.naming(path, Platform.status(of: new.descriptor).identity)
        do {
            try new.publish(as: path)
        } catch .exists {
            throw KeyringError(.exists, path: path)
        } catch {
            throw KeyringError(.system, path: path, errno: error.code)
        }
        guard Platform.has(name: path, identity) || isKeyring(bytes, at: path) else {
            // Another file was put in the place of the new one, and is no keyring of ours.
            try? FileCalls.remove(path)
            throw KeyringError(.busy, path: path)
        }
        try syncName(path)
    }

    /// Whether the keyring at `path` is the one in `bytes`, perhaps written again: another process may have opened it.
    private static func isKeyring(_ bytes: [UInt8], at path: String) -> Bool {
        guard let made = try? KeyringContent(bytes), let found = try? read(path).content else { return false }
        return made.identifier == found.identifier
    }

    /// Makes a new file as ``create(_:_:for:)`` does, and removes it.
    static func checkMayCreate(_ path: String) throws {
        try SignalHold.during { () throws in
            try checkIsFree(path)
            try makeBeside(path).discard()
        }
    }

    private static func makeBeside(_ path: String) throws -> TemporaryFile {
        do {
            // Another process that begins at this moment may take a file for a leftover, each time another one.
            for _ in 0..<100 {
                if let new = try TemporaryFile(.keyring, beside: path) { return new }
            }
            throw KeyringError(.busy, path: path)
        } catch let error as Errno {
            // The directory is missing, and no keyring would help.
            let place = error == .noSuchFile ? FileCalls.directory(of: path) : path
            throw KeyringError(.system, path: place, errno: error.code)
        }
    }

    /// Removes what killed writers left, and returns the paths. A writer that works has its own locked.
    @discardableResult
    static func removeLeftovers(of path: String) -> [String] {
        var removed: [String] = []
        for leftover in (try? TemporaryName.keyring.paths(beside: path)) ?? [] {
            // One that was killed when it had given the keyring its name left it with two; then it is that of the process that locked the keyring
            // that has this one locked.
            if let own = try? Platform.statusOfLink(path), let other = try? Platform.statusOfLink(leftover),
                own.identity == other.identity
            {
                if (try? FileCalls.remove(leftover)) != nil { removed.append(leftover) }
                continue
            }
            if TemporaryFile.removeIfAbandoned(leftover) { removed.append(leftover) }
        }
        return removed
    }
}
