internal import CipherDB
internal import CipherKeys

/// One `PRAGMA name = value` that programs send behind their key: it is accepted where it says what is so.
struct CipherPragma {
    let name: String
    /// In small letters, without quotes.
    let value: String?

    /// The pragmas of a text that has nothing else in it; nil for any other SQL.
    static func all(in sql: String) -> [CipherPragma]? {
        let statements = sql.split(separator: ";").map { $0.trimmed }.filter { !$0.isEmpty }
        var pragmas: [CipherPragma] = []
        for statement in statements {
            guard let pragma = CipherPragma(statement) else { return nil }
            pragmas.append(pragma)
        }
        return pragmas.isEmpty ? nil : pragmas
    }

    /// Whether one of the statements of a text gives or changes the key.
    static func givesKey(_ sql: String) -> Bool {
        SQL.statements(of: sql).contains { CipherPragma($0)?.isKey == true }
    }

    /// By bytes, because each statement is asked, and most have none.
    static func mayHavePragma(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { text in
            guard text.count >= 6 else { return false }
            for start in 0...(text.count - 6) where text[start] | 0x20 == UInt8(ascii: "p") {
                if text[start..<(start + 6)].elementsEqual("pragma".utf8, by: { $0 | 0x20 == $1 }) { return true }
            }
            return false
        }
    }

    private init?(_ statement: String) {
        let text = statement.lowercased()
        guard text.hasPrefix("pragma"), let first = text.dropFirst(6).first, first.isWhitespace else { return nil }
        let rest = text.dropFirst(6)
        guard let end = rest.firstIndex(where: { $0 == "=" || $0 == "(" }) else {
            (name, value) = (CipherPragma.name(rest), nil)
            return
        }
        name = CipherPragma.name(rest[..<end])
        let argument = rest[rest.index(after: end)...].trimmed
        value = (rest[end] == "(" ? argument.dropLast() : argument[...]).trimmed.trimming { "'\"".contains($0) }
    }

    /// Without the schema before it, and quotes.
    private static func name(_ text: Substring) -> String {
        (text.split(separator: ".").last ?? text).trimmed.trimming { "'\"`[]".contains($0) }
    }

    /// Whether it gives or changes the key.
    var isKey: Bool { SQL.keyPragmas.contains(name) }

    /// Whether the file under this format, and the connection to it, are what it says.
    func isSo(of format: CipherFormat, _ database: Database) -> Bool {
        guard let value else { return name == "cipher_migrate" && (try? Engine.current.ownFormat()) == format }
        switch name {
        case "cipher_compatibility": return Int(value) == format.version
        case "cipher_page_size": return Int(value) == format.pageSize
        case "kdf_iter": return Int(value) == format.iterations
        case "cipher_use_hmac": return CipherPragma.truth(value) == (format.pageAuthentication != nil)
        case "cipher_hmac_algorithm":
            return value == format.pageAuthentication.map { "hmac_\($0.rawValue.lowercased())" }
        case "cipher_kdf_algorithm": return value == "pbkdf2_hmac_\(format.keyDerivation.rawValue.lowercased())"
        case "cipher_plaintext_header_size": return Int(value) == format.plaintextHeaderSize
        case "cipher_salt":
            // Of a file that has its own in it the engine would take no other.
            return database.verifiedKey.map { value == "x'" + $0.key.salt.hexadecimal } ?? false
        case "cipher_memory_security":
            let present = try? database.string(forQuery: "PRAGMA cipher_memory_security")
            return CipherPragma.truth(value) == present.flatMap(CipherPragma.truth)
        case "temp_store": return value == "2" || value == "memory"
        default: return false
        }
    }

    private static func truth(_ value: String) -> Bool? {
        switch value {
        case "1", "on", "yes", "true": true
        case "0", "off", "no", "false": false
        default: nil
        }
    }
}

extension FMDatabase {
    /// The SQL of a text; nothing to do where it is a pragma that says what is so.
    ///
    /// - Throws: for the key as a pragma, which must not be passed over while nothing was keyed.
    func statement(_ sql: String) throws -> SQL {
        guard CipherPragma.mayHavePragma(sql) else { return SQL(unsafe: sql) }
        if database.verifiedKey == nil, CipherPragma.givesKey(sql) { throw DatabaseError.keyPragma }
        guard let pragmas = CipherPragma.all(in: sql), let format = database.cipherFormat,
            pragmas.allSatisfy({ $0.isSo(of: format, database) })
        else { return SQL(unsafe: sql) }
        // 0 is what a migration answers that was done.
        return pragmas.contains { $0.name == "cipher_migrate" } ? "SELECT '0' AS cipher_migrate" : "SELECT 1 WHERE 0"
    }
}

extension Substring {
    fileprivate var trimmed: String { String(trimming(\.isWhitespace)) }

    fileprivate func trimming(_ isLeftOut: (Character) -> Bool) -> Substring {
        var rest = self
        while let last = rest.last, isLeftOut(last) { rest.removeLast() }
        return rest.drop(while: isLeftOut)
    }
}

extension String {
    fileprivate func trimming(_ isLeftOut: (Character) -> Bool) -> String { String(self[...].trimming(isLeftOut)) }
}
