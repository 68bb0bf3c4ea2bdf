package import CipherBackup
package import CipherDB
internal import CipherKeys

extension ExpectedGeneration {
    /// - Parameters:
    ///   - number: That of the newest generation at least; nil where it is not known, 0 where any is accepted.
    ///   - otherKeys: Of a keyring: one of them may prove that generation. Passphrases are left out.
    package init(_ number: UInt64?, otherKeys: [DatabaseKey]) throws {
        self.init(number, derivedKeys: try ExpectedGeneration.keys(otherKeys))
    }

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

    /// The salt does not matter to what authenticates manifests.
    static func keys(_ keys: [DatabaseKey]) throws -> [DerivedKey] {
        try keys.filter { !$0.isPassphrase }.map { key in
            try key.derive(salt: [UInt8](repeating: 0, count: CipherFormat.saltSize), format: .v4)
        }
    }
}
