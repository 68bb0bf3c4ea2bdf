package import CipherKeys
package import CipherPages
internal import CipherSystem
package import SQLiteFormat

/// A key that is right for a file, and the damage of the file.
package struct Authentication {
    package enum Damage {
        case none
        /// Without page 1 the engine cannot open the file.
        case firstPage
        /// The plaintext header contradicts the format, in these words: the engine must not write to the file.
        case header(String)
        /// The key is right for the file, and for no page of the journal or WAL that the engine would copy into it.
        case sideFileUnderOtherKey(SideFile)
        /// What in the journal or WAL, on which the engine would act, differs from what was written, a sentence each.
        case sideFiles([String])
    }

    package let verifiedKey: VerifiedKey
    package let damage: Damage
}

/// Trying keys, before the engine gets one.
extension UnkeyedFile {
    /// One look at page 1 by a key.
    typealias Probing = (KeyProbe) throws -> KeyProbe.Outcome

    /// Finds the format in which `key` is right for the file, and changes nothing.
    ///
    /// - Parameter progress: Called before each derivation with the number of those made and of those to be made at most.
    /// - Throws: ``KeyError``; ``DatabaseError``.
    package func authenticate(
        _ key: DatabaseKey,
        _ search: FormatSearch,
        progress: ((Int, Int) throws -> Void)? = nil
    ) throws -> Authentication {
        try checkMayBeEncrypted(kind)
        let keys = DerivedKeys(key, progress: progress.map { progress in { try progress($0, search.derivationCount) } })
        let outcome = try probe { try $0.run(keys, search) }.outcome
        guard let found = try authentication(by: outcome) else { throw try rejection(keys, search) }
        return Authentication(verifiedKey: found.verifiedKey, damage: try damageWithSideFiles(found))
    }

    /// What a look at page 1 says of the key and of that page; nil if the key was rejected.
    func authentication(by outcome: KeyProbe.Outcome) throws(KeyError) -> Authentication? {
        switch outcome {
        case .opens(let key, let format):
            return Authentication(verifiedKey: VerifiedKey(key: key, format: format), damage: .none)
        case .firstPageDamaged(let key, let format):
            return Authentication(verifiedKey: VerifiedKey(key: key, format: format), damage: .firstPage)
        case .headerDamaged(let key, let format, let flaw):
            return Authentication(verifiedKey: VerifiedKey(key: key, format: format), damage: .header("\(flaw)"))
        case .withoutMACs(let format): throw keyError(.withoutMACs, format: format)
        case .otherParameters(let format): throw otherParameters(format)
        case .otherMACKey(let isSaltOfKey): throw otherMACKey(isSaltOfKey: isSaltOfKey)
        case .otherCipher: throw keyError(.otherCipher)
        case .otherLayout: throw keyError(.otherLayout)
        case .rejected: return nil
        }
    }

    /// Why no format was found in which the key is right.
    func rejection(_ keys: DerivedKeys, _ search: FormatSearch) throws -> KeyError {
        if kind == .plaintext { return keyError(.notEncrypted) }
        guard try looksEncrypted() else { return keyError(.notADatabase) }
        if kind == .opaque, try FileKind.hasLayoutOfMultipleCiphers(pages) { return keyError(.otherLayout) }
        if kind == .plaintextHeader, keys.saltBesideFile == nil { return keyError(.saltMissing) }
        let extent = search.extent(isPassphrase: keys.isPassphrase)
        let tried = kind == .plaintextHeader ? "\(extent), with the salt that was given" : extent
        return KeyError(
            .wrongKey,
            path: filePath,
            detail: keys.spellsRawKey
                ? "\(tried); the passphrase reads as a raw key, and was not taken for one" : tried,
            isAboutRawKey: !keys.isPassphrase,
            spellsRawKey: keys.spellsRawKey
        )
    }

    /// The error of a format that was found only because the key decrypts page 1.
    private func otherParameters(_ format: CipherFormat) -> KeyError {
        let isDoubtful = format.plaintextHeaderSize == 0 && format.macSaltMask != CipherFormat.usualMask
        return KeyError(
            .otherFormat,
            path: filePath,
            format: format,
            detail: isDoubtful ? "if the file was not made so, somebody has altered its first 16 bytes, the salt" : nil
        )
    }

    /// The error of a key that decrypts page 1, and makes no right MAC.
    private func otherMACKey(isSaltOfKey: Bool) -> KeyError {
        KeyError(
            .otherMACKey,
            path: filePath,
            detail: isSaltOfKey
                ? "the salt that the key brings, its last 32 digits, is not the file's: without it the key opens the file"
                : "the salt is another than the file was made with, or cipher_hmac_salt_mask or fast_kdf_iter is; or page 1 is damaged, and "
                    + "there is no other page"
        )
    }

    /// Throws for a file that no key opens, as it looks.
    package func checkMayBeEncrypted(_ kind: FileKind) throws(KeyError) {
        switch kind {
        case .plaintext:
            guard (try? PlaintextHeader.mayBeWholePage(of: pages)) == true else { throw keyError(.notEncrypted) }
        case .empty, .tooShort: throw keyError(.notADatabase)
        case .opaque, .plaintextHeader: break
        }
    }

    /// Tries a key, after it let the engine roll back what that needs.
    func probeAndRollBack(largestPage: Int = 65536, _ probing: Probing) throws -> KeyProbe.Outcome {
        let (outcome, neededRollback) = try probe(largestPage: largestPage, probing)
        guard let neededRollback else { return outcome }
        try rollBack(neededRollback)
        return try probeFirstPage(largestPage: largestPage, probing)
    }

    /// Tries a key without changing anything.
    ///
    /// If page 1 is not authentic and there is a journal, its page 1 is tried: what stands in the file after a crash may be neither
    /// the old nor the new. Only for a key that fits there is a rollback needed.
    private func probe(
        largestPage: Int = 65536,
        _ probing: Probing
    ) throws -> (outcome: KeyProbe.Outcome, neededRollback: VerifiedKey?) {
        let outcome = try probeFirstPage(largestPage: largestPage, probing)
        if case .opens = outcome { return (outcome, nil) }
        guard let file = pages.rollbackJournal, let journal = try RollbackJournal(file),
            let firstPage = try journal.firstPage()
        else { return (outcome, nil) }
        let ofJournal = try probing(KeyProbe(firstPage: firstPage))
        guard case .opens(let key, let format) = ofJournal else { return (outcome, nil) }
        return (ofJournal, VerifiedKey(key: key, format: format))
    }

    private func probeFirstPage(largestPage: Int, _ probing: Probing) throws -> KeyProbe.Outcome {
        // A page that was read while it was written is read again; a writer that never rests must not keep a wrong key here.
        var attempts = 5
        while true {
            let look = { [pages] in
                try KeyProbe(database: pages, log: pages.writeAheadLog, largestPage: largestPage)
            }
            let probe = try isImmutable ? look() : pages.file.locked(waiting: busyMilliseconds, look)
            let outcome = try probing(probe)
            if case .opens = outcome { return outcome }
            attempts -= 1
            if try attempts == 0 || !probe.isOutdated() { return outcome }
        }
    }

    /// Lets the engine roll back what the journal holds, which it does before it looks at any page. A journal that another
    /// connection is writing is left to it.
    private func rollBack(_ verifiedKey: VerifiedKey) throws {
        guard flags.contains(.readWrite) else {
            throw DatabaseError(
                .readOnly,
                "a hot journal must be rolled back: open the database for writing once"
            )
        }
        guard Engine.current.writes(verifiedKey.format) else { return }
        let file = try UnkeyedFile(
            DatabaseLocation(connection.filename, .readWrite),
            configuration,
            busyMilliseconds: busyMilliseconds
        )
        defer { file.close() }
        do {
            try file.keyEngine(verifiedKey) { try file.connection.testSelect() }
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            // The journal was not of this file. The probe that follows says what is left.
        }
    }
}
