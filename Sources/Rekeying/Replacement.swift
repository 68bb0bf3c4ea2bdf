internal import CipherDB
internal import CipherKeys
internal import CipherPages

/// Puts a new file in the place of a database, so that a kill at any moment leaves the one or the other, whole.
///
/// Documentation/Rekeying.md has the steps, and what a kill between two of them leaves.
struct Replacement {
    let file: DatabaseFile
    /// How the database is now, for the engine to recover it; nil for plaintext.
    let present: Unlocked?
    /// The format that it shall have; nil for plaintext.
    let format: CipherFormat?
    /// The name that the old file shall have afterwards.
    let keptAs: String?
    /// Whether the engine checks the new file's structure, which takes its time; needless where pages stay as they are.
    var checksContent = false
    let progress: (FileProgress) throws -> Void

    /// Replaces the file by what `write` puts into the image; it returns how the image's pages are.
    ///
    /// - Throws: whatever goes wrong; the file is as it was then, unless it is `RekeyError/oldFileRemains(path:_:)`.
    func run(_ write: (OldFile, ImageFile) throws -> PageRewrite.Side) throws -> Rewritten {
        if let ask = file.willRewrite { try announce(to: ask) }
        let old = try file.lockAtRest(present)
        defer { old.release() }
        let status = try checkNames(old)
        try Leftovers(of: old.path).remove()
        try checkSpace(try old.size(), old.path, freed: 0)

        // A caller who handles signals by this does so from here on.
        try progress(FileProgress(.writing, done: 0, all: max(1, try old.size())))
        let image = try ImageFile(beside: old.path)
        var made = [image.path]
        let second: String?
        let result: Rewritten
        do {
            let side = try write(OldFile(old), image)
            result = Rewritten(
                format: side.format,
                pageSize: side.pageSize,
                pages: Int(try image.size()) / side.pageSize
            )
            try verify(image, side)
            try image.adopt(old)
            try image.sync()
            if let keptAs { try keep(old, as: keptAs, &made) }
            try old.check(name: old.path)
            try removeSideFiles(old.path)
            second = try addName(to: old)
            if let second { made.append(second) }
            // Closing it later could drop the locks of who has the new database open by then.
            image.close()
            try FileFailure.naming(old.path) { () throws(Errno) in try FileCalls.rename(image.path, over: old.path) }
        } catch {
            // What is in plaintext already must not stay in freed blocks.
            if format == nil { try? image.overwrite() }
            for path in made + ["-journal", "-wal", "-shm"].map({ image.path + $0 }) { try? FileCalls.remove(path) }
            throw error
        }
        // From here on the new file is in force.
        do {
            try discard(old, status.identity, named: second)
        } catch {
            throw RekeyError.oldFileRemains(path: second, error)
        }
        return result
    }

    // MARK: Before

    /// The status of the file, which has one name; the one for the old file is free.
    private func checkNames(_ old: ExclusiveFile) throws -> FileStatus {
        try checkKeptName(old.path)
        let status = try old.status()
        guard status.linkCount == 1 else { throw FileProblem.severalNames(path: old.path) }
        return status
    }

    /// Names that belong to the database, or to this protocol, would be removed again.
    private func checkKeptName(_ path: String) throws {
        guard let keptAs else { return }
        let (name, database) = (FileCalls.name(of: keptAs), FileCalls.name(of: path))
        guard !["-journal", "-wal", "-shm"].contains(where: { database + $0 == name }),
            !ImageFile.isImage(name, of: database)
        else { throw FileProblem.belongs(path: keptAs) }
        guard (try? Platform.statusOfLink(keptAs)) == nil else { throw FileProblem.exists(path: keptAs) }
        let disks = try [path, keptAs].map { path in
            let folder = FileCalls.folder(of: path)
            return try FileFailure.naming(folder) { () throws(Errno) in try Platform.status(of: folder).identity[0] }
        }
        guard disks[0] == disks[1] else { throw FileProblem.otherDisk(path: keptAs) }
    }

    private func checkSpace(_ size: Int64, _ path: String, freed: Int64) throws {
        let (needed, free) = try space(size, path)
        guard free + freed >= needed else { throw FileProblem.noSpace(path: path, needed: needed, free: free) }
    }

    private func space(_ size: Int64, _ path: String) throws -> (needed: Int64, free: Int64) {
        let free = try FileFailure.naming(path) { () throws(Errno) in try FileCalls.freeSpace(beside: path) }
        return ((keptAs == nil ? size : 2 * size) + (1 << 20), free)
    }

    /// Calls `ask` with the plan, under the lock, before the engine recovers what a journal or WAL holds.
    private func announce(to ask: (RewritePlan) throws -> Void) throws {
        let old = try file.lockExclusively()
        defer { old.release() }
        _ = try checkNames(old)
        let folder = FileCalls.folder(of: old.path)
        guard Platform.mayWrite(folder) else { throw FileFailure(path: folder, code: Errno.noPermission.code) }
        let leftovers = Leftovers(of: old.path)
        let plan = try plan(old, leftovers.paths())
        try checkSpace(plan.size, old.path, freed: leftovers.size())
        try ask(plan)
    }

    private func plan(_ old: ExclusiveFile, _ leftovers: [String]) throws -> RewritePlan {
        let size = try old.sizeAtRest(pageSize: present?.format.pageSize)
        let (needed, free) = try space(size, old.path)
        return RewritePlan(
            from: present?.format,
            to: format,
            isByPages: !checksContent,
            size: size,
            neededSpace: needed,
            freeSpace: free,
            leftovers: leftovers
        )
    }

    // MARK: The image

    /// Reads every page of the image back, and lets the engine open it where it can.
    private func verify(_ image: ImageFile, _ side: PageRewrite.Side) throws {
        switch side {
        case .plaintext:
            try file.testImage(image.path, nil, content: true, progress)
        case .encrypted(let key, let format):
            let scan = try PageScan(database: image, log: nil, key: key, format: format).run {
                try progress(FileProgress(.verifying, pages: $0, of: $1, size: format.pageSize))
            }
            guard scan.damaged.isEmpty else { throw KeyError.damaged(pages: scan.damaged) }
            try file.testImage(image.path, Unlocked(key: key, format: format), content: checksContent, progress)
        }
    }

    /// Copies the old file; what has it open must not go on with the file that is kept.
    private func keep(_ old: ExclusiveFile, as name: String, _ made: inout [String]) throws {
        let copy = try ImageFile(beside: old.path)
        made.append(copy.path)
        try PagePipeline(OldFile(old), pageSize: 65536).run {
            try progress(FileProgress(.keeping, pages: $0, of: $1, size: 65536))
        } makeWorker: {
            { try copy.write($0.bytes, at: Int64($0.first - 1) * 65536) }
        }
        try copy.adopt(old)
        try copy.sync()
        try copy.giveName(name)
        made.append(name)
    }

    // MARK: The exchange

    /// What the engine keeps beside a database at rest: an ended journal, whose pages are under the old key, or a log
    /// without pages. The new file must not meet them.
    private func removeSideFiles(_ path: String) throws {
        for suffix in ["-journal", "-wal", "-shm"] {
            do {
                try FileCalls.remove(path + suffix)
            } catch .noSuchFile {
                continue
            } catch {
                throw FileFailure(path: path + suffix, code: error.code)
            }
        }
    }

    /// Gives the old file a name for the time between the exchange and its end, so that a killed run's successor finds it.
    /// Nil where the file system has no second names.
    private func addName(to old: ExclusiveFile) throws -> String? {
        let name = try ImageFile.newName(for: old.path)
        do {
            try FileCalls.link(old.path, as: name)
        } catch  where error.meansNoLinks {
            return nil
        } catch {
            throw FileFailure(path: name, code: error.code)
        }
        do {
            try old.check(name: name)
        } catch {
            try? FileCalls.remove(name)
            throw error
        }
        return name
    }

    /// Overwrites the old file and removes its last name. Before that the new one's name is on the disk: after a power
    /// failure the old file must not be what is found.
    private func discard(_ old: ExclusiveFile, _ identity: [UInt64], named name: String?) throws {
        try FileFailure.naming(old.path) { () throws(Errno) in try FileCalls.syncFolder(of: old.path) }
        try Erasure.spoil(old, whole: name == nil)
        guard let name else { return }
        // Nothing is left that the lock would protect, and on some systems it shuts out this process's other descriptors.
        old.unlock()
        do {
            guard let erasure = try Erasure(path: name, identity: identity) else {
                throw DatabaseError(code: .busy, message: "another process is at the old file")
            }
            // It is too late to stop: what progress throws does not matter any more.
            try erasure.run { try? progress(FileProgress(.erasing, done: $0, all: $1)) }
            try FileFailure.naming(name) { () throws(Errno) in try FileCalls.remove(name) }
        } catch let failure as FileFailure where failure.isMissing {
            // Another run, which may lock the new file already, has taken it for a leftover.
        }
    }
}

/// The old file as a source of pages.
struct OldFile: PageSource {
    private let file: ExclusiveFile
    var path: String { file.path }

    init(_ file: ExclusiveFile) {
        self.file = file
    }

    func size() throws -> Int64 { try file.size() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws -> Int {
        try FileFailure.naming(file.path) { () throws(Errno) in try Faults.check(.read, file.path) }
        return try file.read(into: buffer, at: offset)
    }
}
