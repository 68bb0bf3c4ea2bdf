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

        /// Bytes in a page, of ``CipherFormat/pageSizes``; 512 only in formats whose reserve leaves enough of such a page.
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
