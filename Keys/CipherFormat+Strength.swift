internal import CipherSystem

/// What of a format is weaker than it could be.
extension CipherFormat {
    /// A parameter whose value makes a format weaker.
    package enum Weakness: Hashable, Sendable {
        case iterations
        case keyDerivation
        case pageAuthentication
        case plaintextHeaderSize
    }

    /// The parameters in which this format is weaker than `other`.
    package func weaknesses(beside other: CipherFormat) -> [Weakness] {
        var found: [Weakness] = []
        if keyDerivation.isShorter(than: other.keyDerivation) { found.append(.keyDerivation) }
        // One iteration of a longer hash takes longer: as many are not weaker, and its standard number is enough.
        let isLonger = other.keyDerivation.isShorter(than: keyDerivation)
        let standard = keyDerivation == .sha1 ? CipherFormat.v3.iterations : CipherFormat.v4.iterations
        if iterations < (isLonger ? min(standard, other.iterations) : other.iterations) { found.append(.iterations) }
        switch (pageAuthentication, other.pageAuthentication) {
        case (nil, .some): found.append(.pageAuthentication)
        case (let mine?, let others?) where mine.isShorter(than: others): found.append(.pageAuthentication)
        default: break
        }
        if plaintextHeaderSize > max(CipherFormat.harmlessHeader, other.plaintextHeaderSize) {
            found.append(.plaintextHeaderSize)
        }
        return found
    }

    /// The pragmas by which the version's own format is stronger than this one.
    package func strongerSettings(isPassphrase: Bool) -> [String] {
        let own = own
        return weaknesses(beside: own).compactMap { weakness in
            switch weakness {
            case .iterations: isPassphrase ? "kdf_iter = \(own.iterations)" : nil
            case .keyDerivation: isPassphrase ? "kdf_algorithm = \(own.keyDerivation.rawValue)" : nil
            case .pageAuthentication: own.pageAuthentication.map { "hmac_algorithm = \($0.rawValue)" }
            case .plaintextHeaderSize: "plaintext_header = \(own.plaintextHeaderSize)"
            }
        }
    }

    /// 32 bytes: the magic string, the page size, the change counter and the number of pages.
    private static let harmlessHeader = 32

    /// Throws for a format that is weaker than its version's own in what no `unsafe…` property allowed.
    package func checkMayBeWritten() throws(UnusableCipherFormat) {
        try refuse(weaknesses(beside: own))
    }

    /// Throws for a change of `former` that makes it weaker than its version's own in what no `unsafe…` property allowed.
    func checkChange(of former: CipherFormat) throws(UnusableCipherFormat) {
        let found = weaknesses(beside: former)
        try refuse(weaknesses(beside: former.own).filter { found.contains($0) })
    }

    /// Throws for a format that is weaker than `present` in some way.
    package func checkNotWeaker(than present: CipherFormat) throws(UnusableCipherFormat) {
        let found = weaknesses(beside: present).map { $0.text(of: self) }
        guard found.isEmpty else { throw .weaker(found.joined(separator: ", "), than: present) }
    }

    private func refuse(_ weaknesses: [Weakness]) throws(UnusableCipherFormat) {
        guard let weakness = weaknesses.first(where: { !allowedWeaknesses.contains($0) }) else { return }
        throw .weak(weakness.text(of: self), property: weakness.property)
    }
}

extension CipherFormat.Weakness {
    /// The value in a format.
    fileprivate func text(of format: CipherFormat) -> String {
        switch self {
        case .iterations: "\(format.iterations.counted("iteration")) of PBKDF2"
        case .keyDerivation: "PBKDF2-HMAC-\(format.keyDerivation.rawValue)"
        case .pageAuthentication: format.pageAuthentication.map { "HMAC-\($0.rawValue) for pages" } ?? "no MACs"
        case .plaintextHeaderSize: "a plaintext header of \(format.plaintextHeaderSize) bytes"
        }
    }

    /// The property that allows it.
    var property: String {
        switch self {
        case .iterations: "unsafeIterations"
        case .keyDerivation: "unsafeKeyDerivation"
        case .pageAuthentication: "unsafePageAuthentication"
        case .plaintextHeaderSize: "unsafePlaintextHeaderSize"
        }
    }
}

extension HashAlgorithm {
    fileprivate func isShorter(than other: HashAlgorithm) -> Bool { digestSize < other.digestSize }
}
