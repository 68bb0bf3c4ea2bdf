internal import CipherKeys
internal import CipherPages
internal import CipherSystem
internal import SQLiteFormat

/// The right key makes a connection of the file.
extension UnkeyedFile {
    /// Keys the connection with `key`, and verifies it; an empty file becomes a database under it.
    func unlock(_ key: DatabaseKey) throws -> VerifiedKey {
        guard Engine.current.canEncrypt else { throw keyError(.engineHasNoEncryption) }
        let own = try Engine.current.ownFormat()
        let format = configuration.format.flatMap { $0.isAny ? nil : $0 } ?? own
        guard try kind == .empty && mayBeMade() else {
            let keys = DerivedKeys(key)
            return try verify(format, { try keys.derive(salt: $0, format: format) }) { try identify(keys, format) }
        }
        try format.checkMayBeWritten()
        return try encryptNew(format) { try VerifiedKey(newFileUnder: key, format: format) }
    }

    /// Keys the connection with a key that was verified, or derived, before.
    ///
    /// - Parameter makesNew: Whether an empty file becomes a database under it.
    func unlock(_ known: VerifiedKey, makesNew: Bool) throws -> VerifiedKey {
        guard try kind == .empty && mayBeMade() else {
            // Again: another process may have changed the file's key since.
            return try verify(known.format, { _ in known.key }) {
                let outcome = try probeAndRollBack(largestPage: known.format.pageSize) {
                    try $0.run(known.key, format: known.format)
                }
                guard let found = try identified(outcome) else {
                    throw keyError(try looksEncrypted() ? .wrongKey : .notADatabase)
                }
                return found
            }
        }
        guard makesNew else { throw keyError(.notADatabase) }
        return try encryptNew(known.format) { known }
    }

    /// Whether a file without bytes may become a database: not beside a log or journal, which say that it was one, or that
    /// another connection is making it at this moment; that is waited for: half a second, or as long as it has the file locked.
    private func mayBeMade() throws -> Bool {
        guard flags.contains(.create) else { return false }
        let wait = LockWait.current(or: .milliseconds(busyMilliseconds))
        var attempts = 0
        while true {
            if try pages.size() > 0 { return false }
            let beside = [SideFile.writeAheadLog, .rollbackJournal].contains {
                (try? Platform.status(of: $0.path(of: connection.filename)).size) ?? 0 > 0
            }
            if !beside { return true }
            attempts += 1
            guard try attempts < 100 || pages.file.isReserved, wait.mayTryAgain() else { return false }
        }
    }

    /// Keys the connection, whose file has bytes in it, and proves the key.
    ///
    /// The first page is authenticated here before the engine gets the key: the engine would let a wrong key through to
    /// the write-ahead log on closing, and calls everything by one code.
    ///
    /// - Parameters:
    ///   - derive: The key in `format`, for a salt.
    ///   - identify: Finds format and key where the first page is another than that.
    private func verify(
        _ format: CipherFormat,
        _ derive: (_ salt: [UInt8]) throws -> DerivedKey,
        else identify: () throws -> VerifiedKey
    ) throws -> VerifiedKey {
        guard Engine.current.canEncrypt else { throw keyError(.engineHasNoEncryption) }
        let proven = try proofByFirstPage(format, derive)
        if proven == nil { try checkMayBeEncrypted(FileKind.recognise(pages)) }
        try checkSideFiles()
        let verifiedKey = try proven?.key ?? identify()
        try checkSideFilesAreOwn(verifiedKey)
        do {
            try keyEngine(verifiedKey, proven?.proof) { try connection.firstSelect() }
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            // The page that was probed was not the one in force: a log brings another. Closing must not move that log.
            connection.leaveLogOnClose()
            let probe = try KeyProbe(database: pages, log: self.pages.writeAheadLog)
            if case .otherCipher = try probe.run(verifiedKey.key, format: verifiedKey.format) {
                throw keyError(.otherCipher)
            }
            throw keyError(.wrongKey)
        } catch let error as DatabaseError where error.code.primary == .corrupt {
            throw explained(error, verifiedKey)
        }
        return verifiedKey
    }

    /// What an error of the engine at the first read under a key that fits really is.
    private func explained(_ error: DatabaseError, _ verifiedKey: VerifiedKey) -> any Error {
        guard verifiedKey.format.pageAuthentication != nil, let damaged = try? pages.damagedPages(verifiedKey),
            !damaged.isEmpty, damaged != [0]
        else { return error }
        return KeyError.damage(damaged, of: filePath)
    }

    /// The proof that a key is right, by one read of the first page as the format has it: what nearly every opening needs. Nil asks for
    /// a closer look.
    ///
    /// It takes no lock. A page that is being written is not authentic, and then the closer look waits.
    private func proofByFirstPage(
        _ format: CipherFormat,
        _ derive: (_ salt: [UInt8]) throws -> DerivedKey
    ) throws -> (key: VerifiedKey, proof: FirstPageProof)? {
        // Behind a header, page 1 of a file with MACs makes sense without them, too.
        guard format.pageAuthentication != nil || format.plaintextHeaderSize == 0,
            let page = try pages.file.beginning(format.pageSize),
            page.starts(with: FileKind.magic) == (format.plaintextHeaderSize > 0),
            // The header in a log would not be looked at.
            try format.plaintextHeaderSize == 0 || pages.writeAheadLog?.size() ?? 0 == 0
        else { return nil }
        let key = try derive(Array(page.prefix(CipherFormat.saltSize)))
        guard let proof = try FirstPageProof(page, key: key, format: format) else { return nil }
        return try identified(.opens(key, format)).map { ($0, proof) }
    }

    /// Finds the format in which a key is right: the one that the program expects, with any page size, or one of all others.
    private func identify(_ keys: DerivedKeys, _ expected: CipherFormat) throws -> VerifiedKey {
        var search = FormatSearch(preferred: [expected], iterations: configuration.searchedIterations)
        search.isWide =
            configuration.format?.isAny == true || !configuration.searchedIterations.isEmpty
            || configuration.searchesAllFormats
        let outcome = try probeAndRollBack { try $0.run(keys, search) }
        if configuration.format?.isAny != true, let format = outcome.format {
            let isExpected = (try? format.changed { $0.pageSize = expected.pageSize }) == expected
            guard isExpected else { throw keyError(.otherFormat, format: format) }
        }
        guard let found = try identified(outcome) else { throw try rejection(keys, search) }
        return found
    }

    /// The key of a file that the engine may open; nil if the key was rejected.
    private func identified(_ outcome: KeyProbe.Outcome) throws -> VerifiedKey? {
        guard let found = try authentication(by: outcome) else { return nil }
        switch found.damage {
        case .firstPage: throw KeyError.damage([1], of: filePath)
        case .header(let flaw): throw KeyError(.damaged, path: filePath, damagedPages: [1], detail: flaw)
        case .none, .sideFileUnderOtherKey, .sideFiles: break
        }
        let format = found.verifiedKey.format
        guard Engine.current.writes(format) else { throw keyError(.otherFormat, format: format) }
        return found.verifiedKey
    }

    /// That another connection has made or removed the file since this one opened it as a file without bytes: it is to be opened again.
    struct MadeMeanwhile: Error {}

    /// Closes the file, and opens what has its name now.
    func reopened() throws -> UnkeyedFile {
        close()
        return try UnkeyedFile(location, configuration, busyMilliseconds: busyMilliseconds, turn: connection.turn)
    }

    /// Keys a file without bytes, and writes its first page: until then any key would seem right.
    ///
    /// - Throws: ``MadeMeanwhile``.
    private func encryptNew(_ format: CipherFormat, _ derive: () throws -> VerifiedKey) throws -> VerifiedKey {
        guard Engine.current.canEncrypt else { throw keyError(.engineHasNoEncryption) }
        guard Engine.current.writes(format) else { throw keyError(.otherFormat, format: format) }
        try checkSideFiles()
        let verifiedKey = try derive()
        do {
            try keyEngine(verifiedKey) {
                try connection.execute("PRAGMA user_version = 0")
                try connection.testSelect()
            }
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            throw MadeMeanwhile()
        }
        guard !connection.hasMoved else { throw MadeMeanwhile() }
        guard try isEncrypted(verifiedKey) else {
            // Nothing but an empty schema was written so far, by this connection.
            removeIfCreated()
            throw keyError(.engineHasNoEncryption)
        }
        return verifiedKey
    }

    /// Whether the engine has written a new file under the key.
    private func isEncrypted(_ verifiedKey: VerifiedKey) throws -> Bool {
        guard verifiedKey.format.plaintextHeaderSize == 0 else {
            let page = try pages.read(verifiedKey.format.pageSize, at: 0)
            return try FirstPageProof(page, key: verifiedKey.key, format: verifiedKey.format) != nil
        }
        return try FileKind.recognise(pages) == .opaque
            && pages.read(CipherFormat.saltSize, at: 0) == verifiedKey.key.salt
    }
}

/// Sets the key of an opened file in the engine.
extension UnkeyedFile {
    /// - Parameters:
    ///   - proof: That the key opens the first page, where that was found out by it.
    ///   - body: Reads the first page by the engine, which derives the HMAC key then.
    func keyEngine(_ verifiedKey: VerifiedKey, _ proof: FirstPageProof? = nil, _ body: () throws -> Void) throws {
        let isAuthenticated = verifiedKey.format.pageAuthentication != nil
        if isAuthenticated, case .failure(let error) = DamageBehaviour.ofThisEngine { throw keyError(error.code) }
        let literal = try verifiedKey.key.literal()
        // 4.x writes each wrong key to standard error, unless told not to; what has no such setting ignores it.
        let settings = try "PRAGMA cipher_log_level = NONE;" + Engine.settings(of: verifiedKey.format)
        try Engine.keying.withLock { _ in
            try connection.settingDefaults(for: verifiedKey.format) { try connection.key(literal) }
            try connection.execute(settings)
        }
        connection.authorizer.isLockedDown = !configuration.unsafeAllowsAllSQL
        connection.setDefensive(!configuration.unsafeAllowsAllSQL)
        connection.isWatched = isAuthenticated
        try connection.watchFreshDatabase()
        if let proof { connection.keptContexts?.adopt(proof) }
        connection.readAhead(verifiedKey.format)
        connection.refuseZeros(verifiedKey)
        try connection.derivingMACKey(verifiedKey.format, body)
    }
}
