internal import CipherSystem

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
        let size = pageSize == own.pageSize ? [] : ["pageSize = \(pageSize)"]
        let settings = (size + deviations.map(\.setting)).map { "$0.\($0)" }
        if settings.isEmpty { return ".v\(version)" }
        return "try CipherFormat(.v\(version)) { \(settings.joined(separator: "; ")) }"
    }

    /// The mask in two digits.
    package var hexadecimalMask: String { [macSaltMask].hexadecimal }

    /// The parameters that are not the version's own, as pragmas of SQLCipher.
    package var pragmas: [(name: String, value: String)] { deviations.compactMap(\.pragma) }

    /// A parameter that is not the version's own.
    private typealias Deviation = (text: String, setting: String, pragma: (name: String, value: String)?)

    /// What is not the version's own: as text, as a setting of ``CipherFormat/Parameters``, and as a pragma.
    private var deviations: [Deviation] {
        let own = own
        let weak = weaknesses(beside: own)
        func setting(_ weakness: Weakness, _ name: String) -> String {
            weak.contains(weakness) ? weakness.property : name
        }
        var found: [Deviation] = []
        if iterations != own.iterations {
            let pragma = ("kdf_iter", "\(iterations)")
            found.append(
                (iterations.counted("iteration"), "\(setting(.iterations, "iterations")) = \(iterations)", pragma)
            )
        }
        if keyDerivation != own.keyDerivation {
            let pragma = ("cipher_kdf_algorithm", "\(keyDerivation)")
            found.append(
                (
                    "PBKDF2-HMAC-\(keyDerivation.rawValue)",
                    "\(setting(.keyDerivation, "keyDerivation")) = .\(keyDerivation)", pragma
                )
            )
        }
        if pageAuthentication != own.pageAuthentication {
            let hash = pageAuthentication.map { ".\($0)" } ?? "nil"
            let text = pageAuthentication.map { "HMAC-\($0.rawValue)" } ?? "no MACs"
            let pragma = ("cipher_hmac_algorithm", pageAuthentication.map { "\($0)" } ?? "none")
            found.append((text, "\(setting(.pageAuthentication, "pageAuthentication")) = \(hash)", pragma))
        }
        if pageNumberOrder != own.pageNumberOrder {
            let pragma = ("cipher_hmac_pgno", pageNumberOrder.rawValue)
            found.append(("big-endian page numbers in the MACs", "pageNumberOrder = .\(pageNumberOrder)", pragma))
        }
        if macSaltMask != own.macSaltMask {
            let (mask, pragma) = (hexadecimalMask, ("cipher_hmac_salt_mask", hexadecimalMask))
            found.append(("HMAC salt mask 0x\(mask)", "macSaltMask = 0x\(mask)", pragma))
        }
        if macKeyIterations != own.macKeyIterations {
            let text = "\(macKeyIterations.counted("iteration")) for the HMAC key"
            found.append((text, "macKeyIterations = \(macKeyIterations)", ("fast_kdf_iter", "\(macKeyIterations)")))
        }
        if let macKeyDerivation, macKeyDerivation != keyDerivation {
            let text = "HMAC key by PBKDF2-HMAC-\(macKeyDerivation.rawValue)"
            found.append((text, "macKeyDerivation = .\(macKeyDerivation)", nil))
        }
        if plaintextHeaderSize > 0 {
            let text = "plaintext header of \(plaintextHeaderSize) bytes"
            let pragma = ("cipher_plaintext_header_size", "\(plaintextHeaderSize)")
            found.append(
                (text, "\(setting(.plaintextHeaderSize, "plaintextHeaderSize")) = \(plaintextHeaderSize)", pragma)
            )
        }
        return found
    }
}
