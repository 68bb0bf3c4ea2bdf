/// The beginning of a file that is not encrypted although the rest is (`cipher_plaintext_header_size`).
package enum PlaintextHeader {
    /// Whether a file that begins as a SQLite database is encrypted behind its header.
    ///
    /// A plaintext database has its schema in page 1, whatever stands in the bytes that nobody reads and in other pages. Where page 1 is
    /// none of a schema, its end tells ciphertext from damage: there stand the last rows, or the IV and the MAC.
    package static func isBeginning(of source: some PageSource) throws -> Bool {
        let head = try source.read(65536, at: 0)
        guard head.count >= 512 else { return false }
        guard let pageSize = pageSize(head) else {
            // 16 bytes are the magic string alone.
            return FileKind.looksRandom(Array(head[16...].prefix(4096)))
        }
        let page = Array(head.prefix(pageSize))
        if page.count == pageSize, try SchemaPage.isSound(page, pageCount: Int(source.size()) / pageSize) {
            return try hasEncryptedEnd(page) && (source.size() < Int64(2 * pageSize) || mayBeWholePage(of: source))
        }
        return FileKind.looksRandom(Array(page.suffix(96)))
    }

    /// Whether an IV, and perhaps a MAC, stand in what page 1 reserves: there a plaintext database has zeros.
    private static func hasEncryptedEnd(_ page: [UInt8]) -> Bool {
        let reserve = Int(page[20])
        // Each value comes once among 16 random ones, nearly, and some 68 values among 80.
        return reserve >= 16 && Set(page.suffix(reserve)).count > reserve / 2
    }

    /// Whether a file that reads as plaintext may be encrypted behind page 1, which is all header: then page 1 has neither IV nor MAC. A
    /// key that opens other pages proves it; nothing else does.
    package static func mayBeWholePage(of source: some PageSource) throws -> Bool {
        let head = try source.read(24, at: 0)
        guard head.count == 24, let pageSize = pageSize(head), head[20] >= 16 else { return false }
        let second = try source.read(pageSize, at: Int64(pageSize))
        return second.count == pageSize && FileKind.looksRandom(second)
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
}
