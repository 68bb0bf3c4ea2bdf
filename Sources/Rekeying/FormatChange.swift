package import CipherDB

/// The parameters of a format that a migration or an encryption changes; the others stay, or are those of the engine's own format.
package struct FormatChange: Sendable, Equatable {
    /// SQLCipher's major version: its own format, with the file's plaintext header, and its page size and higher number of iterations where
    /// these are not those of its own version.
    package var version: Int?
    /// As `CipherFormat/pageSize`.
    package var pageSize: Int?
    /// As `CipherFormat/iterations`.
    package var iterations: Int?
    /// As `CipherFormat/keyDerivation`.
    package var keyDerivation: HashAlgorithm?
    /// As `CipherFormat/pageAuthentication`; `.some(nil)` for no MACs.
    package var pageAuthentication: HashAlgorithm??
    /// As `CipherFormat/pageNumberOrder`.
    package var pageNumberOrder: PageNumberOrder?
    /// As `CipherFormat/macSaltMask`.
    package var macSaltMask: UInt8?
    /// As `CipherFormat/macKeyIterations`.
    package var macKeyIterations: Int?
    /// As `CipherFormat/plaintextHeaderSize`.
    package var plaintextHeaderSize: Int?

    /// No change.
    package init() {}

    /// The engine's own format, or that of ``version``, with the parameters.
    ///
    /// - Throws: `UnusableCipherFormat`.
    package func format() throws -> CipherFormat {
        try (version.map { try CipherFormat.standard(version: $0) } ?? Engine.current.ownFormat()).changed(apply(to:))
    }

    /// The format of a file after the change: by default the engine's own version, with what ``version`` keeps. What is of that version already keeps everything; pages without MACs get some in any case.
    ///
    /// - Throws: `UnusableCipherFormat`.
    func applied(to present: CipherFormat) throws -> CipherFormat {
        let own = try Engine.current.ownFormat()
        // No engine opens it, so that its content cannot be copied: its pages are rewritten in the nearest format that one opens.
        let isForeign = Engine.versionNeeded(by: present) == nil
        if version == nil, isForeign || present.version == own.version {
            return try present.changed {
                $0.macKeyDerivation = nil
                if $0.pageAuthentication == nil { $0.pageAuthentication = own.pageAuthentication }
                apply(to: &$0)
            }
        }
        let target = try version.map { try CipherFormat.standard(version: $0) } ?? own
        return try target.changed {
            let isOther = present.pageSize != present.own.pageSize
            if isOther { $0 = (try? $0.changed { $0.pageSize = present.pageSize }) ?? $0 }
            let hasOwnNumber = present.iterations == present.own.iterations
            if !hasOwnNumber { $0.iterations = max($0.iterations, present.iterations) }
            $0.plaintextHeaderSize = present.plaintextHeaderSize
            // Before anything is judged: the file's header may not fit, and a shorter one be named.
            apply(to: &$0)
        }
    }

    private func apply(to format: inout CipherFormat) {
        if let pageSize { format.pageSize = pageSize }
        if let iterations { format.iterations = iterations }
        if let keyDerivation { format.keyDerivation = keyDerivation }
        if let pageAuthentication { format.pageAuthentication = pageAuthentication }
        if let pageNumberOrder { format.pageNumberOrder = pageNumberOrder }
        if let macSaltMask { format.macSaltMask = macSaltMask }
        if let macKeyIterations { format.macKeyIterations = macKeyIterations }
        if let plaintextHeaderSize { format.plaintextHeaderSize = plaintextHeaderSize }
    }
}
