package import CipherKeys
internal import CipherSystem
internal import SQLiteFormat

/// That a key opens the first page of a file: its MAC was verified, or in format 1 its header.
package struct FirstPageProof {
    /// Nil in a format without MACs.
    let page: ProvenPage?

    /// Nil if the page is of another key or format, or its plaintext header contradicts the format.
    package init?(_ page: [UInt8], key: DerivedKey, format: CipherFormat) throws {
        guard page.count == format.pageSize, HeaderFlaw(page, format: format) == nil else { return nil }
        guard let algorithm = format.pageAuthentication else {
            guard try PageCipher(key: key, format: format).opensFirstPage(page) else { return nil }
            self.page = nil
            return
        }
        guard let page = try ProvenPage(first: page, algorithm, key: key, format: format) else { return nil }
        self.page = page
    }
}

/// A page whose MAC is right, with the context that computed it: the engine reads the same page next.
final class ProvenPage {
    let mac: KeptMAC
    /// What the MAC covers, without the number.
    private let covered: [UInt8]
    private let number: [UInt8]
    private let value: [UInt8]

    /// - Parameter page: The first page of a file; nil if its MAC is wrong.
    fileprivate init?(first page: [UInt8], _ algorithm: HashAlgorithm, key: DerivedKey, format: CipherFormat) throws {
        let end = format.macStart
        let hmacKey = try KeyDerivation.pageAuthenticationKey(for: key, format: format)
        guard let mac = try hmacKey.withUnsafeBytes({ KeptMAC(algorithm, $0) }) else {
            throw OpenSSLError(operation: "EVP_MAC_init")
        }
        // The salt at the beginning of page 1, or the plaintext header, is not covered.
        let covered = Array(page[format.firstPageStart..<end])
        let number = withUnsafeBytes(of: format.pageNumberOrder.coded(1)) { Array($0) }
        var value = [UInt8](repeating: 0, count: algorithm.digestSize)
        let isDone = covered.withUnsafeBytes { covered in
            number.withUnsafeBytes { number in
                value.withUnsafeMutableBufferPointer { mac.compute(covered, number, into: $0.baseAddress!) }
            }
        }
        guard isDone else { throw OpenSSLError(operation: "EVP_MAC") }
        let isRight = page.withUnsafeBytes { page in
            value.withUnsafeBytes {
                Cryptography.constantTimeEqual($0, UnsafeRawBufferPointer(rebasing: page[end...].prefix($0.count)))
            }
        }
        guard isRight else { return nil }
        (self.mac, self.covered, self.number, self.value) = (mac, covered, number, value)
    }

    /// Writes the MAC if this is the same page; false if it is another.
    func writeMAC(
        of page: UnsafeRawBufferPointer,
        _ number: UnsafeRawBufferPointer,
        into result: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard self.number.withUnsafeBytes({ Platform.areEqual($0, number) }),
            covered.withUnsafeBytes({ Platform.areEqual($0, page) })
        else { return false }
        result.update(from: value, count: value.count)
        return true
    }
}

/// What in a plaintext header contradicts the format of the file. No MAC covers the header, and the engine acts on it: with fewer reserved
/// bytes than the format has, it would overwrite rows by IVs and MACs.
package struct HeaderFlaw: CustomStringConvertible, Sendable {
    /// Such as `byte 20 of the plaintext header is 0, and pages of the format reserve 80 bytes`.
    package let description: String

    /// Nil where nothing is wrong, and in a format whose header of SQLite is encrypted.
    package init?(_ page: [UInt8], format: CipherFormat) {
        guard format.plaintextHeaderSize > 0, page.count >= 24 else { return nil }
        guard page.starts(with: FileKind.magic) else {
            description = "the plaintext header does not begin with SQLite's magic string"
            return
        }
        guard format.plaintextHeaderSize > 16 else { return nil }
        let wrong: (place: String, found: Int, expected: String)? =
            if DatabaseHeader.pageSize(page) != format.pageSize {
                ("bytes 16 and 17", page.bigEndian16(at: 16), "pages have \(format.pageSize) bytes")
            } else if !(1...2).contains(page[18]) {
                ("byte 18", Int(page[18]), "it must be 1 or 2")
            } else if !(1...2).contains(page[19]) {
                ("byte 19", Int(page[19]), "it must be 1 or 2")
            } else if Int(page[20]) < format.reserve {
                ("byte 20", Int(page[20]), "pages of the format reserve \(format.reserve) bytes")
            } else if PlaintextHeader.pageSize(page) == nil {
                ("byte 21, 22 or 23", Int(page[21]), "they must be 64, 32 and 32")
            } else {
                nil
            }
        guard let wrong else { return nil }
        let verb = wrong.place.hasPrefix("bytes") ? "are" : "is"
        description = "\(wrong.place) of the plaintext header \(verb) \(wrong.found), and \(wrong.expected)"
    }
}
