internal import CipherKeys
internal import CipherSystem

/// The MAC of the pages of one database, `HMAC(hmac key, ciphertext || IV || page number, 4 bytes)`. For one thread at a time.
final class PageMAC {
    private let algorithm: HashAlgorithm
    private let format: CipherFormat
    /// The MAC follows the ciphertext and the IV.
    private let start: Int
    private let context: MACContext
    /// A forked child has a copy of the context.
    private let owner = OwnerProcess()

    /// Returns nil for a format without MACs. `start` is for pages where the MAC begins elsewhere.
    init?(key: DerivedKey, format: CipherFormat, start: Int? = nil) throws {
        guard let algorithm = format.pageAuthentication else { return nil }
        self.algorithm = algorithm
        self.format = format
        self.start = start ?? format.macStart
        var made: MACContext?
        try KeyDerivation.pageAuthenticationKey(for: key, format: format).withUnsafeBytes { key in
            made = try MACContext(key, algorithm)
        }
        context = made.take()!
    }

    /// Whether the MAC in `page`, as it is in the file, is right; of page 1 with a plaintext header of another size than the format's if
    /// `begin` says where its ciphertext begins.
    func isRight(_ page: UnsafeRawBufferPointer, number: UInt32, from begin: Int? = nil) throws -> Bool {
        guard page.count == format.pageSize else { return false }
        return try withUnsafeTemporaryAllocation(byteCount: algorithm.digestSize, alignment: 8) { computed in
            try compute(page, number: number, from: begin, into: computed)
            return matches(UnsafeRawBufferPointer(computed), page)
        }
    }

    /// Whether `mac` is the one in `page`.
    func matches(_ mac: UnsafeRawBufferPointer, _ page: UnsafeRawBufferPointer) -> Bool {
        Cryptography.constantTimeEqual(mac, UnsafeRawBufferPointer(rebasing: page[start...].prefix(mac.count)))
    }

    /// Writes the MAC to its place in `page`.
    func write(into page: UnsafeMutableRawBufferPointer, number: UInt32) throws {
        let place = UnsafeMutableRawBufferPointer(rebasing: page[start...].prefix(algorithm.digestSize))
        try compute(UnsafeRawBufferPointer(page), number: number, into: place)
    }

    private func compute(
        _ page: UnsafeRawBufferPointer,
        number: UInt32,
        from begin: Int? = nil,
        into result: UnsafeMutableRawBufferPointer
    ) throws {
        try owner.check(.secret)
        // The salt at the beginning of page 1, or the plaintext header, is not covered.
        let begin = begin ?? (number == 1 ? format.firstPageStart : 0)
        var pageNumber = format.pageNumberOrder.coded(number)
        let covered = UnsafeRawBufferPointer(rebasing: page[begin..<start])
        guard withUnsafeBytes(of: &pageNumber, { context.compute(covered, $0, into: result.bytes(at: 0)) }) else {
            throw OpenSSLError(operation: "HMAC")
        }
    }
}

extension PageNumberOrder {
    /// The number that has `number` in memory in this order; also the way back.
    func coded(_ number: UInt32) -> UInt32 {
        switch self {
        case .littleEndian: number.littleEndian
        case .bigEndian: number.bigEndian
        }
    }
}

extension UnsafeRawBufferPointer {
    /// For C functions that take the address of bytes.
    package func bytes(at offset: Int) -> UnsafePointer<UInt8> {
        (baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
    }
}

extension UnsafeMutableRawBufferPointer {
    /// For C functions that write bytes to an address.
    func bytes(at offset: Int) -> UnsafeMutablePointer<UInt8> {
        (baseAddress! + offset).assumingMemoryBound(to: UInt8.self)
    }
}
