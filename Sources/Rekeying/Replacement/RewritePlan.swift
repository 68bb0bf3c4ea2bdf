public import CipherDB
internal import CipherSystem
internal import SQLiteFormat

/// What an operation would do, found with the file locked and without writing.
public struct RewritePlan: Sendable, Equatable {
    /// The format of the file; nil for plaintext.
    public let from: CipherFormat?
    /// The format that it would have; nil for plaintext.
    public let to: CipherFormat?
    /// Whether pages would be rewritten as they are, on all cores; else their entries would be copied to pages of another size.
    public let isByPages: Bool
    /// Bytes in the file.
    public let size: Int64
    /// Bytes that the operation needs beside it.
    public let neededSpace: Int64
    /// Bytes that the disk has left.
    public let freeSpace: Int64
    /// What killed runs left, and would be removed.
    public let leftovers: [String]
}

// What is seen to before the first step.
extension Replacement {
    /// The status of the file, which has one name; the one for the old file is free, and files can be made where they are needed.
    func checkPlaces(_ old: ExclusiveFile) throws -> FileStatus {
        try checkKeptName(old.path)
        let status = try old.status()
        let ownNames = try status.linkCount - Leftovers(of: old.path).names(of: status.identity)
        guard ownNames == 1 else { throw FileError(.severalNames, path: old.path) }
        for directory in [old.path, keptAs].compactMap({ $0 }).map(FileCalls.directory(of:)) {
            guard Platform.mayWrite(directory) else { throw FileError(.noPermission, path: directory) }
        }
        try checkOwnership(old)
        return status
    }

    /// Before pages are written: it would fail after them.
    private func checkOwnership(_ old: ExclusiveFile) throws {
        let directory = FileCalls.directory(of: old.path)
        let missing = try FileError.naming(
            directory,
            FileOwnership(of: old.descriptor).missingInNewFile(in: directory)
        )
        if let missing { throw FileError(.ownership, path: file.path, owner: missing.owner, group: missing.group) }
    }

    /// Names that belong to the database, or to this protocol, would be removed again.
    private func checkKeptName(_ path: String) throws {
        guard let keptAs else { return }
        let (name, database) = (FileCalls.name(of: keptAs), FileCalls.name(of: path))
        guard !SideFile.allCases.contains(where: { $0.path(of: database) == name }),
            !TemporaryName.database.matches(name, of: database, suffixes: Leftovers.suffixes)
        else { throw FileError(.belongs, path: keptAs) }
        guard (try? Platform.statusOfLink(keptAs)) == nil else { throw FileError(.exists, path: keptAs) }
        let disks = try [path, keptAs].map { path in
            let directory = FileCalls.directory(of: path)
            return try FileError.naming(directory, Platform.status(of: directory).identity[0])
        }
        guard disks[0] == disks[1] else { throw FileError(.otherDisk, path: keptAs) }
    }

    func checkSpace(_ size: Int64, _ path: String, freed: Int64) throws {
        let (needed, free) = try space(size, path)
        guard free + freed >= needed else { throw FileError(.noSpace, path: path, needed: needed, free: free) }
    }

    private func space(_ size: Int64, _ path: String) throws -> (needed: Int64, free: Int64) {
        let free = try FileError.naming(path, Platform.freeBytes(at: FileCalls.directory(of: path)))
        return ((keptAs == nil ? size : 2 * size) + (1 << 20), free)
    }

    /// Calls `ask` with the plan, under the lock, before the engine recovers what a journal or WAL holds.
    func announce(to ask: (RewritePlan) throws -> Void) throws {
        let old = try file.lockExclusively()
        defer { old.release() }
        try file.checkAtRest(old, present)
        _ = try checkPlaces(old)
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
            isByPages: !copiesContent,
            size: size,
            neededSpace: needed,
            freeSpace: free,
            leftovers: leftovers
        )
    }
}
