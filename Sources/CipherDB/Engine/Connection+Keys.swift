internal import CSQLCipher
internal import CipherKeys
internal import CipherPages

/// Keys are handed to the engine here and nowhere else.
extension Connection {
    /// Hands over the key. The engine copies it and does not look at the file.
    func key(_ literal: SecretBytes) throws {
        countsWrongMACs = Provider.isInUse
        let receiver = ProviderFunctions.Receiver()
        let code = try ProviderFunctions.$receiver.withValue(receiver) {
            try literal.withUnsafeBytes { key in
                working { csqlcipher_key(handle, key.baseAddress, Int32(key.count)) }
            }
        }
        try check(code)
        keptContexts = receiver.contexts
    }

    /// Has the MACs of pages that are read in sequence computed side by side, where that is possible.
    func readAhead(_ format: CipherFormat) {
        guard let keptContexts, let file = try? EngineFile(self) else { return }
        keptContexts.readAhead(format, by: file.reader)
    }

    /// Re-encrypts the whole file. OK is answered also where nothing was done, and after a failure the handle would write
    /// pages that no key opens: close it whatever this returns.
    func rekey(_ literal: SecretBytes) throws -> DatabaseError? {
        let code = try literal.withUnsafeBytes { key in
            working { csqlcipher_rekey(handle, key.baseAddress, Int32(key.count)) }
        }
        return code == SQLITE_OK ? nil : error(code)
    }

    /// Attaches a file; a key without bytes stands for plaintext.
    func attach(_ path: String, _ name: String, _ key: SecretBytes) throws {
        countsWrongMACs = countsWrongMACs && Provider.isInUse
        guard let (statement, _) = try prepare("ATTACH ? AS ? KEY ?") else { return }
        defer { statement.finalize() }
        try path.pathBytes.withUnsafeBytes { try statement.bind(utf8: $0, at: 1) }
        try statement.bind(name, at: 2)
        try key.withUnsafeBytes { key in
            try statement.bind(secret: key, at: 3)
            _ = try statement.step()
        }
    }
}
