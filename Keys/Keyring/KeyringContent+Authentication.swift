/// The MACs under the master key: of the file, and of the record in the database.
extension KeyringContent {
    /// The file: all that ``encoded()`` gives, and the code.
    func sealed(_ masterKey: SecretBytes) throws -> [UInt8] {
        let bytes = try encoded()
        let file = bytes + (try code(bytes, masterKey))
        // What cannot be read must not take the place of what can.
        guard (try? KeyringContent(file)) == self else { throw KeyringError(.full) }
        return file
    }

    /// Throws where `file`, of which this is the content, has another code.
    func authenticate(_ file: [UInt8], _ masterKey: SecretBytes) throws {
        let end = file.count - KeyringContent.codeSize
        let expected = try code(Array(file[..<end]), masterKey)
        let isRight = expected.withUnsafeBytes { expected in
            file[end...].withUnsafeBytes { OpenSSL.constantTimeEqual($0, expected) }
        }
        guard isRight else { throw KeyringError(.altered) }
    }

    /// What proves to a holder of a secret that a database was used with this generation.
    static func recordMAC(_ identifier: [UInt8], _ generation: UInt64, _ masterKey: SecretBytes) throws -> [UInt8] {
        let number = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        return try hkdf(masterKey, identifier, "generation", number, count: 32).withUnsafeBytes { Array($0) }
    }

    private func code(_ bytes: [UInt8], _ masterKey: SecretBytes) throws -> [UInt8] {
        let key = try KeyringContent.hkdf(masterKey, identifier, "authentication", count: KeyringContent.codeSize)
        return try key.withUnsafeBytes { try OpenSSL.hmac(.sha512, key: $0, bytes) }
    }
}
