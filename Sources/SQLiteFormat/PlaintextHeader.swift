/// The beginning of a file that is not encrypted although the rest is (`cipher_plaintext_header_size`).
package enum PlaintextHeader {
    /// Whether a file that begins as a SQLite database is encrypted behind its header.
    ///
    /// A header of 32 bytes or more says how many bytes SQLite leaves at the end of a page. There stand the IV and the MAC, where a
    /// plaintext database has zeros.
    package static func isBeginning(of source: some PageSource) throws -> Bool {
        let head = try source.read(65536, at: 0)
        guard head.count >= 512 else { return false }
        guard let pageSize = pageSize(head) else {
            // 16 bytes are the magic string alone.
            return FileKind.looksRandom(Array(head[16...].prefix(4096)))
        }
        let page = Array(head.prefix(pageSize))
        let reserve = Int(head[20])
        guard page.count == pageSize, reserve >= 16 else { return false }
        let second = try source.read(pageSize, at: Int64(pageSize))
        let isSecondEncrypted = second.count == pageSize && hasBytes(second, reserve) && FileKind.looksRandom(second)
        // The header may be the whole page.
        guard hasBytes(page, reserve) else { return isSecondEncrypted }
        // The schema is ciphertext, or it is in the header, too.
        let isSchemaEncrypted = BTreePage(page, number: 1, usableSize: pageSize - reserve) == nil
        return isSchemaEncrypted || second.count < pageSize || isSecondEncrypted
    }

    /// Whether nothing of page 1 is encrypted in such a file: then it has neither IV nor MAC, and proves no key.
    package static func isWholePage(_ head: [UInt8]) -> Bool {
        guard let pageSize = pageSize(head), head.count >= pageSize else { return false }
        return !hasBytes(Array(head.prefix(pageSize)), Int(head[20]))
    }

    /// The page size in a header, if that is SQLite's.
    package static func pageSize(_ head: [UInt8]) -> Int? {
        let size = DatabaseHeader.pageSize(head)
        // > offset 21, 22, 23: must be 64, 32 and 32
        guard (512...65536).contains(size), size.nonzeroBitCount == 1, Array(head[21...23]) == [64, 32, 32] else {
            return nil
        }
        return size
    }

    /// Whether the IV and the MAC of a page can be among its last bytes: they have ten values at least. SQLite may reserve more than they take.
    private static func hasBytes(_ page: [UInt8], _ reserve: Int) -> Bool {
        Set(page.suffix(min(reserve, 48))).count >= 10
    }
}
