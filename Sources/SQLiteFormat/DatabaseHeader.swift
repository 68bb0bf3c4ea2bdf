internal import CipherSystem

/// What the first 100 bytes of a database say (sqlite.org/fileformat.html, section 1.3).
package struct DatabaseHeader: Sendable {
    package let pageSize: Int
    /// Bytes at the end of each page that SQLite leaves unused.
    package let reserve: Int
    /// Whether the database keeps a write-ahead log.
    package let isLogged: Bool
    /// Pages of the database; what SQLite before 3.7.0 has written need not have it.
    package let pageCount: Int
    /// Whether ``pageCount`` was written with the last change.
    package let countsPages: Bool
    /// As `PRAGMA auto_vacuum` says it: 0 none, 1 full, 2 incremental.
    package let autoVacuum: Int
    package let encoding: TextEncoding
    package let userVersion: Int32
    package let applicationID: Int32

    /// > offset 16: the page size, 1 for 65536
    package static func pageSize(_ page: [UInt8]) -> Int {
        let size = page.bigEndian16(at: 16)
        return size == 1 ? 65536 : size
    }

    /// Reads the plaintext of page 1.
    package init(_ page: [UInt8]) {
        pageSize = DatabaseHeader.pageSize(page)
        isLogged = page[18] == 2
        reserve = Int(page[20])
        pageCount = page.bigEndian(at: 28)
        // > The in-header database size is valid if the change counter at 24 matches the number at 92.
        countsPages = page.count >= 96 && page[24..<28] == page[92..<96]
        autoVacuum = page.bigEndian(at: 52) == 0 ? 0 : page.bigEndian(at: 64) == 0 ? 1 : 2
        encoding = TextEncoding(rawValue: page.bigEndian(at: 56)) ?? .utf8
        userVersion = Int32(truncatingIfNeeded: page.bigEndian(at: 60))
        applicationID = Int32(truncatingIfNeeded: page.bigEndian(at: 68))
    }
}

/// How the texts of a database are written.
package enum TextEncoding: Int, Sendable {
    // The numbers are SQLite's own, in files and calls.
    case utf8 = 1
    case utf16LittleEndian = 2
    case utf16BigEndian = 3

    /// The name that `PRAGMA encoding` takes.
    package var name: String {
        switch self {
        case .utf8: "UTF-8"
        case .utf16LittleEndian: "UTF-16le"
        case .utf16BigEndian: "UTF-16be"
        }
    }

    /// The text that `bytes` are; what makes no sense is replaced.
    package func text(_ bytes: ArraySlice<UInt8>) -> String {
        func units(_ high: Int) -> [UInt16] {
            stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
                UInt16(bytes[$0 + high]) << 8 | UInt16(bytes[$0 + 1 - high])
            }
        }
        return switch self {
        case .utf8: String(decoding: bytes, as: UTF8.self)
        case .utf16LittleEndian: String(decoding: units(1), as: UTF16.self)
        case .utf16BigEndian: String(decoding: units(0), as: UTF16.self)
        }
    }
}
