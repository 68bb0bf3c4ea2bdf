internal import CipherSystem

/// Other parameters than a version's own.
extension CipherFormat {
    /// A format with other parameters, for a new file or for one that exists.
    ///
    /// ```swift
    /// let format = try CipherFormat(.v3) { $0.pageSize = 4096 }
    /// ```
    ///
    /// What is weaker than the version's own is set by the property whose name says `unsafe`.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public init(_ format: CipherFormat = .v4, _ change: (inout Parameters) -> Void) throws(UnusableCipherFormat) {
        self = try format.changed { format in
            var parameters = Parameters(format: format)
            change(&parameters)
            format = parameters.format
        }
        try checkChange(of: format)
    }

    /// The parameters of a format, to be set.
    public struct Parameters {
        fileprivate var format: CipherFormat

        /// Bytes in a page, a power of two from 512 to 65,536; 512 only in formats whose reserve leaves enough of such a page.
        public var pageSize: Int {
            get { format.pageSize }
            set { format.pageSize = newValue }
        }

        /// Iterations of PBKDF2 for passphrases, from the version's own number to ten million. A stock shell then needs the same `kdf_iter`.
        public var iterations: Int {
            get { format.iterations }
            set { format.iterations = newValue }
        }
        /// Any number of ``iterations`` from 1: with fewer than the version's own, passphrases can be tried faster.
        public var unsafeIterations: Int {
            get { format.iterations }
            set { allow(.iterations) { $0.iterations = newValue } }
        }

        /// The hash of PBKDF2, no weaker than the version's own.
        public var keyDerivation: HashAlgorithm {
            get { format.keyDerivation }
            set { format.keyDerivation = newValue }
        }
        /// Any hash of PBKDF2.
        public var unsafeKeyDerivation: HashAlgorithm {
            get { format.keyDerivation }
            set { allow(.keyDerivation) { $0.keyDerivation = newValue } }
        }

        /// The hash of the pages' MACs, no weaker than the version's own.
        public var pageAuthentication: HashAlgorithm? {
            get { format.pageAuthentication }
            set { format.pageAuthentication = newValue }
        }
        /// Any hash of the pages' MACs, or nil for no MACs: then nothing notices that a file was altered.
        public var unsafePageAuthentication: HashAlgorithm? {
            get { format.pageAuthentication }
            set { allow(.pageAuthentication) { $0.pageAuthentication = newValue } }
        }

        /// The byte order of the page numbers in the MACs.
        public var pageNumberOrder: PageNumberOrder {
            get { format.pageNumberOrder }
            set { format.pageNumberOrder = newValue }
        }
        /// The mask of the salt of the HMAC key; 0 in SQLCipher 2.0 beta.
        public var macSaltMask: UInt8 {
            get { format.macSaltMask }
            set { format.macSaltMask = newValue }
        }
        /// Iterations for the HMAC key, 1 to ten million. They add no strength.
        public var macKeyIterations: Int {
            get { format.macKeyIterations }
            set { format.macKeyIterations = newValue }
        }
        /// The hash of PBKDF2 for the HMAC key; nil for ``keyDerivation``'s.
        public var macKeyDerivation: HashAlgorithm? {
            get { format.macKeyDerivation }
            set { format.macKeyDerivation = newValue }
        }

        /// Bytes of the plaintext header, 16 or 32, or none with 0: iOS then recognises a database in a shared container.
        ///
        /// The header can be read and altered by everybody. The salt does not stand in such a file: keep it, and give it with the
        /// key (``DatabaseKey/with(salt:)``).
        public var plaintextHeaderSize: Int {
            get { format.plaintextHeaderSize }
            set { format.plaintextHeaderSize = newValue }
        }
        /// Any multiple of 16 bytes, up to the last 16 bytes that page 1 has room for. Behind the 100 bytes of SQLite's header stands the
        /// schema.
        public var unsafePlaintextHeaderSize: Int {
            get { format.plaintextHeaderSize }
            set { allow(.plaintextHeaderSize) { $0.plaintextHeaderSize = newValue } }
        }

        fileprivate init(format: CipherFormat) {
            self.format = format
        }

        private mutating func allow(_ weakness: Weakness, _ change: (inout CipherFormat) -> Void) {
            format.allowedWeaknesses.insert(weakness)
            change(&format)
        }
    }

    /// Ten million: several seconds. More would let a setting hang a program that opens the file.
    package static let mostIterations = 10_000_000

    /// This format after `change`, if SQLCipher can have it.
    package func changed(_ change: (inout CipherFormat) -> Void) throws(UnusableCipherFormat) -> CipherFormat {
        var format = self
        format.isAny = false
        change(&format)
        // > The usable size is not allowed to be less than 480. (sqlite.org/fileformat.html, section 1.3.4)
        guard CipherFormat.pageSizes.contains(format.pageSize), format.pageSize - format.reserve >= 480 else {
            throw .pageSize(format.pageSize)
        }
        for count in [format.iterations, format.macKeyIterations] {
            guard (1...CipherFormat.mostIterations).contains(count) else { throw .iterations(count, least: 1) }
        }
        let header = format.plaintextHeaderSize
        // Without MACs a key is proved by what the header reserves, bytes 72 to 91: they must be encrypted, or any key would seem right.
        let mostHeader = format.pageAuthentication == nil ? 80 : format.pageSize - format.reserve - CipherFormat.ivSize
        guard header >= 0, header % 16 == 0, header <= mostHeader else {
            throw .plaintextHeader(header, most: mostHeader)
        }
        return format
    }
}

/// A parameter of a format that is weaker than it could be.
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
    private func checkChange(of former: CipherFormat) throws(UnusableCipherFormat) {
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

/// Invalid or refused parameters of a ``CipherFormat``.
public enum UnusableCipherFormat: DescribedError, Equatable {
    /// Not a page size of SQLite, or too small for the format's reserve.
    case pageSize(Int)
    /// Fewer than 1, or more than ten million.
    case iterations(Int, least: Int)
    /// Not a version of SQLCipher with a format of its own.
    case version(Int)
    /// Not a multiple of 16, or more than page 1 has room for; without MACs more than 80, because
    /// nothing would prove a key.
    case plaintextHeader(Int, most: Int)
    /// Weaker than the format's own; the property of ``CipherFormat/Parameters`` allows it all the same.
    case weak(String, property: String)
    /// Weaker than the format that the file has.
    case weaker(String, than: CipherFormat)
    /// A plaintext header and no salt: the file does not have it.
    case saltMissing
    /// A raw key for a file whose pages have no MACs: no later opening could prove the key.
    case rawKeyWithoutAuthentication

    /// A sentence naming the parameter and its bounds.
    public var description: String {
        switch self {
        case .pageSize(let size):
            "pages of \(size) bytes are not supported; use a power of two from 1024 to 65536; only files without MACs have 512"
        case .iterations(let iterations, let least):
            "\(iterations) iterations are out of bounds; use \(least) to \(CipherFormat.mostIterations)"
        case .version(let version):
            "SQLCipher has no format \(version); use 1 to 4"
        case .plaintextHeader(let size, let most):
            "a plaintext header of \(size) bytes is not possible; use a multiple of 16 up to \(most)"
        case .weak(let what, let property):
            "\(what) is weaker than the format's own and is not used for a new file; \(property) allows it"
        case .weaker(let what, let present):
            "the new format would be weaker: \(what), in place of \(present)"
        case .saltMissing:
            "a file with a plaintext header does not contain its salt; give the salt with the key"
        case .rawKeyWithoutAuthentication:
            "a raw key cannot be verified in a file without MACs; use a passphrase, or a format with MACs"
        }
    }
}
