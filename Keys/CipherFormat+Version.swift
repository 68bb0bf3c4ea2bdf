/// The version of SQLCipher that a format is named after.
extension CipherFormat {
    /// SQLCipher's major version whose format this is, 1 to 4; with other parameters the one that differs in the fewest of them.
    public var version: Int {
        let versions = CipherFormat.standard.enumerated().map { index, format in
            (version: CipherFormat.standard.count - index, distance: distance(to: format))
        }
        return versions.min { $0.distance < $1.distance }?.version ?? CipherFormat.standard.count
    }

    /// The version's own format.
    package var own: CipherFormat { CipherFormat.standard[CipherFormat.standard.count - version] }

    /// The format of a major version of SQLCipher.
    package static func standard(version: Int) throws(UnusableCipherFormat) -> CipherFormat {
        guard (1...standard.count).contains(version) else { throw .version(version) }
        return standard[standard.count - version]
    }

    /// How many parameters that tell the versions apart are different; the page size, which files often have of their own, counts half.
    private func distance(to other: CipherFormat) -> Int {
        let others = [
            keyDerivation != other.keyDerivation, iterations != other.iterations,
            pageAuthentication != other.pageAuthentication,
        ]
        return 2 * others.count { $0 } + (pageSize == other.pageSize ? 0 : 1)
    }
}
