internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension URL {
    /// The path of the file on this machine that it names, byte for byte: `DatabaseQueue(path: url.databasePath, key: key)`.
    ///
    /// - Throws: ``DatabaseError`` for a URL of anything else.
    public var databasePath: String {
        get throws {
            guard isFileURL else { throw DatabaseError(.cannotOpen, "not a file URL") }
            guard query == nil, fragment == nil, host ?? "" == "" || host == "localhost" else {
                throw DatabaseError(.cannotOpen, "the URL has more than the path of a file of this machine")
            }
            let path = decodedPath
            let bytes = path.pathBytes
            guard bytes.first == UInt8(ascii: "/"), bytes.last != UInt8(ascii: "/") else {
                throw DatabaseError(
                    .cannotOpen,
                    "not a file URL: the path must begin, and must not end, with /"
                )
            }
            return path
        }
    }

    /// Its path byte for byte; `path` of Foundation's is empty for a name that is not UTF-8.
    package var decodedPath: String {
        let text = Array(path(percentEncoded: true).utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            let digits = String(decoding: text[(index + 1)...].prefix(2), as: UTF8.self)
            if text[index] == UInt8(ascii: "%"), digits.utf8.count == 2, let byte = UInt8(digits, radix: 16) {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(text[index])
                index += 1
            }
        }
        return String(pathBytes: bytes)
    }
}
