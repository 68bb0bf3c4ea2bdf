internal import CipherSystem

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// Where a database is, and how it is opened there.
struct DatabaseLocation {
    /// As it was given: a path, or with ``OpenFlags/uri`` a URI.
    let path: String
    /// The file's path; nil for a database in memory.
    let file: String?
    let flags: OpenFlags
    let isImmutable: Bool

    init(_ path: String, _ flags: OpenFlags) throws {
        self.path = path
        guard flags.contains(.uri) else {
            (file, self.flags, isImmutable) = (path, flags, false)
            return
        }
        let uri = try DatabaseURI(path)
        file = uri.path
        self.flags = try uri.flags(flags)
        isImmutable = uri.parameters["immutable"] == "1"
    }
}

/// A database named by a URI, such as `file:notes.db?mode=ro` (sqlite.org/uri.html).
struct DatabaseURI {
    /// The path of the file; nil for a database in memory.
    let path: String?
    /// The parameters, by their names.
    let parameters: [String: String]

    /// - Throws: ``DatabaseError`` for what is no file URI, and for parameters that would give a key, which logs and lists
    ///   of processes show, or share pages with connections that have no key.
    init(_ text: String) throws {
        // By bytes, as SQLite reads: a character of Swift's may be a separator with an accent on it.
        let bytes = text.pathBytes
        guard DatabaseURI.isURI(text) else {
            throw DatabaseError(.cannotOpen, "the URI of a database must begin with file:")
        }
        let withoutFragment = bytes.dropFirst(5).prefix { $0 != UInt8(ascii: "#") }
        let parts = DatabaseURI.halves(withoutFragment, at: "?")
        var location = parts[0]
        if location.starts(with: "//".utf8) {
            let rest = location.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || host.elementsEqual("localhost".utf8) else {
                throw DatabaseError(.cannotOpen, "the URI of a database must not name another machine")
            }
            location = rest.dropFirst(host.count)
        }
        var found: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : []).split(separator: UInt8(ascii: "&")) {
            let sides = DatabaseURI.halves(pair, at: "=")
            found[try DatabaseURI.decoded(sides[0])] = try DatabaseURI.decoded(sides.count > 1 ? sides[1] : [])
        }
        for name in found.keys where name.lowercased().utf8.suffix(3).elementsEqual("key".utf8) {
            throw DatabaseError(.misuse, "a URI must not contain a key; set it by setKey")
        }
        if found["cache"] == "shared" {
            throw DatabaseError(
                .misuse,
                "a shared cache is refused, because it would let a connection without the key read"
            )
        }
        let path = try DatabaseURI.decoded(location)
        self.path = path == ":memory:" || found["mode"] == "memory" ? nil : path
        parameters = found
    }

    /// The flags, narrowed by the parameter `mode`.
    func flags(_ flags: OpenFlags) throws -> OpenFlags {
        switch parameters["mode"] {
        case "ro": [.readOnly, .uri]
        case "rw": flags.subtracting(.create)
        default: flags
        }
    }

    /// Whether SQLite takes `text` for a URI.
    static func isURI(_ text: String) -> Bool {
        text.utf8.starts(with: "file:".utf8)
    }

    private static func halves(_ bytes: ArraySlice<UInt8>, at separator: Unicode.Scalar) -> [ArraySlice<UInt8>] {
        bytes.split(separator: UInt8(ascii: separator), maxSplits: 1, omittingEmptySubsequences: false)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) throws -> String {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"),
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { throw DatabaseError(.cannotOpen, "the URI has a % without two hexadecimal digits") }
            bytes.append(byte)
        }
        guard !bytes.contains(0) else { throw DatabaseError(.cannotOpen, "the URI has a NUL character") }
        return String(pathBytes: bytes)
    }
}

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
