public import CipherDB
internal import CipherKeys
internal import CipherPages

extension DatabaseFile {
    /// Changes the key by writing a new file beside the old one, which then takes its place.
    ///
    /// Every page is authenticated under the present key and encrypted anew, under a vector and, unless the new key brings
    /// one, a salt of its own; then the new file is read back. A kill at any moment leaves a file that opens with one of the
    /// two keys. Needs as much free space as the file has, and the file for itself. The old file is overwritten.
    ///
    /// - Parameters:
    ///   - keptAs: A path on the same disk where a copy of the old file shall stay.
    ///   - progress: Called about every mebibyte; what it throws ends the operation, and nothing is changed.
    /// - Throws: ``KeyError``, ``RekeyError``, ``FileProblem``, ``FileFailure``, `DatabaseError`;
    ///   ``KeyError/damaged(pages:)`` where pages are damaged. The old key is in force then, unless the error is
    ///   ``RekeyError/oldFileRemains(path:_:)``.
    @discardableResult
    public func changeKey(
        from oldKey: DatabaseKey,
        to newKey: DatabaseKey,
        keepingOldAs keptAs: String? = nil,
        progress: (FileProgress) throws -> Void = { _ in }
    ) throws -> Rewritten {
        let present = try identify(oldKey)
        guard present.format.pageAuthentication != nil else {
            throw RekeyError.notStarted(
                "the pages of format 1 are not authenticated; migrate the file to another format"
            )
        }
        let next = try derived(newKey, present.format)
        guard !next.key.hasSamePageKey(as: present.key) else { throw RekeyError.sameKey }
        return try rewrite(
            .encrypted(present.key, present.format),
            .encrypted(next.key, next.format),
            present,
            keptAs,
            progress
        )
    }

    /// Finds the format in which `key` fits the file.
    func identify(_ key: DatabaseKey) throws -> Unlocked {
        let database = try open(forWriting: true)
        defer { database.close() }
        let fit = try fit(key, to: database)
        if fit.firstPageIsDamaged { throw KeyError.damaged(pages: [1]) }
        return fit.unlocked
    }

    /// `key` for a new file, with a salt that no file has yet.
    func derived(_ key: DatabaseKey, _ format: CipherFormat) throws -> Unlocked {
        let salt = try key.salt ?? SecretBytes.random(count: CipherFormat.saltSize).withUnsafeBytes { Array($0) }
        return Unlocked(key: try key.derive(salt: salt, format: format), format: format)
    }

    /// Replaces the file by one with the same pages in another form.
    func rewrite(
        _ from: PageRewrite.Side,
        _ to: PageRewrite.Side,
        _ present: Unlocked?,
        _ keptAs: String?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> Rewritten {
        try withoutActuallyEscaping(progress) { progress in
            try Replacement(file: self, present: present, format: to.format, keptAs: keptAs, progress: progress).run {
                old,
                image in
                do {
                    try PageRewrite(from: from, to: to).run(old, into: image) { done, all in
                        let size = Int64(from.pageSize)
                        try progress(FileProgress(stage: .writing, done: Int64(done) * size, all: Int64(all) * size))
                    }
                } catch is UnauthenticPage {
                    try reportDamage(old, present, progress)
                }
                return to
            }
        }
    }

    /// Throws the numbers of all damaged pages.
    private func reportDamage(
        _ file: any PageSource,
        _ present: Unlocked?,
        _ progress: (FileProgress) throws -> Void
    ) throws -> Never {
        guard let present else { throw KeyError.notADatabase }
        let size = Int64(present.format.pageSize)
        let scan = try PageScan(database: file, log: nil, key: present.key, format: present.format).run {
            try progress(FileProgress(stage: .checking, done: Int64($0) * size, all: Int64($1) * size))
        }
        throw KeyError.damaged(pages: scan.damaged)
    }
}
