internal import CipherDB
internal import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// What killed runs left beside a database: a new file that was not complete, or an old one that was replaced.
///
/// Which it is makes no difference: the file with the database's name is the database. Only for a caller that has it locked, because an old
/// file that a run is about to remove has no mark. A new one is locked as long as its run goes on.
struct Leftovers {
    /// What follows the names of a new file, and of what SQLite keeps beside it while it writes to it.
    static let suffixes = [""] + SideFile.allCases.map(\.rawValue)

    private let database: String

    /// Those of the database whose path, links resolved, is `database`.
    init(of database: String) {
        self.database = database
    }

    /// Their paths.
    func paths() throws -> [String] {
        try FileError.naming(database, TemporaryName.database.paths(beside: database, suffixes: Leftovers.suffixes))
            .filter { (try? Platform.statusOfLink($0).kind) == .regular }
    }

    /// How many of them are hard links to a file: to the database, of a run that was killed just before it would have been replaced.
    func names(of identity: [UInt64]) throws -> Int {
        try paths().count { (try? Platform.statusOfLink($0).identity) == identity }
    }

    /// Bytes that their removal gives back.
    func size() throws -> Int64 {
        try paths().reduce(0) { sum, path in
            let status = try? Platform.statusOfLink(path)
            return sum + (status?.linkCount == 1 ? status?.size ?? 0 : 0)
        }
    }

    /// Overwrites and removes them; returns their paths.
    @discardableResult
    func remove() throws -> [String] {
        var removed: [String] = []
        var inUse: [String] = []
        // Sorted: a file comes before what the engine keeps beside it, which has no lock of its own.
        for path in try paths() where !inUse.contains(where: { path.hasPrefix($0 + "-") }) {
            // A hard link to the database itself is only removed.
            guard let status = try? Platform.statusOfLink(path) else { continue }
            if status.linkCount == 1 {
                guard let erasure = try Erasure(path: path, identity: status.identity) else {
                    inUse.append(path)
                    continue
                }
                try erasure.run()
            }
            try FileError.naming(path, FileCalls.remove(path))
            removed.append(path)
        }
        return removed
    }
}

extension DatabaseFile {
    /// Removes what killed runs left beside the database, which is not touched: a new file that was not complete, or an old
    /// one that had been replaced, which are overwritten first; and a journal that was ended, whose pages may be under an
    /// old key; and keyrings that were not complete, of the keyring beside the database.
    ///
    /// Where the database itself is missing, it is what a killed copy or recovery left that is removed. Where there is nothing to remove,
    /// nobody is waited for.
    ///
    /// - Returns: their paths.
    /// - Throws: ``FileError``; `DatabaseError` with `busy` where another run, or any connection, uses the
    ///   database at this moment.
    public func cleanUp() throws -> [String] {
        try limitingWaits {
            do {
                try FileError.check(path, forWriting: true)
            } catch FileError.missing {
                // A new file is locked as long as it is written, and there is no old one.
                let removed = try Leftovers(of: path).remove()
                guard !removed.isEmpty else { throw FileError(.missing, path: path) }
                return removed
            }
            let resolved = try FileError.naming(path, Platform.resolved(path))
            let mayHaveJournal = try statusBeside(SideFile.rollbackJournal.path(of: resolved)) != nil
            guard try mayHaveJournal || !Leftovers(of: resolved).paths().isEmpty else {
                return Keyring(besideDatabase: path).cleanUp()
            }
            let locked = try lockExclusively()
            defer { locked.release() }
            var removed = try Leftovers(of: locked.path).remove()
            let journal = SideFile.rollbackJournal.path(of: locked.path)
            if try statusBeside(journal) != nil, try !hasJournal(locked.path) {
                try FileError.naming(journal, FileCalls.remove(journal))
                removed.append(journal)
            }
            return removed + Keyring(besideDatabase: path).cleanUp()
        }
    }
}
