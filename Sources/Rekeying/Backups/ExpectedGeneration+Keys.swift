package import CipherBackup
package import CipherDB

extension ExpectedGeneration {
    /// What a keyring knows of a repository to which a backup goes: the generation that was noted, which any key of it may prove.
    ///
    /// - Parameter number: In place of what was noted.
    package init(of repository: BackupRepository, _ keyring: UnlockedKeyring?, atLeast number: UInt64?) throws {
        guard let keyring else {
            self.init(number, derivedKeys: [])
            return
        }
        var noted: UInt64?
        do {
            noted = try number ?? repository.notedGeneration(in: keyring)
        } catch BackupError.notARepository {
            // Of one that is to be made nothing is noted.
        }
        self.init(noted, derivedKeys: try ExpectedGeneration.keys(keyring.copy().keys))
    }
}
