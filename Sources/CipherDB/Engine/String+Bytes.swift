internal import CSQLCipher

extension String {
    /// Hands over its bytes in UTF-8, without a copy where it has them so.
    @inline(__always) func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }

    /// Whether these are its bytes, as they must be for SQL: to Swift an é of one and of two scalars are equal.
    func hasBytes(_ others: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == others.count else { return false }
        return withBytes { csqlcipher_same($0.baseAddress, others.baseAddress, UInt(others.count)) != 0 }
    }
}
