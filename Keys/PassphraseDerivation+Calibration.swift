extension PassphraseDerivation {
    /// Measures this machine, and gives parameters with which a derivation takes about `duration` here; never below OWASP's
    /// figures, nor above what any file may cost.
    ///
    /// - Parameter function: The function whose parameters are to be found; those that it has do not matter.
    /// - Throws: ``UnusablePassphraseDerivation/unavailable(_:)``.
    public static func calibrated(
        for duration: Duration = .milliseconds(250),
        _ function: Function = PassphraseDerivation.standard.function
    ) throws -> PassphraseDerivation {
        let sample = PassphraseDerivation(checked: smallest(function))
        let secret = try SecretBytes.random(count: 16)
        let clock = ContinuousClock()
        let measure = { try clock.measure { _ = try sample.derive(secret, salt: Array(repeating: 7, count: 16)) } }
        var shortest = try measure()
        // The shortest of three, as other work slows some of them down; one where it is far too long already.
        if shortest < duration * 4 { for _ in 0..<2 { shortest = min(shortest, try measure()) } }
        let factor = duration / shortest
        return PassphraseDerivation(checked: sample.scaled(by: factor))
    }

    /// The least of its kind that is not weak; of PBKDF2 with SHA-512 what SQLCipher 4 does.
    private static func smallest(_ function: Function) -> Function {
        switch function {
        case .pbkdf2SHA256: .pbkdf2SHA256(iterations: 600_000)
        case .pbkdf2SHA512: PassphraseDerivation.pbkdf2.function
        case .scrypt: .scrypt(logCost: 14, blockSize: 8, parallelism: 5)
        case .argon2id: .argon2id(kibibytes: 19 << 10, passes: 2, lanes: 1)
        }
    }

    /// `factor` times the work, within the bounds; memory first.
    private func scaled(by factor: Double) -> Function {
        let factor = min(max(1, factor), Double(PassphraseDerivation.mostWork) / Double(work))
        func times(_ number: Int, _ factor: Double) -> Int { max(number, Int(Double(number) * factor)) }
        switch function {
        // Figures that people can read.
        case .pbkdf2SHA256(let iterations): return .pbkdf2SHA256(iterations: times(iterations, factor) / 1000 * 1000)
        case .pbkdf2SHA512(let iterations): return .pbkdf2SHA512(iterations: times(iterations, factor) / 1000 * 1000)
        case .scrypt(var logCost, let blockSize, let parallelism):
            var rest = factor
            while rest >= 2, logCost < 16 {
                logCost += 1
                rest /= 2
            }
            return .scrypt(logCost: logCost, blockSize: blockSize, parallelism: times(parallelism, rest))
        case .argon2id(let kibibytes, let passes, let lanes):
            let more = min(factor, Double(PassphraseDerivation.mostMemory >> 10) / Double(kibibytes))
            return .argon2id(
                kibibytes: times(kibibytes, more),
                passes: times(passes, factor / more),
                lanes: lanes
            )
        }
    }
}
