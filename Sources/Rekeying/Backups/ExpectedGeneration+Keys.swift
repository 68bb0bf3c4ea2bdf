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

    /// The salt does not matter to what authenticates manifests.
    static func keys(_ keys: [DatabaseKey]) throws -> [DerivedKey] {
        try keys.filter { !$0.isPassphrase }.map { key in
            try key.derive(salt: [UInt8](repeating: 0, count: CipherFormat.saltSize), format: .v4)
        }
    }
}
