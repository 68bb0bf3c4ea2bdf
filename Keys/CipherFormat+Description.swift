extension CipherFormat: CustomStringConvertible {
    /// Such as `SQLCipher 4 (pages of 4096 bytes)`; also what differs from the version's own format.
    public var description: String {
        if isAny { return "any format" }
        return "SQLCipher \(version) (\((["pages of \(pageSize) bytes"] + differences).joined(separator: ", ")))"
    }

    /// The parameters other than the page size that are not the version's own, as text.
    package var differences: [String] { deviations.map(\.text) }

    /// The Swift expression that gives this format, for a program that opens a file of it.
    package var expression: String {
        if isAny { return ".any" }
        let size = pageSize == own.pageSize ? [] : ["pageSize: \(pageSize)"]
        let arguments = size + deviations.map(\.argument)
        if arguments.isEmpty { return ".v\(version)" }
        let versions = version == CipherFormat.v4.version ? [] : ["version: \(version)"]
        return "try .ofFile(\((versions + arguments).joined(separator: ", ")))"
    }

    /// The mask in two digits.
    package var hexadecimalMask: String {
        let digits = String(macSaltMask, radix: 16)
        return digits.count < 2 ? "0" + digits : digits
    }

    /// Such as `64000 iterations`.
    static func counted(_ iterations: Int) -> String { "\(iterations) iteration\(iterations == 1 ? "" : "s")" }

    /// What is not the version's own, as text and as an argument of `ofFile`, in the order of its parameters.
    private var deviations: [(text: String, argument: String)] {
        let own = own
        var found: [(text: String, argument: String)] = []
        if iterations != own.iterations {
            found.append((CipherFormat.counted(iterations), "iterations: \(iterations)"))
        }
        if keyDerivation != own.keyDerivation {
            found.append(("PBKDF2-HMAC-\(keyDerivation.rawValue)", "keyDerivation: .\(keyDerivation)"))
        }
        if pageAuthentication != own.pageAuthentication {
            let hash = pageAuthentication.map { ".\($0)" } ?? ".some(nil)"
            let text = pageAuthentication.map { "HMAC-\($0.rawValue)" } ?? "no MACs"
            found.append((text, "pageAuthentication: \(hash)"))
        }
        if pageNumberOrder != own.pageNumberOrder {
            found.append(("big-endian page numbers in the MACs", "pageNumberOrder: .\(pageNumberOrder)"))
        }
        if macSaltMask != own.macSaltMask {
            found.append(("HMAC salt mask 0x\(hexadecimalMask)", "macSaltMask: 0x\(hexadecimalMask)"))
        }
        if macKeyIterations != own.macKeyIterations {
            let text = "\(CipherFormat.counted(macKeyIterations)) for the HMAC key"
            found.append((text, "macKeyIterations: \(macKeyIterations)"))
        }
        if let macKeyDerivation, macKeyDerivation != keyDerivation {
            found.append(
                ("HMAC key by PBKDF2-HMAC-\(macKeyDerivation.rawValue)", "macKeyDerivation: .\(macKeyDerivation)")
            )
        }
        if plaintextHeaderSize > 0 {
            let text = "plaintext header of \(plaintextHeaderSize) bytes"
            found.append((text, "plaintextHeaderSize: \(plaintextHeaderSize)"))
        }
        return found
    }
}
