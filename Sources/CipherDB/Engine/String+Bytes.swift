internal import CCipherEngine

extension String {
    /// Whether both are the same bytes, as they must be for SQL: to Swift an é of one and of two scalars are equal.
    func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { mine in
            other.utf8.withContiguousStorageIfAvailable { others in
                csqlcipher_same(mine.baseAddress, others.baseAddress, UInt(mine.count)) != 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }
}
