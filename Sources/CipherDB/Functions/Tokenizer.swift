/// A word of a text, as a full-text index stores it.
public struct Token: Sendable, Hashable {
    /// What the index keeps, such as the word in small letters.
    public var text: String
    /// Where the word stands, in bytes of the text's UTF-8.
    public var range: Range<Int>

    /// A token.
    public init(_ text: String, range: Range<Int>) {
        self.text = text
        self.range = range
    }
}

extension Database {
    /// Makes a tokenizer for full-text tables, `CREATE VIRTUAL TABLE t USING fts4(a, tokenize=name)` or, where the engine
    /// has it, `fts5(a, tokenize='name')`. It stays with this database when it is closed and opened again.
    ///
    /// For every connection of a queue or pool, make it in ``Configuration/prepareDatabase``.
    ///
    /// - Parameters:
    ///   - name: The name, of letters, digits and `_`.
    ///   - tokenize: Cuts a text, or what a query searches for, into tokens, in order. Ranges outside of the text are cut.
    ///     Its second argument is what the table's declaration has after the name.
    /// - Throws: ``DatabaseError`` where the engine has no full-text search, or the database is not open.
    public func makeTokenizer(
        named name: String,
        _ tokenize: @escaping @Sendable (_ text: String, _ arguments: [String]) -> [Token]
    ) throws {
        let isName = name.utf8.allSatisfy { ($0 | 0x20 >= 97 && $0 | 0x20 <= 122) || $0 >= 48 && $0 <= 57 || $0 == 95 }
        guard isName, !name.isEmpty else {
            throw DatabaseError(.misuse, "a tokenizer's name has letters, digits and _ only")
        }
        let engine = Engine.current
        guard engine.has(.fts4) || engine.has(.fts5) else {
            throw DatabaseError(.error, "this engine has no full-text search")
        }
        try register(.tokenizer(name)) { connection in
            if engine.has(.fts4) { try connection.createFTS4Tokenizer(name, tokenize) }
            if engine.has(.fts5) { try connection.createFTS5Tokenizer(name, tokenize) }
        }
    }
}
