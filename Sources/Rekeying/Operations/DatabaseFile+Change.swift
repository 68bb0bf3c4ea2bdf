public import CipherDB
internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

extension DatabaseFile {
    /// Changes the key by writing a new file beside the old one, which then takes its place.
    ///
    /// Every page is authenticated under the old key and encrypted under the new key, with a new IV and, unless the new key brings
    /// one, a salt of its own; then the new file is read back. A kill at any moment leaves a file that opens with one of the
    /// two keys. Needs as much free space as the file has, and the file for itself. The old file is overwritten.
    ///
    /// - Parameters:
    ///   - oldKey: The key that the file has.
    ///   - newKey: The key that it gets.
    ///   - keptAs: A path on the same file system for a copy of the old file.
    ///   - progress: Called about every mebibyte; what it throws ends the operation, and nothing is changed.
    /// - Throws: `KeyError`, `RekeyError`, ``FileError``, `DatabaseError`;
    ///   `KeyError.damaged` where pages are damaged. The old key is in force then, unless the error is
    ///   `RekeyError.oldFileRemains`.
    @discardableResult
    public func changeKey(
        from oldKey: DatabaseKey,
        to newKey: DatabaseKey,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try change(oldKey, newKey, keptAs, progress)
    }

    /// - Parameter isOfKeyring: Whether the new key is a keyring's, which must find the format without an option.
    func change(
        _ oldKey: DatabaseKey,
        _ newKey: DatabaseKey,
        isOfKeyring: Bool = false,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        try limitingWaits {
            let (present, derived) = try identify(oldKey, deriving: newKey)
            guard present.format.pageAuthentication != nil else {
                throw RekeyError(
                    .notStarted,
                    path: path,
                    reason: "the pages of the file have no MACs; migrate the file to a format that has them"
                )
            }
            var next = try derived(present)
            if isOfKeyring {
                next = VerifiedKey(key: next.key, format: try FormatSearch.formatFoundUnderRawKey(next.format))
            }
            guard try !next.key.hasSamePageKey(as: present.key) else { throw RekeyError(.sameKey, path: path) }
            return try rewrite(
                .encrypted(present.key, present.format),
                .encrypted(next.key, next.format),
                present,
                keptAs,
                progress
            )
        }
    }

    /// Finds the format in which `oldKey` fits the file. A new passphrase is derived meanwhile, with a salt of its own, for the format
    /// that the file most probably has.
    ///
    /// - Returns: What gives the new key in the format of the file; it derives again where that is another derivation.
    private func identify(
        _ oldKey: DatabaseKey,
        deriving newKey: DatabaseKey
    ) throws -> (VerifiedKey, derived: (VerifiedKey) throws -> VerifiedKey) {
        let expected = try expectedFormat()
        // Behind a plaintext header the salt is the old one, which the file must prove first.
        guard oldKey.isPassphrase, newKey.isPassphrase, expected.plaintextHeaderSize == 0 else {
            return (try identify(oldKey), { try VerifiedKey(replacementUnder: newKey, format: $0.format, like: $0) })
        }
        let (found, next) = SideBySide.run({ try identify(oldKey) }) {
            try VerifiedKey(replacementUnder: newKey, format: expected)
        }
        let present = try found.get()
        return (
            present,
            { present in
                guard present.format.hasSameDerivation(as: expected) else {
                    return try VerifiedKey(replacementUnder: newKey, format: present.format, like: present)
                }
                return VerifiedKey(key: try next.get().key, format: present.format)
            }
        )
    }

    /// Finds the format in which `key` fits the file.
    func identify(_ key: DatabaseKey) throws -> VerifiedKey {
        let file = try open(forWriting: true)
        defer { file.close() }
        return try authenticateUndamaged(key, file)
    }

    /// Replaces the file by one with the same pages in another form.
    func rewrite(
        _ from: PageCoding,
        _ to: PageCoding,
        _ present: VerifiedKey?,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        // The new MACs may cover what nothing authenticated before.
        let isUnproved = try present.map { $0.format.plaintextHeaderSize > 0 } ?? looksEncryptedBehindFirstPage()
        return try withoutActuallyEscaping(progress) { progress in
            try Replacement(
                file: self,
                present: present,
                format: to.format,
                keptAs: keptAs,
                checksStructure: isUnproved,
                progress: progress
            ).run { old, new in
                if let present {
                    let scan = PageScan(database: old, log: nil, key: present.key, format: present.format)
                    if try !scan.missingPages().isEmpty { try checkPages(old, present, progress) }
                }
                do {
                    try PageRewrite(from: from, to: to).run(old, into: new) {
                        try progress(FileProgress(.writing, pages: $0, of: $1, size: from.pageSize))
                    }
                } catch let page as UnauthenticPage {
                    if let present { try checkPages(old, present, progress) }
                    throw KeyError(.damaged, path: path, damagedPages: [page.number])
                }
                return to
            }
        }
    }

    /// Whether a file that reads as plaintext may be encrypted but for page 1.
    private func looksEncryptedBehindFirstPage() throws -> Bool {
        let file = try open(plaintext: true)
        defer { file.close() }
        return try PlaintextHeader.mayBeWholePage(of: file.pages)
    }

    /// Throws the numbers of all damaged pages, where there are any.
    func checkPages(
        _ file: any PageSource,
        _ present: VerifiedKey,
        _ progress: (FileProgress) throws -> Void
    ) throws {
        let scan = try PageScan(database: file, log: nil, key: present.key, format: present.format).run {
            try progress(FileProgress(.checking, pages: $0, of: $1, size: present.format.pageSize))
        }
        guard scan.isSound else { throw KeyError(path: path, scan) }
    }

    /// Changes the key in place by the engine, and verifies every page under the new one.
    ///
    /// Every page is authenticated under the present key first: a damaged file is not rewritten. The file keeps its salt,
    /// so a passphrase that stays the same is refused. It cannot be ended before its time. Whatever happens, the file opens
    /// with one of the two keys.
    ///
    /// - Parameters:
    ///   - oldKey: The key that the file has.
    ///   - newKey: The key that it gets.
    ///   - progress: Called while pages are read before and after; the rewriting itself tells nothing.
    /// - Throws: `KeyError`, `RekeyError`, ``FileError``, `DatabaseError`; `KeyError.damaged` where
    ///   pages were damaged before, and then nothing was changed.
    public func changeKeyInPlace(
        from oldKey: DatabaseKey,
        to newKey: DatabaseKey,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Verification {
        try limitingWaits {
            try checkMayMakeJournal()
            let (database, present) = try database(under: oldKey, forWriting: true)
            defer { database.close() }
            let before = try verifyOpened(database, present, progress)
            if let damage = before.damage(of: path) { throw damage }
            var newKey = newKey
            // A salt that is not in the file stays the same.
            if newKey.salt == nil { newKey.saltOfHeader = present.key.salt }
            try database.rekey(newKey)
            do {
                // It is too late to stop: what progress throws does not matter any more.
                return try verify(key: newKey) { try? progress($0) }
            } catch {
                throw RekeyError(.newKeyInForce, path: path, cause: error)
            }
        }
    }

    /// Throws where this process may not make the journal that a change in place needs; the engine would not say why it failed.
    func checkMayMakeJournal() throws {
        let resolved = try FileError.naming(path, Platform.resolved(path))
        do {
            _ = try Platform.statusOfLink(SideFile.rollbackJournal.path(of: resolved))
        } catch .nameTooLong {
            throw FileError(.nameTooLong, path: path)
        } catch {
            // The engine deals with what stands there.
        }
        let directory = FileCalls.directory(of: resolved)
        guard Platform.mayWrite(directory) else { throw FileError(.noPermission, path: directory) }
    }
}
