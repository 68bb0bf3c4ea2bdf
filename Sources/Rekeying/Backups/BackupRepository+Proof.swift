public import CipherBackup
public import CipherDB
internal import CipherKeys
internal import CipherPages

extension BackupRepository {
    /// Reads all objects, compares all with their digests, and proves by keys the generations that are under them: the manifest and every
    /// page must have the right MAC.
    ///
    /// - Parameters:
    ///   - keys: Keys of the database: the one that it has, and others that it had.
    ///   - format: As `DatabaseFile.format`.
    ///   - iterations: PBKDF2 iterations to try besides the usual ones.
    ///   - expected: The number that the newest generation has at least; nil for any.
    ///   - progress: Called for each segment with the bytes done and all; what it throws ends the check.
    /// - Throws: `BackupError` where there is no repository, and `BackupError.otherKey` where no key opens the newest generation. What is
    ///   wrong in the repository is returned.
    public func check(
        provingBy keys: [DatabaseKey],
        format: CipherFormat? = nil,
        iterations: [Int] = [],
        atLeast expected: UInt64? = nil,
        progress: (Int64, Int64) throws -> Void = { _, _ in }
    ) throws -> RepositoryCheck {
        var file = DatabaseFile(path: "")
        (file.configuration.format, file.iterations, file.configuration.searchedIterations) = (
            format, iterations.first, Array(iterations.dropFirst())
        )
        return try check(provingBy: keys, of: file, atLeast: expected, keyring: nil, progress: progress)
    }

    /// As ``check(provingBy:format:iterations:atLeast:progress:)``.
    ///
    /// - Parameters:
    ///   - file: Says what is known of the format.
    ///   - keyring: Whose keys these are: it must have those of all generations.
    package func check(
        provingBy keys: [DatabaseKey],
        of file: DatabaseFile,
        atLeast expected: UInt64?,
        keyring: UnlockedKeyring?,
        progress: (Int64, Int64) throws -> Void
    ) throws -> RepositoryCheck {
        let search = try file.search()
        let keys = keys.map { DerivedKeys($0) }
        return try check(
            atLeast: expected,
            keyOf: { head in
                let probe = KeyProbe(firstPage: head)
                for key in keys {
                    if case .opens(let derived, let format) = try probe.run(key, search) { return (derived, format) }
                }
                return nil
            },
            keyring: keyring,
            progress: progress
        )
    }
}
