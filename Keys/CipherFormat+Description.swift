extension CipherFormat: CustomStringConvertible {
    /// Such as `SQLCipher 4 (pages of 4096 bytes)`; also what differs from the version's own format.
    public var description: String {
        if isAny { return "any format" }
        return "SQLCipher \(version) (\((["pages of \(pageSize) bytes"] + differences).joined(separator: ", ")))"
    }

    /// The parameters other than the page size that are not the version's own, as text.
    package var differences: [String] {
        let own = own
        var texts: [String] = []
        if keyDerivation != own.keyDerivation { texts.append("PBKDF2-HMAC-\(keyDerivation)") }
        if iterations != own.iterations { texts.append("\(iterations) iterations") }
        if pageAuthentication != own.pageAuthentication {
            texts.append(pageAuthentication.map { "HMAC-\($0)" } ?? "no MACs")
        }
        if pageNumberOrder != own.pageNumberOrder { texts.append("big-endian page numbers in the MACs") }
        if macSaltMask != own.macSaltMask { texts.append("HMAC salt mask 0x\(hexadecimalMask)") }
        if macKeyIterations != own.macKeyIterations { texts.append("\(macKeyIterations) iterations for the HMAC key") }
        if let macKeyDerivation, macKeyDerivation != keyDerivation {
            texts.append("HMAC key by PBKDF2-HMAC-\(macKeyDerivation)")
        }
        if plaintextHeaderSize > 0 { texts.append("plaintext header of \(plaintextHeaderSize) bytes") }
        return texts
    }

    /// The mask in two digits.
    package var hexadecimalMask: String {
        let digits = String(macSaltMask, radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// The Swift expression that gives this format, for a program that opens a file of it.
    package var expression: String {
        if isAny { return ".any" }
        let own = own
        var arguments: [String] = version == 4 ? [] : ["version: \(version)"]
        if pageSize != own.pageSize { arguments.append("pageSize: \(pageSize)") }
        if iterations != own.iterations { arguments.append("iterations: \(iterations)") }
        if keyDerivation != own.keyDerivation { arguments.append("keyDerivation: .\(keyDerivation)") }
        if pageAuthentication != own.pageAuthentication {
            arguments.append("pageAuthentication: \(pageAuthentication.map { ".\($0)" } ?? ".some(nil)")")
        }
        if pageNumberOrder != own.pageNumberOrder { arguments.append("pageNumberOrder: .\(pageNumberOrder)") }
        if macSaltMask != own.macSaltMask { arguments.append("macSaltMask: 0x\(hexadecimalMask)") }
        if macKeyIterations != own.macKeyIterations { arguments.append("macKeyIterations: \(macKeyIterations)") }
        if let macKeyDerivation, macKeyDerivation != keyDerivation {
            arguments.append("macKeyDerivation: .\(macKeyDerivation)")
        }
        if plaintextHeaderSize > 0 { arguments.append("plaintextHeaderSize: \(plaintextHeaderSize)") }
        let isOwn = arguments.isEmpty || arguments == ["version: \(version)"]
        return isOwn ? ".v\(version)" : "try .ofFile(\(arguments.joined(separator: ", ")))"
    }
}
