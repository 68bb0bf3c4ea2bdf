public import CipherDB
internal import CipherKeys
internal import CipherPages

/// The parameters of a format that a migration or an encryption changes; the others stay, or are those of the engine's own format.
package struct FormatChange: Sendable, Equatable {
    /// SQLCipher's major version: its own format, with the file's plaintext header, and its page size and higher number of iterations where
    /// these are not those of its own version.
    package var version: Int?
    /// As `CipherFormat/pageSize`.
    package var pageSize: Int?
    /// As `CipherFormat/iterations`.
    package var iterations: Int?
    /// As `CipherFormat/keyDerivation`.
    package var keyDerivation: HashAlgorithm?
    /// As `CipherFormat/pageAuthentication`; `.some(nil)` for no MACs.
    package var pageAuthentication: HashAlgorithm??
    /// As `CipherFormat/pageNumberOrder`.
    package var pageNumberOrder: PageNumberOrder?
    /// As `CipherFormat/macSaltMask`.
    package var macSaltMask: UInt8?
    /// As `CipherFormat/macKeyIterations`.
    package var macKeyIterations: Int?
    /// As `CipherFormat/plaintextHeaderSize`.
    package var plaintextHeaderSize: Int?

    /// No change.
    package init() {}

    /// The engine's own format, or that of ``version``, with the parameters.
    ///
    /// - Throws: `UnusableCipherFormat`.
    package func format() throws -> CipherFormat {
        try (version.map { try CipherFormat.standard(version: $0) } ?? Engine.current.ownFormat()).changed(apply(to:))
    }

    /// The format of a file after the change: by default the engine's own version, with what ``version`` keeps. What is of that version already keeps everything; pages without MACs get some in any case.
    ///
    /// - Throws: `UnusableCipherFormat`.
    func applied(to present: CipherFormat) throws -> CipherFormat {
        let own = try Engine.current.ownFormat()
        // No engine opens it, so that its content cannot be copied: its pages are rewritten in the nearest format that one opens.
        let isForeign = Engine.versionNeeded(by: present) == nil
        if version == nil, isForeign || present.version == own.version {
            return try present.changed {
                $0.macKeyDerivation = nil
                if $0.pageAuthentication == nil { $0.pageAuthentication = own.pageAuthentication }
                apply(to: &$0)
            }
        }
        let target = try version.map { try CipherFormat.standard(version: $0) } ?? own
        return try target.changed {
            let isOther = present.pageSize != present.own.pageSize
            if isOther { $0 = (try? $0.changed { $0.pageSize = present.pageSize }) ?? $0 }
            let hasOwnNumber = present.iterations == present.own.iterations
            if !hasOwnNumber { $0.iterations = max($0.iterations, present.iterations) }
            $0.plaintextHeaderSize = present.plaintextHeaderSize
            // Before anything is judged: the file's header may not fit, and a shorter one be named.
            apply(to: &$0)
        }
    }

    private func apply(to format: inout CipherFormat) {
        if let pageSize { format.pageSize = pageSize }
        if let iterations { format.iterations = iterations }
        if let keyDerivation { format.keyDerivation = keyDerivation }
        if let pageAuthentication { format.pageAuthentication = pageAuthentication }
        if let pageNumberOrder { format.pageNumberOrder = pageNumberOrder }
        if let macSaltMask { format.macSaltMask = macSaltMask }
        if let macKeyIterations { format.macKeyIterations = macKeyIterations }
        if let plaintextHeaderSize { format.plaintextHeaderSize = plaintextHeaderSize }
    }
}

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
