package import CipherBackup
package import CipherDB

extension ExpectedGeneration {
    /// What is known of a repository whose generations any key of a keyring may prove.
    ///
    /// - Parameter number: In place of what the keyring has noted.
    package init(_ keyring: UnlockedKeyring?, atLeast number: UInt64?) throws {
        self.init(number, derivedKeys: try keyring.map { try ExpectedGeneration.keys($0.copy().keys) } ?? [])
    }
}
