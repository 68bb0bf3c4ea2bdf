internal import CipherSystem
internal import SQLiteFormat

extension Database {
    /// Copies this whole database to a new file, while others may go on using this one.
    ///
    /// - Parameters:
    ///   - path: The copy's path; no file may exist there.
    ///   - key: The key of the copy; nil for the same. A database without encryption can be given one by
    ///     ``backup(to:pagesPerStep:decrypting:progress:)``.
    ///   - pagesPerStep: How many pages a step copies; between two of them others can write.
    ///   - progress: Called after each step; what it throws ends the backup.
    /// - Throws: ``DatabaseError``, ``KeyError``, what `progress` throws; no file is left then.
    public func backup(
        to path: String,
        key: DatabaseKey? = nil,
        pagesPerStep: Int = 256,
        progress: (BackupProgress) throws -> Void = { _ in }
    ) throws {
        guard (try? Platform.statusOfLink(path)) == nil else {
            throw DatabaseError(.cannotOpen, "\(path): exists already; a backup replaces nothing")
        }
        let isOuter = try turn.enter()
        defer { turn.leave(isOuter) }
        _ = try usableConnection()
        let verifiedKey = verifiedKey
        let copy = Database(
            path: path,
            configuration: Configuration {
                if let format = verifiedKey?.format { $0.format = format }
                $0.allowsPlaintext = verifiedKey == nil
            }
        )
        do {
            try copy.open()
            if let verifiedKey {
                if let key { try copy.setKey(key) } else { try copy.unlock(verifiedKey, makesNew: true) }
                try copy.allowKeyringRecord()
            } else if key != nil {
                throw DatabaseError(
                    .misuse,
                    "the database is plaintext, and a backup does not encrypt it; encrypt it by `rekey encrypt` or DatabaseFile.encrypt"
                )
            }
            try backup(to: copy, pagesPerStep: pagesPerStep, progress: progress)
            copy.close()
        } catch {
            copy.close()
            for file in [path] + SideFile.allCases.map({ $0.path(of: path) }) { try? Platform.remove(file) }
            throw error
        }
    }
}
