/// Other parameters than a version's own. What is weaker than that needs an `unsafe…` call; to open a file that exists,
/// ``CipherFormat/ofFile(version:pageSize:iterations:keyDerivation:pageAuthentication:pageNumberOrder:macSaltMask:macKeyIterations:macKeyDerivation:plaintextHeaderSize:)``
/// takes everything.
extension CipherFormat {
    /// This format with pages of another size.
    ///
    /// - Throws: ``UnusableCipherFormat`` for a size that is not in ``pageSizes``, and for 512 in the formats whose
    ///   reserve leaves too little of such a page.
    public func with(pageSize: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try changed { $0.pageSize = pageSize }
    }

    /// This format with another number of iterations for passphrases; a stock shell then needs the same `kdf_iter`.
    ///
    /// - Throws: ``UnusableCipherFormat`` for fewer than the format's own number, or more than ten million.
    public func with(iterations: Int) throws(UnusableCipherFormat) -> CipherFormat {
        guard (own.iterations...CipherFormat.mostIterations).contains(iterations) else {
            throw .iterations(iterations, least: own.iterations)
        }
        return try changed { $0.iterations = iterations }
    }

    /// This format with any number of iterations up to ten million: with fewer than the format's own, passphrases can be tried
    /// faster.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(unsafeIterations iterations: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try changed(allowing: .iterations) { $0.iterations = iterations }
    }

    /// This format with another hash in PBKDF2.
    ///
    /// - Throws: ``UnusableCipherFormat`` for a weaker hash than the version's own.
    public func with(keyDerivation: HashAlgorithm) throws(UnusableCipherFormat) -> CipherFormat {
        try refusingWeaker(changed { $0.keyDerivation = keyDerivation })
    }

    /// This format with any hash in PBKDF2.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(unsafeKeyDerivation keyDerivation: HashAlgorithm) throws(UnusableCipherFormat) -> CipherFormat {
        try changed(allowing: .keyDerivation) { $0.keyDerivation = keyDerivation }
    }

    /// This format with another hash in the MACs of pages.
    ///
    /// - Throws: ``UnusableCipherFormat`` for a weaker hash than the version's own, and where the page size leaves no room.
    public func with(pageAuthentication: HashAlgorithm) throws(UnusableCipherFormat) -> CipherFormat {
        try refusingWeaker(changed { $0.pageAuthentication = pageAuthentication })
    }

    /// This format with any hash in the MACs of pages, or nil for no MACs: then nothing notices that a file was altered.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(unsafePageAuthentication hash: HashAlgorithm?) throws(UnusableCipherFormat) -> CipherFormat {
        try changed(allowing: .pageAuthentication) { $0.pageAuthentication = hash }
    }

    /// This format with page numbers of another byte order in its MACs.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(pageNumberOrder: PageNumberOrder) throws(UnusableCipherFormat) -> CipherFormat {
        try changed { $0.pageNumberOrder = pageNumberOrder }
    }

    /// This format with another mask for the salt of the HMAC key; 0 in SQLCipher 2.0 beta.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(macSaltMask: UInt8) throws(UnusableCipherFormat) -> CipherFormat {
        try changed { $0.macSaltMask = macSaltMask }
    }

    /// This format with another number of iterations for the HMAC key, 1 to ten million. They add no strength.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(macKeyIterations: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try changed { $0.macKeyIterations = macKeyIterations }
    }

    /// This format with a plaintext header of 16 or 32 bytes, or none with 0: iOS then recognises a database in a shared container.
    ///
    /// The header can be read and altered by everybody. The salt does not stand in such a file: keep it, and give it with the
    /// key (``DatabaseKey/with(salt:)``).
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(plaintextHeaderSize: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try refusingWeaker(changed { $0.plaintextHeaderSize = plaintextHeaderSize })
    }

    /// This format with a plaintext header of any multiple of 16 bytes, up to the last 16 bytes that page 1 has room for. Behind the
    /// 100 bytes of SQLite's header stands the schema.
    ///
    /// - Throws: ``UnusableCipherFormat``.
    public func with(unsafePlaintextHeaderSize size: Int) throws(UnusableCipherFormat) -> CipherFormat {
        try changed(allowing: .plaintextHeaderSize) { $0.plaintextHeaderSize = size }
    }

    /// The format of a file that exists, with all parameters as SQLCipher's pragmas have them; what is left out is the version's own.
    ///
    /// Nothing is too weak to be opened. A new file is not made in a format that is weaker than its version's.
    ///
    /// - Parameter pageAuthentication: `.some(nil)` for no MACs.
    /// - Throws: ``UnusableCipherFormat``.
    public static func ofFile(
        version: Int = 4,
        pageSize: Int? = nil,
        iterations: Int? = nil,
        keyDerivation: HashAlgorithm? = nil,
        pageAuthentication: HashAlgorithm?? = nil,
        pageNumberOrder: PageNumberOrder = .littleEndian,
        macSaltMask: UInt8? = nil,
        macKeyIterations: Int? = nil,
        macKeyDerivation: HashAlgorithm? = nil,
        plaintextHeaderSize: Int = 0
    ) throws(UnusableCipherFormat) -> CipherFormat {
        return try standard(version: version).changed {
            if let pageSize { $0.pageSize = pageSize }
            if let iterations { $0.iterations = iterations }
            if let keyDerivation { $0.keyDerivation = keyDerivation }
            if let pageAuthentication { $0.pageAuthentication = pageAuthentication }
            $0.pageNumberOrder = pageNumberOrder
            if let macSaltMask { $0.macSaltMask = macSaltMask }
            if let macKeyIterations { $0.macKeyIterations = macKeyIterations }
            $0.macKeyDerivation = macKeyDerivation
            $0.plaintextHeaderSize = plaintextHeaderSize
        }
    }

    /// Ten million: several seconds. More would let a setting hang a program that opens the file.
    package static let mostIterations = 10_000_000

    /// This format after `change`, if SQLCipher can have it.
    package func changed(
        allowing weakness: Weakness? = nil,
        _ change: (inout CipherFormat) -> Void
    ) throws(UnusableCipherFormat) -> CipherFormat {
        var format = self
        format.isAny = false
        change(&format)
        if let weakness { format.allowedWeaknesses.insert(weakness) }
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
