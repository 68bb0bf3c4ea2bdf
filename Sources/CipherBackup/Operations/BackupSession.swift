package import CipherKeys
package import SQLiteFormat

/// Makes generations of one database, one after the other. It keeps the tree of the newest one. For one thread at a time.
package final class BackupSession {
    private let repository: BackupRepository
    private let expected: ExpectedGeneration
    private let keyring: KeyringKeeper?
    /// Keys that the keyring had until they were forgotten, and the repository has.
    private var forgotten: [BackupKey] = []
    private var base: GenerationBase?
    /// The newest generation that this session has made, or a key proved.
    private var known: StoredManifest?
    /// When the objects of the newest generation were last looked for.
    private var lookedForLosses = ContinuousClock.now
    /// The identifier of each key with which a generation was made.
    private var identifiers: Set<[UInt8]> = []
    private static let pauseBetweenLooks = Duration.seconds(60)
    /// When it was said last that the keyring is missing.
    private var saidMissing: ContinuousClock.Instant?

    /// The repository is made with the first generation, unless there is one, or one is expected.
    ///
    /// - Parameter keyring: What has the keys of the database, and notes of repositories. It is stored before a generation is that needs it.
    package init(
        _ repository: BackupRepository,
        expecting expected: ExpectedGeneration = .none,
        keyring: UnlockedKeyring? = nil
    ) {
        self.repository = repository
        self.expected = expected
        self.keyring = keyring.map(KeyringKeeper.init)
    }

    /// Stores the keyring if it was changed since, although the database was not.
    ///
    /// - Returns: That it is missing, once a minute: the repository has it with the newest generation.
    package func storeKeyring() throws -> BackupWarning? {
        guard let keyring else { return nil }
        do {
            guard try keyring.isDue() else { return nil }
            _ = try repository.storage.locked(exclusively: true) {
                try keyring.run(repository, repository.marker().identifier)
            }
        } catch let error as KeyringError where error.code == .missing {
            guard saidMissing.map({ .now >= $0 + BackupSession.pauseBetweenLooks }) ?? true else { return nil }
            saidMissing = .now
            return .missingKeyring
        }
        return nil
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
    /// - Throws: also ``DamagedPages``.
    package func store(
        _ source: any PageSource,
        unit: Int,
        key: PageKey?,
        time: UInt64,
        stateWasRead: () throws -> Void,
        progress: (Int64, Int64) throws -> Void
    ) throws -> StoredGeneration {
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
    ) throws -> StoredGeneration? {
        let size = Int64(changes.pageCount) * Int64(changes.pageSize)
        do {
            return try store(key, time, size: size, keepsBlocks: true) { writer, isProved in
                guard let base = writer.base, base.manifest.number == expected, base.lost.isEmpty,
                    isProved || key == nil,
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
    ) throws -> StoredGeneration {
        if base == nil {
            try checkMayMakeRepository()
            try repository.prepare()
        }
        return try repository.storage.locked(exclusively: true) {
            let identifier = try repository.marker().identifier
            let backupKey = try key.map { try BackupKey($0.key, repository: identifier) }
            let others = try expected.otherKeys.map { try BackupKey($0, repository: identifier) }
            let base = try newest(identifier, provedBy: backupKey.map { [$0] + others } ?? [])
            let isProved = try base.map { try $0.lost.isEmpty && $0.isProved(by: backupKey) } ?? false
            let writer = try GenerationWriter(
                repository,
                identifier,
                base: base,
                key: backupKey,
                size: size,
                // Without the key, anybody could refer to anything there.
                adoptsBlocks: backupKey == nil || isProved,
                keepsBlocks: keepsBlocks
            )
            do {
                try body(writer, isProved)
                var warnings = base.map { self.warnings(writer, $0, backupKey, others + forgotten) } ?? []
                if let keyring {
                    do {
                        if try keyring.run(repository, identifier) { warnings.append(.oldKeyring) }
                    } catch let error as KeyringError where error.code == .missing && keyring.hasStored(backupKey) {
                        warnings.append(.missingKeyring)
                    }
                }
                let (made, isNew) = try writer.finish(time: time, beforeEach: beforeEachSegment)
                self.base = made
                known = made.stored
                if let backupKey { identifiers.insert(backupKey.identifier) }
                return StoredGeneration(generation: Generation(made.manifest), isNew: isNew, warnings: warnings)
            } catch {
                writer.discard()
                throw error
            }
        }
    }

    /// Throws where there is no repository, although one is known.
    private func checkMayMakeRepository() throws {
        let noted = try expected.number == nil ? keyring?.notedRepositories ?? 0 : 0
        guard expected.number ?? UInt64(noted) > 0 else { return }
        do {
            _ = try repository.marker()
        } catch let error as BackupError where error.code == .notARepository && noted > 0 {
            throw BackupError(.otherThanNoted, path: error.path, repositories: noted)
        }
    }

    /// Throws where the newest generation is older than what is known.
    private func checkNewest(_ names: [String], _ identifier: [UInt8], provedBy keys: [BackupKey]) throws {
        let noted = try expected.number == nil ? keyring?.notedGeneration(of: identifier) : nil
        func check(_ keys: [BackupKey]) throws {
            try expected.check(names, of: repository, identifier, noted: noted, known: known, provedBy: keys)
        }
        forgotten = []
        try checkIsNoOthers(names, identifier, provedBy: keys)
        do {
            try check(keys)
        } catch BackupError.outdated where keyring != nil {
            forgotten = try keyring?.forgottenKeys(repository, identifier) ?? []
            try check(keys + forgotten)
        }
    }

    /// Throws where the keyring notes other repositories, and has no key of the newest generation of this one: later prunes would remove what is
    /// another database's.
    private func checkIsNoOthers(_ names: [String], _ identifier: [UInt8], provedBy keys: [BackupKey]) throws {
        guard expected.number == nil, !keys.isEmpty, let keyring, let newest = names.last,
            case let noted = try keyring.notedRepositories,
            try noted > 0 && keyring.notedGeneration(of: identifier) == nil,
            let stored = try? StoredManifest(newest, repository.storage, identifier), !stored.counts(provedBy: keys),
            try !stored.counts(provedBy: keys + keyring.forgottenKeys(repository, identifier))
        else { return }
        throw BackupError(.otherThanNoted, path: repository.storage.description, repositories: noted)
    }

    /// The newest generation, which is read again only where another writer made it.
    private func newest(_ identifier: [UInt8], provedBy keys: [BackupKey]) throws -> GenerationBase? {
        let names = try repository.manifestNames()
        if let base, base.stored.name == names.last {
            guard .now >= lookedForLosses + BackupSession.pauseBetweenLooks else { return base }
            self.base = try base.checked(repository.storage)
            lookedForLosses = .now
            return self.base
        }
        try checkNewest(names, identifier, provedBy: keys)
        base = try names.last.map {
            try GenerationBase(StoredManifest($0, repository.storage, identifier), repository.storage)
        }
        if let stored = base?.stored, stored.counts(provedBy: keys + forgotten) { known = stored }
        lookedForLosses = .now
        return base
    }

    private func newestWhole() -> GenerationBase? {
        for stored in (try? repository.manifests())?.reversed() ?? [] {
            if let base = try? GenerationBase(stored, repository.storage), base.lost.isEmpty { return base }
        }
        return nil
    }

    /// - Parameter others: Keys that the database had before.
    private func warnings(_ writer: GenerationWriter, _ base: GenerationBase, _ key: BackupKey?, _ others: [BackupKey])
        -> [BackupWarning]
    {
        guard writer.isChanged else { return [] }
        let number = base.manifest.number
        var warnings: [BackupWarning] = []
        // Keys from before a change of key, and those of a keyring.
        let known = identifiers.subtracting(key.map { [$0.identifier] } ?? []).union(others.map(\.identifier))
        if !base.lost.isEmpty {
            warnings.append(.lost(generation: number, objects: base.lost))
        }
        // Of one that lacks objects nothing can be compared.
        let whole = base.lost.isEmpty ? base : newestWhole()
        if let whole, !whole.isRelated(to: writer, key: key, others: known, repository.storage) {
            warnings.append(.sharesNothing(generation: whole.manifest.number))
        }
        if key == nil, base.manifest.keyIdentifier != nil { warnings.append(.unproved(after: number)) }
        return warnings
    }
}

/// What a backup has noticed in a repository. It stores all the same.
public enum BackupWarning: Sendable, Equatable {
    /// The database shares no page and no salt with the generation of this number, which was the newest: it is another database, or its key was
    /// changed.
    case sharesNothing(generation: UInt64)
    /// The generation of this number, which was the newest, needs objects that are missing, cut or damaged: all pages were stored again.
    case lost(generation: UInt64, objects: [String])
    /// The generation of this number, which was the newest, has a MAC, and the new one has none.
    case unproved(after: UInt64)
    /// The keyring is an old copy: the repository has a newer one, which stays there.
    case oldKeyring
    /// The keyring is missing: the repository has it as it was.
    case missingKeyring

    /// Whether older generations may be all that is left of a database: then nothing is removed.
    public var forbidsPrune: Bool {
        switch self {
        case .sharesNothing, .lost: true
        case .unproved, .oldKeyring, .missingKeyring: false
        }
    }
}

extension BackupWarning: CustomStringConvertible {
    /// A sentence that names the generation.
    public var description: String {
        switch self {
        case .sharesNothing(let number):
            "the file shares no page and no salt with generation \(number): it is another database, or its key was changed; this run removes no generation"
        case .lost(let number, let objects):
            "generation \(number) cannot be restored: \(BackupWarning.list(objects)) missing, cut or damaged; all pages were stored again, and nothing is removed before the next generation"
        case .unproved(let number):
            "the new generation has no MAC, and generation \(number) has one: the key will not prove it; give the key, as before"
        case .oldKeyring:
            "the keyring is an old copy: the repository has a newer one, which may have other secrets; `rekey keyring restore` takes it from there"
        case .missingKeyring:
            "the keyring is missing: `rekey keyring restore` takes it from the repository"
        }
    }

    private static func list(_ objects: [String]) -> String {
        let more = objects.count - 3
        let text = objects.prefix(3).joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return text + (objects.count == 1 ? " is" : " are")
    }
}
