package import CipherKeys

/// The formats that are tried on a file with a key, in a fixed order.
///
/// One derivation of a passphrase covers all page sizes, MACs and headers; so the order is by derivations.
package struct FormatSearch: Sendable {
    /// Tried first. Where one of them has no MACs, a file without MACs is accepted; see ``accepts(_:)``.
    package var preferred: [CipherFormat]
    /// PBKDF2 iterations to try besides the usual ones.
    package var iterations: [Int]

    /// Whether a passphrase is derived with each hash and number of iterations, nine times; else as the four standard formats do it, where
    /// two of the three derivations take a quarter of the time of the first one together.
    package var isWide = true

    /// Whether a file of format 1, which never had MACs, is accepted without being named.
    package var acceptsFormat1: Bool

    package init(preferred: [CipherFormat], iterations: [Int] = [], acceptsFormat1: Bool = true) {
        self.preferred = preferred
        self.iterations = iterations
        self.acceptsFormat1 = acceptsFormat1
    }

    /// Those of the four standard formats.
    package static let usualIterations = [256_000, 64_000, 4000]

    /// All formats to try with a key of a kind, each with the page size that is tried first.
    ///
    /// Under a raw key nothing tells a file without MACs from a forgery, nor another mask from a damaged salt; see SECURITY.md.
    package func formats(isPassphrase: Bool) -> [CipherFormat] {
        let given = FormatSearch.derivations(counts: iterations).flatMap(FormatSearch.variants)
        let usual = derivations(isPassphrase).flatMap(FormatSearch.variants)
        var known: Set<CipherFormat> = []
        let searched = (given + CipherFormat.standard + usual).filter {
            // Under a raw key another hash for the HMAC key is the same as another hash of the KDF.
            isPassphrase || $0.pageAuthentication != nil && $0.macKeyDerivation == nil && $0.hasUsualMask
        }
        return (preferred + searched).filter { known.insert($0).inserted }
    }

    /// How often a passphrase is derived at most; a file with a plaintext header has two salts.
    package var derivationCount: Int {
        let formats = formats(isPassphrase: true)
        return formats.indices.count { index in
            !formats[..<index].contains { $0.hasSameDerivation(as: formats[index]) }
        }
    }

    /// The format with the parameters of the HMAC key that are searched for under a raw key.
    package static func formatFoundUnderRawKey(_ format: CipherFormat) throws -> CipherFormat {
        try format.changed {
            $0.macSaltMask = CipherFormat.usualMask
            $0.macKeyIterations = CipherFormat.usualMACKeyIterations
        }
    }

    /// Whether a file of a format that was found may be used.
    ///
    /// Somebody without the key can remove the MACs of a file, by moving the IV of each page. So a file without MACs must be named,
    /// but for those of SQLCipher 1, which never had MACs.
    package func accepts(_ format: CipherFormat) -> Bool {
        format.pageAuthentication != nil || preferred.contains { $0.pageAuthentication == nil }
            || acceptsFormat1 && (try? format.changed { $0.pageSize = CipherFormat.v1.pageSize }) == .v1
    }

    /// What was tried, for the error of a key that opens nothing.
    package func extent(isPassphrase: Bool) -> String {
        guard isPassphrase else {
            return "tried SHA-1, SHA-256 and SHA-512 with every page size, as a raw key"
        }
        guard isWide else { return "tried the formats of SQLCipher 1 to 4; CipherFormat.any searches for others" }
        let counts = Set(FormatSearch.usualIterations + iterations)
        let list = counts.sorted().map(String.init).joined(separator: ", ")
        return "tried \(3 * counts.count) combinations: SHA-1, SHA-256 and SHA-512 with \(list) iterations"
    }

    /// The hashes, the usual one first.
    private static let hashes: [HashAlgorithm] = [.sha512, .sha1, .sha256]

    private func derivations(_ isPassphrase: Bool) -> [(HashAlgorithm, Int)] {
        guard isPassphrase else { return FormatSearch.underRawKey }
        guard isWide else { return [CipherFormat.v4, .v3, .v2].map { ($0.keyDerivation, $0.iterations) } }
        return FormatSearch.derivations(counts: FormatSearch.usualIterations)
    }

    /// The number has no effect under a raw key; the standard one is reported.
    private static let underRawKey: [(HashAlgorithm, Int)] = [(.sha512, 256_000), (.sha1, 64_000), (.sha256, 256_000)]

    /// A format as it is found under a raw key, which does not depend on the iterations.
    package static func formatUnderRawKey(_ format: CipherFormat) -> CipherFormat {
        let count = underRawKey.first { $0.0 == format.keyDerivation }?.1 ?? format.iterations
        return (try? format.changed { $0.iterations = count }) ?? format
    }

    private static func derivations(counts: [Int]) -> [(HashAlgorithm, Int)] {
        counts.flatMap { count in hashes.map { ($0, count) } }
    }

    /// The formats that have one derivation, the likely ones first.
    private static func variants(_ hash: HashAlgorithm, _ iterations: Int) -> [CipherFormat] {
        let base = base(hash, iterations)
        let macs = [hash] + hashes.filter { $0 != hash }
        var formats = [PageNumberOrder.littleEndian, .bigEndian].flatMap { order in
            [CipherFormat.usualMask, 0].flatMap { mask in
                macs.compactMap { mac in
                    try? base.changed {
                        $0.pageAuthentication = mac
                        $0.pageNumberOrder = order
                        $0.macSaltMask = mask
                    }
                }
            }
        }
        formats += macs.dropFirst().compactMap { mac in
            try? base.changed {
                $0.pageAuthentication = mac
                $0.macKeyDerivation = mac
            }
        }
        if hash == .sha1, iterations == CipherFormat.v2.iterations,
            let beta = try? base.changed({
                // SQLCipher 2.0 beta.
                $0.macSaltMask = 0
                $0.macKeyIterations = 4000
            })
        {
            formats.append(beta)
        }
        let isFirst = (hash, iterations) == (CipherFormat.v1.keyDerivation, CipherFormat.v1.iterations)
        if let unauthenticated = isFirst ? .v1 : try? base.changed({ $0.pageAuthentication = nil }) {
            formats.append(unauthenticated)
        }
        return formats
    }

    /// The standard format that a derivation is the nearest to, with its hash and iterations.
    private static func base(_ hash: HashAlgorithm, _ iterations: Int) -> CipherFormat {
        let nearest: CipherFormat = hash == .sha1 ? (iterations == CipherFormat.v2.iterations ? .v2 : .v3) : .v4
        let changed = try? nearest.changed {
            $0.keyDerivation = hash
            $0.iterations = iterations
        }
        return changed ?? nearest
    }
}

extension CipherFormat {
    fileprivate var hasUsualMask: Bool { macSaltMask == CipherFormat.usualMask }
}
