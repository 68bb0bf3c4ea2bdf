public import CipherDB
internal import CipherKeys
internal import CipherPages
public import SQLiteFormat

/// The result of a verification of every page.
public struct Verification: Sendable, Equatable {
    /// The format of the file.
    public let format: CipherFormat
    /// Whole pages in the file, and in its write-ahead log where that has more.
    public let pages: Int
    /// The numbers of the pages that are not what was written, from 1; always empty in format 1, which cannot tell. Of those that the
    /// file does not have, the first thousand; see ``missingPages``.
    public let damagedPages: [Int]
    /// Those of the damaged pages that the file does not have, because it ends early: all that its header counts.
    public let missingPages: Range<Int>
    /// What SQLite's own integrity check found, a line each; empty where all is well.
    public let problems: [String]
    /// What needs functions, collations, modules or tokenizers that only the program has, and was not checked, a line each: it is no
    /// damage. ``DatabaseFile/configuration`` brings them.
    public let unchecked: [String]

    /// How many pages are damaged or missing.
    public var damagedPageCount: Int { damagedPages.count { $0 <= pages } + missingPages.count }

    /// Whether every page is authentic and SQLite finds nothing wrong in what it could check.
    public var isSound: Bool { damagedPages.isEmpty && problems.isEmpty }
}

extension DatabaseFile {
    /// Authenticates every page under `key`, then lets SQLite check the structure.
    ///
    /// Other connections may go on reading and, in WAL mode, writing.
    ///
    /// - Parameters:
    ///   - key: The key of the file.
    ///   - checksStructure: Whether SQLite's own check is made too, which takes several times as long.
    ///   - progress: Called about every mebibyte; what it throws ends the verification.
    /// - Throws: `KeyError` where the key or the file is wrong as a whole; ``FileError``; `DatabaseError`. Damaged
    ///   pages are not thrown but returned.
    public func verify(
        key: DatabaseKey,
        checksStructure: Bool = true,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Verification {
        try verify(askingFor: { key }, checksStructure: checksStructure, progress: progress)
    }

    /// As ``verify(key:checksStructure:progress:)``; asks for the key when the file was recognised as one that may be encrypted.
    package func verify(
        askingFor key: () throws -> DatabaseKey,
        checksStructure: Bool,
        progress: (FileProgress) throws -> Void
    ) throws -> Verification {
        try limitingWaits {
            let (file, key) = try openAsking(key)
            let database = Database(file)
            defer { database.close() }
            let found = try authenticate(key, file)
            let present = found.verifiedKey
            switch found.damage {
            case .none: break
            case .firstPage:
                return try verification(file.pages, present, progress) {
                    StructureCheck(problems: ["page 1 is damaged: SQLite cannot open the file"])
                }
            case .header(let flaw):
                return try verification(file.pages, present, progress) {
                    StructureCheck(problems: ["page 1 is damaged: \(flaw)"])
                }
            case .sideFileUnderOtherKey(let side): throw file.underOtherKey(side)
            case .sideFiles(let errors):
                return try verification(file.pages, present, log: .all, progress) { StructureCheck(problems: errors) }
            }
            do {
                try database.unlock(present)
            } catch let error as KeyError where error.damagedPages != nil {
                // Of the schema, or a file that was cut off. The connection is closed after such a failure.
                let again = try open()
                defer { again.close() }
                return try verification(again.pages, present, progress) { StructureCheck(problems: ["\(error)"]) }
            } catch let error as DatabaseError where error.code.primary == .corrupt {
                // The pages are authentic and the schema in them is not SQL.
                let again = try open()
                defer { again.close() }
                return try verification(again.pages, present, progress) { StructureCheck(problems: [error.message]) }
            }
            return try verifyOpened(database, present, checksStructure: checksStructure, progress)
        }
    }

    /// Opens the file, and asks for the key if the file may be encrypted. A person may take long: a file that was replaced meanwhile,
    /// or that is to be opened otherwise, is opened again.
    private func openAsking(_ key: () throws -> DatabaseKey) throws -> (UnkeyedFile, DatabaseKey) {
        let file = try open()
        do {
            try file.checkMayBeEncrypted(file.kind)
            let key = try key()
            guard file.hasMoved || file.flags != openFlags(forWriting: false) else { return (file, key) }
            file.close()
            return (try open(), key)
        } catch {
            file.close()
            throw error
        }
    }

    func verifyOpened(
        _ database: Database,
        _ verifiedKey: VerifiedKey,
        checksStructure: Bool = true,
        _ progress: (FileProgress) throws -> Void
    ) throws -> Verification {
        // A read transaction: no writer changes the file meanwhile, nor a checkpoint what is read from the log.
        try database.beginTransaction(.deferred)
        // After a damaged page SQLCipher 4.19 answers to COMMIT with the error again.
        defer { try? database.rollback() }
        _ = try database.executeQuery("SELECT count(*) FROM sqlite_master").next()
        let pages = try database.storedPages()
        let newest = try pages.newest(pageSize: verifiedKey.format.pageSize)
        let lost = try cutOffTransaction(AuthenticPages(newest, key: verifiedKey.key, format: verifiedKey.format))
        return try verification(pages, verifiedKey, problems: lost, progress) {
            checksStructure ? try checkStructure(database, progress) : StructureCheck()
        }
    }

    /// What says that a journal was lost, which would have undone a transaction: the engine's check does not look behind its pages.
    func cutOffTransaction(_ pages: AuthenticPages) throws -> [String] {
        if try pages.hasPagesBeyondHeaderSize() {
            return [
                "pages stand behind those that the header counts: a transaction was cut off and its journal is lost, unless it was a VACUUM; "
                    + "rows may be of that transaction, or overwritten by it"
            ]
        }
        return []
    }

    private func verification(
        _ pages: StoredPages,
        _ verifiedKey: VerifiedKey,
        log: WriteAheadLog.Extent = .valid,
        problems: [String] = [],
        _ progress: (FileProgress) throws -> Void,
        structure: () throws -> StructureCheck
    ) throws -> Verification {
        let scan = try pages.scan(verifiedKey, log: log).run {
            try progress(FileProgress(.checking, pages: $0, of: $1, size: verifiedKey.format.pageSize))
        }
        let found = try structure()
        return Verification(
            format: verifiedKey.format,
            pages: scan.pages,
            damagedPages: scan.listed,
            missingPages: scan.absent,
            problems: try saltProblems(pages, verifiedKey) + problems + found.problems,
            unchecked: found.unchecked
        )
    }

    /// A key that brings the salt opens a file whose own is damaged; nothing else does. Without MACs a raw key needs no salt.
    private func saltProblems(_ pages: StoredPages, _ verifiedKey: VerifiedKey) throws -> [String] {
        guard verifiedKey.format.plaintextHeaderSize == 0, verifiedKey.format.pageAuthentication != nil,
            try pages.read(CipherFormat.saltSize, at: 0) != verifiedKey.key.salt
        else { return [] }
        return ["the salt at the beginning of the file is damaged: a key without its own salt does not open it"]
    }

    /// Runs SQLite's integrity check.
    func checkStructure(
        _ database: Database,
        _ progress: (FileProgress) throws -> Void
    ) throws -> StructureCheck {
        do {
            // How far it is it does not say.
            return try database.polling({ try progress(FileProgress(.checking, done: 0, all: 1)) }) {
                try database.checkStructure()
            }
        } catch let error as KeyError where error.damagedPages != nil {
            return StructureCheck(problems: [KeyError.damage(error.damagedPages ?? [], of: "").sentence])
        } catch let error as DatabaseError where error.code.primary == .corrupt || error.code == .error {
            // SQLCipher 4.6 answers SQLITE_ERROR where it meets a damaged page in this check.
            return StructureCheck(problems: [error.message])
        }
    }

    /// What each page of the file is, from page 1 on.
    ///
    /// - Parameters:
    ///   - key: The key that the file has.
    ///   - progress: Called about every mebibyte; what it throws ends it.
    /// - Throws: `KeyError` where the key or the file is wrong as a whole; ``FileError``; `DatabaseError`.
    public func map(
        key: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> [PageKind] {
        try limitingWaits {
            let file = try open()
            defer { file.close() }
            let found = try authenticate(key, file)
            if case .sideFileUnderOtherKey(let side) = found.damage { throw file.underOtherKey(side) }
            let present = found.verifiedKey
            let pageSize = present.format.pageSize
            let map = try PageMap(file.pages.newest(pageSize: pageSize), key: present.key, format: present.format) {
                try progress(FileProgress(.checking, pages: $0, of: $1, size: pageSize))
            }
            return map.kinds
        }
    }
}

extension KeyError {
    /// For a file whose pages a scan found damaged.
    init(path: String, _ scan: PageScan.Result) {
        self.init(.damaged, path: path, damagedPages: scan.listed, detail: scan.rest)
    }
}

extension Verification {
    /// The error for an operation that needs every page; nil where every page is authentic.
    func damage(of path: String) -> KeyError? {
        if damagedPages.isEmpty { return nil }
        return KeyError(.damaged, path: path, damagedPages: damagedPages, detail: PageScan.rest(of: missingPages))
    }
}
