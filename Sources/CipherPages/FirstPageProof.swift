package import CipherKeys
internal import CipherSystem

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
        let end = format.pageSize - format.reserve + CipherFormat.ivSize
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
                OpenSSL.constantTimeEqual($0, UnsafeRawBufferPointer(rebasing: page[end...].prefix($0.count)))
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
