import CipherDB
import Rekeying

extension FileKeys {
    /// What is known of a repository to which a backup goes.
    ///
    /// - Parameter expected: The number that the newest generation has at least; nil for the one that the keyring has noted.
    func expectation(of repository: BackupRepository, atLeast expected: UInt64?, for file: String) throws
        -> ExpectedGeneration
    {
        guard let keyring = try unlockedKeyring() else { return try ExpectedGeneration(expected, otherKeys: []) }
        return try ExpectedGeneration(
            expected ?? noted(repository, in: keyring),
            otherKeys: allIfNamed(for: file) ?? []
        )
    }

    /// Of a repository that is to be made nothing is noted.
    private func noted(_ repository: BackupRepository, in keyring: UnlockedKeyring) throws -> UInt64? {
        do {
            return try repository.notedGeneration(in: keyring)
        } catch BackupError.notARepository {
            return nil
        }
    }
}
