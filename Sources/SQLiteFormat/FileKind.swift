internal import CipherSystem

/// What a file looks like from outside, without a key.
package enum FileKind: Equatable, Sendable {
    /// No bytes: a database that is still to be made.
    case empty
    /// A SQLite database that is not encrypted.
    case plaintext
    /// A database that is encrypted behind a header in plaintext.
    case plaintextHeader
    /// Fewer bytes than the smallest page.
    case tooShort
    /// Anything else: an encrypted database, or no database at all. A key tells, or ``looksEncrypted(_:)``.
    case opaque

    /// > The first 16 bytes of the database file: "SQLite format 3\000" (sqlite.org/fileformat.html)
    package static let magic = Array("SQLite format 3\0".utf8)

    /// Looks at the start of `source`.
    package static func recognise(_ source: some PageSource) throws -> FileKind {
        let size = try source.size()
        guard size > 0 else { return .empty }
        if try source.read(16, at: 0) == magic {
            return try PlaintextHeader.isBeginning(of: source) ? .plaintextHeader : .plaintext
        }
        if try isDamagedMagic(source.read(16, at: 0)), try PlaintextHeader.isBeginning(of: source) {
            return .plaintextHeader
        }
        return size < 512 ? .tooShort : .opaque
    }

    /// Whether bytes begin with ``magic`` but for one to four bytes. A random salt is never so near to it.
    package static func isDamagedMagic(_ head: some Collection<UInt8>) -> Bool {
        head.count >= magic.count && (1...4).contains(zip(head, magic).count { $0 != $1 })
    }

    /// Whether the start of an ``opaque`` file has no pattern, as in an encrypted database.
    package static func looksEncrypted(_ source: some PageSource) throws -> Bool {
        try KnownMagic.name(of: source) == nil && looksRandom(source.read(4096, at: 0))
    }

    /// Whether a file has bytes 16 to 23 of SQLite's header behind a salt, as SQLite3 Multiple Ciphers writes by default (`legacy = 0`).
    package static func hasLayoutOfMultipleCiphers(_ source: some PageSource) throws -> Bool {
        let head = try source.read(4096, at: 0)
        guard head.count >= 512, Array(head.prefix(16)) != magic, let pageSize = PlaintextHeader.pageSize(head) else {
            return false
        }
        return try source.size() % Int64(pageSize) == 0 && (1...2).contains(head[18]) && (1...2).contains(head[19])
    }

    /// Whether chi-squared over the byte values is that of random bytes. It is 255 ± 23 for random bytes; a limit of 600 is fifteen standard
    /// deviations away, and text, zeros, images and machine code are in the thousands.
    fileprivate static func looksRandom(_ bytes: [UInt8]) -> Bool { ByteHistogram(bytes).chiSquared < 600 }
}

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

/// Page 1 of a plaintext database.
private enum SchemaPage {
    /// Whether every cell of the page stands in it, and is a row of the schema or leads to a page of the file.
    static func isSound(_ page: [UInt8], pageCount: Int) -> Bool {
        guard let tree = BTreePage(page, number: 1, usableSize: page.count - Int(page[20])), tree.kind.isTable else {
            return false
        }
        return (0..<tree.cellCount).allSatisfy { index in
            guard let cell = tree.cell(index) else { return false }
            guard let child = cell.leftChild else { return cell.payload.map { isRow($0.local) } ?? false }
            return (2...max(2, pageCount)).contains(child)
        }
    }

    /// > The header begins with a varint of its own size, followed by one varint for the type of each column.
    /// The columns are type, name, tbl_name, rootpage and sql: texts, but for the number of a page.
    private static func isRow(_ record: ArraySlice<UInt8>) -> Bool {
        let start = record.startIndex
        var header = ByteReader(record, at: start)
        guard let size = header.varint() else { return false }
        var types: [Int64] = []
        while header.position - start < size, let type = header.varint() { types.append(type) }
        guard header.position - start == size, types.count == 5 else { return false }
        let isNumber = (0...6).contains(types[3]) || (8...9).contains(types[3])
        return isNumber && [0, 1, 2, 4].allSatisfy { types[$0] == 0 || types[$0] >= 13 && types[$0] % 2 == 1 }
    }
}
