public import CipherDB
internal import CipherKeys
internal import CipherPages

extension DatabaseFile {
    /// Brings an encrypted database into another format or other parameters, and under another key where one is given.
    ///
    /// - Parameters:
    ///   - key: The key that the file has.
    ///   - newKey: The key of the new file; nil for the same. A passphrase is derived under a new salt in any case.
    ///   - format: The format of the new file. Nil for the engine's own version, with what the file has of more iterations, another page size
    ///     and a plaintext header; a file of that version keeps its format.
    ///   - keptAs: A path on the same file system for a copy of the old file.
    ///   - progress: Called about every mebibyte; what it throws ends the operation, and nothing is changed.
    /// - Throws: `RekeyError.notNeeded` where the file is in that format already, no other key is given and every page is
    ///   authentic; else as ``changeKey(from:to:keepingOldAs:progress:)``.
    @discardableResult
    public func migrate(
        key: DatabaseKey,
        to newKey: DatabaseKey? = nil,
        format: CipherFormat? = nil,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try format?.checkMayBeWritten()
        return try migrate(key, newKey, keptAs, progress) { present in
            try format.flatMap { $0.isAny ? nil : $0 } ?? FormatChange().applied(to: present)
        }
    }

    /// Changes parameters of the format of an encrypted database; otherwise as ``migrate(key:to:format:keepingOldAs:progress:)``.
    ///
    /// - Throws: `UnusableCipherFormat`, also for a format that is weaker than the present one unless `allowsWeaker` is true; then nothing
    ///   was changed.
    @discardableResult
    package func migrate(
        key: DatabaseKey,
        to newKey: DatabaseKey? = nil,
        changing change: FormatChange,
        allowsWeaker: Bool = false,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> RewriteResult {
        try migrate(key, newKey, keptAs, progress) { present in
            let format = try change.applied(to: present)
            if !allowsWeaker { try format.checkNotWeaker(than: present) }
            return format
        }
    }

    private func migrate(
        _ key: DatabaseKey,
        _ newKey: DatabaseKey?,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void,
        format: (CipherFormat) throws -> CipherFormat
    ) throws -> RewriteResult {
        try limitingWaits {
            let present = try identify(key)
            let format = try writable(format(present.format))
            guard format != present.format || newKey != nil else {
                try checkPages(key, progress)
                let stronger = format.strongerSettings(isPassphrase: key.isPassphrase)
                let advice =
                    stronger.isEmpty
                    ? "" : "; SQLCipher \(format.version)'s own has " + stronger.joined(separator: ", ")
                throw RekeyError(
                    .notNeeded,
                    path: path,
                    reason: "the file is in the format of \(format) already\(advice)"
                )
            }
            let next = try VerifiedKey(replacementUnder: newKey ?? key, format: format, like: present)
            let isSameLayout =
                format.pageSize == present.format.pageSize && format.reserve == present.format.reserve
                && present.format.pageAuthentication != nil
            let write = isSameLayout ? rewrite : rewriteTrees
            return try write(
                .encrypted(present.key, present.format),
                .encrypted(next.key, next.format),
                present,
                keptAs,
                progress
            )
        }
    }

    /// Throws where a page is damaged: that there is nothing to do is no news about a damaged file.
    private func checkPages(_ key: DatabaseKey, _ progress: (FileProgress) throws -> Void) throws {
        let found = try verify(key: key, checksStructure: false, progress: progress)
        if let damage = found.damage(of: path) { throw damage }
        if let problem = found.problems.first { throw DatabaseError(code: .corrupt, message: problem) }
    }

    /// The format, or the engine's own; throws where the engine cannot write it.
    func writable(_ format: CipherFormat?) throws -> CipherFormat {
        let own = try Engine.current.ownFormat()
        guard let format, !format.isAny else { return own }
        guard Engine.current.writes(format) else {
            throw RekeyError(
                .notStarted,
                path: path,
                reason: Engine.versionNeeded(by: format).map {
                    "SQLCipher \($0) or later is needed to write the format of \(format)"
                } ?? "SQLCipher cannot write the format of \(format)"
            )
        }
        return format
    }

    static let cannotFillSmallestPages = "SQLCipher 4 cannot fill pages of 512 bytes; use larger pages"

    /// Replaces the file by one with the same content on pages of another size or with another reserve. Nil stands for plaintext.
    func rewriteTrees(
        _ from: PageCoding,
        _ to: PageCoding,
        _ present: VerifiedKey?,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> RewriteResult {
        if to.format?.pageSize == 512, Engine.current.has(.cipherCompatibility) {
            throw RekeyError(.notStarted, path: path, reason: DatabaseFile.cannotFillSmallestPages)
        }
        return try withoutActuallyEscaping(progress) { progress in
            try Replacement(
                file: self,
                present: present,
                format: to.format,
                keptAs: keptAs,
                copiesContent: true,
                progress: progress
            ).run { old, new in
                // Pages that no tree leads to are not read.
                if let present { try checkPages(old, present, progress) }
                do {
                    try TreeRewrite(from: from, to: to).run(old, into: new) {
                        try progress(FileProgress(.writing, pages: $0, of: $1, size: from.pageSize))
                    }
                } catch let error as DamagedTree {
                    throw DatabaseError(code: .corrupt, message: "\(error); nothing was changed")
                } catch let page as UnauthenticPage {
                    throw KeyError(.damaged, path: path, damagedPages: [page.number])
                }
                return to
            }
        }
    }
}
