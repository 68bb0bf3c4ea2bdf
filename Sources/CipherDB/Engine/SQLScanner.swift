/// Where a statement ends, without the engine: what is in quotes, in comments, and neither (sqlite.org/lang_comment.html).
enum SQLScanner {
    /// How many bytes the first statement has, with its semicolon; all of them where none ends. That of a trigger ends within its body.
    static func firstStatement(_ sql: some RandomAccessCollection<UInt8>) -> Int {
        var rest = sql[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: ";") { return sql.distance(from: sql.startIndex, to: rest.startIndex) + 1 }
            if !skipSpace(&rest) { skipToken(&rest) }
        }
        return sql.count
    }

    /// Whether there is nothing but spaces, semicolons and comments.
    static func isBlank(_ sql: some RandomAccessCollection<UInt8>) -> Bool {
        var rest = sql[...]
        while let byte = rest.first {
            if byte == UInt8(ascii: ";") { rest.removeFirst() } else if !skipSpace(&rest) { return false }
        }
        return true
    }

    /// What stands behind the spaces and comments at the beginning.
    static func withoutSpaceBefore(_ sql: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = sql
        while !rest.isEmpty, skipSpace(&rest) {}
        return rest
    }

    /// Passes over a space or a comment.
    static func skipSpace<Bytes: RandomAccessCollection<UInt8>>(_ rest: inout Bytes) -> Bool
    where Bytes.SubSequence == Bytes {
        if rest.starts(with: "--".utf8) {
            rest = rest.drop { $0 != UInt8(ascii: "\n") }
            return true
        }
        if rest.starts(with: "/*".utf8), rest.count > 2 {
            rest = rest.dropFirst(2)
            while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest.removeFirst() }
            rest = rest.dropFirst(2)
            return true
        }
        guard let byte = rest.first, " \t\n\u{c}\r".utf8.contains(byte) else { return false }
        rest.removeFirst()
        return true
    }

    /// Passes over a quoted text or name, or one byte of anything else. A quote that is doubled begins another text.
    static func skipToken<Bytes: RandomAccessCollection<UInt8>>(_ rest: inout Bytes)
    where Bytes.SubSequence == Bytes {
        let byte = rest.removeFirst()
        guard "'\"`[".utf8.contains(byte) else { return }
        let end = byte == UInt8(ascii: "[") ? UInt8(ascii: "]") : byte
        rest = rest.drop { $0 != end }.dropFirst()
    }
}

extension SQL {
    /// The statements of a text, without the spaces and comments before each; a trigger is several.
    package static func statements(of sql: String) -> [String] {
        var rest = Array(sql.utf8)[...]
        var statements: [String] = []
        while !rest.isEmpty {
            let statement = rest.prefix(SQLScanner.firstStatement(rest))
            rest = rest.dropFirst(statement.count)
            statements.append(String(decoding: SQLScanner.withoutSpaceBefore(statement), as: UTF8.self))
        }
        return statements
    }
}
