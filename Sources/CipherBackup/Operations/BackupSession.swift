internal import CipherKeys
package import SQLiteFormat

/// Makes generations of one database, one after the other. It keeps the tree of the newest one. For one thread at a time.
package final class BackupSession {
    private let repository: BackupRepository
    private let expected: ExpectedGeneration
    private var base: GenerationBase?

    /// The repository is made with the first generation, unless there is one, or one is expected.
    package init(_ repository: BackupRepository, expecting expected: ExpectedGeneration = .none) {
        self.repository = repository
        self.expected = expected
    }

    /// Stores a state of the database that was read whole.
    ///
    /// - Parameters:
    ///   - source: The database, which nobody changes meanwhile.
    ///   - unit: Bytes of it that must be read together.
    ///   - key: Authenticates the pages that are stored, and the manifest; nil for neither.
    ///   - time: Seconds since 1970, before the state was read: it has every commit that was made by then.
    ///   - stateWasRead: Called when the database is not needed any more; what it throws keeps the state from becoming a generation.
    ///   - progress: Called about every mebibyte, and before each segment is stored, with the bytes done and all.
    /// - Returns: The generation, and whether it is a new one: it is not where nothing has changed.
    /// - Throws: also ``DamagedPages``.
    package func store(
        _ source: any PageSource,
        unit: Int,
        key: PageKey?,
        time: UInt64,
        stateWasRead: () throws -> Void,
        progress: (Int64, Int64) throws -> Void
    ) throws -> (generation: Generation, isNew: Bool) {
        let size = try source.size()
        return try store(key, time, size: size, keepsBlocks: false) { writer, isProved in
            try BackupRun(source: source, unit: unit, key: key).run(writer, isProved: isProved, progress: progress)
            try stateWasRead()
        } beforeEachSegment: {
            try progress(size, size)
        }
    }

    /// Stores what was committed to a WAL since the newest generation; nil where the database has to be read whole for that.
    ///
    /// - Parameters:
    ///   - expected: The number of the newest generation, which has the state before the changes.
    ///   - time: Seconds since 1970, before the changes were looked for.
    package func store(
        _ changes: LogChanges,
        of log: any PageSource,
        after expected: UInt64,
        key: PageKey?,
        time: UInt64
    ) throws -> (generation: Generation, isNew: Bool)? {
        let size = Int64(changes.pageCount) * Int64(changes.pageSize)
        do {
            return try store(key, time, size: size, keepsBlocks: true) { writer, isProved in
                guard let base = writer.base, base.manifest.number == expected, isProved || key == nil,
                    LogRun.isPossible(changes, base)
                else { throw ChangesUnusable() }
                try LogRun(log: log, changes: changes, key: key).run(writer)
                guard try changes.isUnchanged(log) else { throw ChangesUnusable() }
            }
        } catch is ChangesUnusable {
            return nil
        }
    }

    /// What the WAL has does not make the next generation.
    private struct ChangesUnusable: Error {}

    /// - Parameter body: Stores the blocks; what it throws keeps them from becoming a generation.
    private func store(
        _ key: PageKey?,
        _ time: UInt64,
        size: Int64,
        keepsBlocks: Bool,
        _ body: (GenerationWriter, _ isProved: Bool) throws -> Void,
        beforeEachSegment: () throws -> Void = {}
    ) throws -> (generation: Generation, isNew: Bool) {
        if base == nil {
            if expected.isOfRepository { _ = try repository.marker() }
            try repository.prepare()
        }
        return try repository.storage.locked(exclusively: true) {
            let marker = try repository.marker()
            let backupKey = try key.map { try BackupKey($0.key, repository: marker.identifier) }
            let others = try expected.otherKeys.map { try BackupKey($0, repository: marker.identifier) }
            let base = try newest(marker, provedBy: backupKey.map { [$0] + others } ?? [])
            let isProved = try base?.isProved(by: backupKey) ?? false
            let writer = GenerationWriter(
                repository,
                marker,
                base: base,
                key: backupKey,
                size: size,
                // Who has no key could refer to anything there.
                adoptsBlocks: backupKey == nil || isProved,
                keepsBlocks: keepsBlocks
            )
            do {
                try body(writer, isProved)
                let (made, isNew) = try writer.finish(time: time, beforeEach: beforeEachSegment)
                self.base = made
                return (Generation(made.manifest), isNew)
            } catch {
                writer.discard()
                throw error
            }
        }
    }

    /// The newest generation, which is read again only where another writer made it.
    private func newest(_ marker: RepositoryMarker, provedBy keys: [BackupKey]) throws -> GenerationBase? {
        let names = try repository.manifestNames()
        if let base, base.stored.name == names.last { return base }
        try expected.check(names, of: repository, marker, made: base?.manifest.number, provedBy: keys)
        base = try names.last.map {
            try GenerationBase(StoredManifest($0, repository.storage, marker), repository.storage)
        }
        return base
    }
}
