/// A database named by a URI, such as `file:notes.db?mode=ro` (sqlite.org/uri.html).
struct DatabaseURI {
    /// The path of the file; nil for a database in memory.
    let path: String?
    /// The parameters, by their names.
    let parameters: [String: String]

    /// - Throws: ``DatabaseError`` for what is no file URI, and for parameters that would give a key, which logs and lists
    ///   of processes show, or share pages with connections that have no key.
    init(_ text: String) throws {
        guard text.hasPrefix("file:") else {
            throw DatabaseError(.cannotOpen, "a database's URI begins with file:")
        }
        let withoutFragment = text.dropFirst(5).prefix { $0 != "#" }
        let parts = withoutFragment.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var location = parts[0]
        if location.hasPrefix("//") {
            let rest = location.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host == "localhost" else {
                throw DatabaseError(.cannotOpen, "a database's URI names no other machine")
            }
            location = rest.dropFirst(host.count)
        }
        var found: [String: String] = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            found[try DatabaseURI.decoded(sides[0])] = try DatabaseURI.decoded(sides.count > 1 ? sides[1] : "")
        }
        for name in found.keys where name.lowercased().hasSuffix("key") {
            throw DatabaseError(.misuse, "a URI shall not hold a key: give it by setKey")
        }
        if found["cache"] == "shared" {
            throw DatabaseError(.misuse, "a shared cache would let a connection without the key read: leave it out")
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

    private static func decoded(_ text: Substring) throws -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            rest = rest.dropFirst(2)
            guard digits.count == 2, digits.first != UInt8(ascii: "+"),
                let byte = UInt8(String(digits) ?? "", radix: 16)
            else { throw DatabaseError(.cannotOpen, "the URI has a % without two hexadecimal digits") }
            bytes.append(byte)
        }
        guard let decoded = String(validating: bytes, as: UTF8.self), !decoded.utf8.contains(0) else {
            throw DatabaseError(.cannotOpen, "the URI has a NUL character in it, or is not UTF-8")
        }
        return decoded
    }
}
