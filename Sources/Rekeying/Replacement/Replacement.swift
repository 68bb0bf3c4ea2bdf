public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// Puts a new file in the place of a database, so that a kill at any moment leaves the one or the other, whole.
///
/// Documentation/Rekeying.md has the steps, and what a kill between two of them leaves.
struct Replacement {
    let file: DatabaseFile
    /// How the database is now, for the engine to recover it; nil for plaintext.
    let present: VerifiedKey?
    /// The format of the new file; nil for plaintext.
    let format: CipherFormat?
    /// The name of the old file afterwards.
    let keptAs: String?
    /// Whether the new file's pages are not those of the old one.
    var copiesContent = false
    /// Whether it checks the new file's structure too, which takes its time; needless where authentic pages stay as they are.
    var checksStructure = false
    let progress: (FileProgress) throws -> Void
    let owner = OwnerProcess()

    /// Called before each step.
    var willPerform: (ReplacementStep) throws -> Void = { _ in }

    /// What the steps so far made.
    private struct State {
        var new: ReplacementFile?
        var made: [String] = []
        /// The hard link of the old file.
        var link: String?
        var coding: PageCoding?
        var result: RewriteResult?

        var newFile: ReplacementFile {
            guard let new else { preconditionFailure("the new file is created first") }
            return new
        }
    }

    /// Replaces the file by one that `write` fills; it returns how its pages are encoded.
    ///
    /// - Throws: any error; the file is as it was then, unless it is `RekeyError.oldFileRemains`.
    func run(_ write: (OldFile, ReplacementFile) throws -> PageCoding) throws -> RewriteResult {
        if let ask = file.willRewrite { try announce(to: ask) }
        let old = try file.lockAtRest(present)
        defer { old.release() }
        let status = try checkPlaces(old)
        var state = State()
        try ReplacementStep.perform(ReplacementStep.ofDatabase) { step in
            try willPerform(step)
            do {
                try perform(step, old, status, &state, write)
            } catch let error as UsedAfterFork {
                throw error
            } catch  where [.syncDirectory, .eraseOld].contains(step) {
                throw RekeyError(.oldFileRemains, path: file.path, cause: error, oldFile: state.link)
            }
        } undo: {
            // Plaintext must not stay in freed blocks.
            if format == nil { try? state.new?.overwrite() }
            state.new?.discard()
            for path in state.made { try? FileCalls.remove(path) }
        }
        guard let result = state.result else {
            preconditionFailure("the content is written before the file is replaced")
        }
        return result
    }

    private func perform(
        _ step: ReplacementStep,
        _ old: ExclusiveFile,
        _ status: FileStatus,
        _ state: inout State,
        _ write: (OldFile, ReplacementFile) throws -> PageCoding
    ) throws {
        switch step {
        case .removeLeftovers: try Leftovers(of: old.path).remove()
        case .checkSpace: try checkSpace(try old.size(), old.path, freed: 0)
        case .create:
            // A caller who handles signals by this does so from here on.
            try show(FileProgress(.writing, done: 0, all: max(1, try old.size())))
            state.new = try ReplacementFile(beside: old.path)
        case .write:
            let coding = try write(OldFile(old), state.newFile)
            state.coding = coding
        case .verify:
            guard let coding = state.coding else { preconditionFailure("the content is written before it is verified") }
            state.result = RewriteResult(
                format: coding.format,
                previousFormat: present?.format,
                pageSize: coding.pageSize,
                pages: Int(try state.newFile.size()) / coding.pageSize,
                unchecked: try verify(state.newFile, coding)
            )
        case .adoptOwner: try state.newFile.adopt(old)
        case .sync: try state.newFile.sync()
        case .keepOld: if let keptAs { try keep(old, as: keptAs, &state.made) }
        case .checkOld: try old.check(name: old.path)
        case .removeSideFiles: try removeSideFiles(old.path)
        case .linkOld:
            state.link = try link(old)
            if let link = state.link { state.made.append(link) }
        case .rename: try exchange(old, status.identity, &state)
        case .syncDirectory:
            // After a power failure the old file must not be what is found.
            try FileError.naming(old.path, FileCalls.syncDirectory(of: old.path))
        case .eraseOld: try erase(old, status.identity, named: state.link)
        }
    }

    /// Shows how far it is. A child that is forked there goes no further.
    private func show(_ done: FileProgress) throws {
        try progress(done)
        try owner.check(.database)
    }

    // MARK: The new file

    /// Reads every page of the new file back, and lets the engine open it where it can.
    ///
    /// - Returns: What the engine could not check, a line each.
    private func verify(_ new: ReplacementFile, _ coding: PageCoding) throws -> [String] {
        switch coding {
        case .plaintext:
            return try file.testNew(new.path, nil, content: true, show)
        case .encrypted(let key, let format):
            let scan = try PageScan(database: new, log: nil, key: key, format: format).run {
                try show(FileProgress(.verifying, pages: $0, of: $1, size: format.pageSize))
            }
            guard scan.isSound else { throw KeyError(path: file.path, scan) }
            return try file.testNew(
                new.path,
                VerifiedKey(key: key, format: format),
                content: copiesContent || checksStructure,
                show
            )
        }
    }

    /// Copies the old file; what has it open must not go on with the file that is kept.
    private func keep(_ old: ExclusiveFile, as name: String, _ made: inout [String]) throws {
        let copy = try ReplacementFile(beside: old.path)
        made.append(copy.path)
        try PagePipeline(OldFile(old), pageSize: 65536).run {
            try show(FileProgress(.keeping, pages: $0, of: $1, size: 65536))
        } makeWorker: {
            { try copy.write($0.bytes, at: Int64($0.first - 1) * 65536) }
        }
        try copy.adopt(old)
        try copy.sync()
        try copy.giveName(name)
        made.append(name)
    }

    // MARK: The exchange

    /// What the engine keeps beside a database at rest: a finalized journal, whose pages are under the old key, or a log
    /// without pages. The new file must not meet them.
    private func removeSideFiles(_ path: String) throws {
        for path in SideFile.allCases.map({ $0.path(of: path) }) {
            try FileError.naming(path, FileCalls.removeIfThere(path))
        }
    }

    /// Gives the old file a name for the time between the exchange and its end, so that a killed run's successor finds it.
    /// Nil if the file system has no hard links.
    private func link(_ old: ExclusiveFile) throws -> String? {
        guard let name = try FileError.naming(old.path, TemporaryName.database.link(to: old.path)) else { return nil }
        do {
            try old.check(name: name)
        } catch {
            try? FileCalls.remove(name)
            throw error
        }
        return name
    }

    /// Gives the new file the name of the database.
    private func exchange(_ old: ExclusiveFile, _ identity: [UInt64], _ state: inout State) throws {
        // Closing it later could drop the locks of a connection to the new database.
        state.newFile.close()
        let (new, link) = (state.newFile, state.link)
        let exchange = FileExchange(new.path, new.identity, over: old.path, identity, link: link)
        switch try FileError.naming(old.path, exchange.run()) {
        case .new: break
        case .old(let other):
            let message = "the file was replaced meanwhile; nothing was changed"
            throw file.busy(message + (other.map { "; the other file is \($0)" } ?? ""))
        case .other(let place):
            // The rest of the old file must stay.
            state.made = []
            let message = "another file has its name, and the old file could not be put back"
            throw RekeyError(
                .undecided,
                path: file.path,
                cause: file.busy(message + (place.map { "; it is \($0)" } ?? ""))
            )
        }
    }

    /// Overwrites the old file and removes its last name.
    private func erase(_ old: ExclusiveFile, _ identity: [UInt64], named name: String?) throws {
        try Erasure.overwriteBeginning(old, whole: name == nil)
        guard let name else { return }
        // Nothing is left that the lock would protect, and on some systems it shuts out this process's other descriptors.
        old.unlock()
        do {
            guard let erasure = try Erasure(path: name, identity: identity) else {
                throw file.busy("another process is at the old file")
            }
            // It is too late to stop: what progress throws does not matter any more.
            try erasure.run {
                try? progress(FileProgress(.erasing, done: $0, all: $1))
                try owner.check(.database)
            }
            try FileError.naming(name, FileCalls.remove(name))
        } catch let error as FileError where error.errno == Errno.noSuchFile.code {
            // Another run, which may lock the new file already, has taken it for a leftover; or it has another name.
            try Erasure.overwriteBeginning(old, whole: true)
        }
    }
}

/// The file after an operation that rewrote it; every page was read back.
public struct RewriteResult: Sendable, Equatable {
    /// The format; nil for plaintext.
    public let format: CipherFormat?
    /// The format that the file had, or that of the file it was made from; nil for plaintext.
    public let previousFormat: CipherFormat?
    /// Bytes in a page.
    public let pageSize: Int
    /// Pages in the file.
    public let pages: Int
    /// As ``Verification/unchecked``, where SQLite's integrity check was run over the new file.
    public let unchecked: [String]
}

extension VerifiedKey {
    /// `key` for a file that takes the place of another, or is made from it; the format is named as it will be found.
    ///
    /// - Throws: as `init(newFileUnder:format:like:)`.
    init(replacementUnder key: DatabaseKey, format: CipherFormat, like present: VerifiedKey? = nil) throws {
        let format = key.isPassphrase ? format : FormatSearch.formatUnderRawKey(format)
        try self.init(newFileUnder: key, format: format, like: present)
    }
}
