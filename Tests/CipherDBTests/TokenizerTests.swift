import CipherDB
import Foundation
import Testing

@Suite struct TokenizerTests {
    let database: Database

    init() throws {
        database = Database(path: nil)
        try database.open()
    }

    /// Words in small letters without marks, cut at everything that is no letter.
    private static func words(_ text: String, leavingOut stopWords: [String] = []) -> [Token] {
        var tokens: [Token] = []
        var rest = text[...]
        while let start = rest.firstIndex(where: \.isLetter) {
            let word = rest[start...].prefix(while: \.isLetter)
            let from = text.utf8.distance(from: text.startIndex, to: word.startIndex)
            let plain = word.folding(options: [.diacriticInsensitive, .caseInsensitive], locale: nil)
            if !stopWords.contains(plain) { tokens.append(Token(plain, range: from..<(from + word.utf8.count))) }
            rest = rest[word.endIndex...]
        }
        return tokens
    }

    @Test(arguments: ["fts3", "fts4", "fts5"])
    func tokenizerInSwiftCutsTextsIntoWords(module: String) throws {
        guard Engine.current.has(module == "fts5" ? .fts5 : .fts4) else {
            // SQLCipher 3.4.1 lacks FTS5: its table cannot be made, with whatever tokenizer.
            #expect {
                try database.executeStatements(SQL(unsafe: "CREATE VIRTUAL TABLE t USING \(module)(a)"))
            } throws: {
                "\($0)".contains("no such module: fts5")
            }
            return
        }
        try database.makeTokenizer(named: "plain") { text, arguments in
            TokenizerTests.words(text, leavingOut: arguments)
        }
        let option = module == "fts5" ? "tokenize='plain the'" : "tokenize=plain the"
        try database.executeStatements(SQL(unsafe: "CREATE VIRTUAL TABLE t USING \(module)(a, \(option))"))
        for text in ["The Queensrÿche", "Die Ärzte!", "the band; the bands", "", "12 34"] {
            try database.executeUpdate("INSERT INTO t VALUES (?)", text)
        }
        func count(_ query: String) throws -> Int? {
            try database.int(forQuery: "SELECT count(*) FROM t WHERE t MATCH ?", query)
        }
        #expect(try count("queensryche") == 1 && count("QUEENSRŸCHE") == 1)
        #expect(try count("arzte") == 1 && count("bands") == 1)
        #expect(try count("nothing") == 0)
        #expect(try count("\"band bands\"") == 1, "what is left out leaves no gap")
        let snippet = try database.string(
            forQuery: module == "fts5"
                ? "SELECT highlight(t, 0, '[', ']') FROM t WHERE t MATCH 'queensryche'"
                : "SELECT snippet(t, '[', ']') FROM t WHERE t MATCH 'queensryche'"
        )
        #expect(snippet == "The [Queensrÿche]")
    }

    @Test func rangesOutsideOfTextAreCut() throws {
        try database.makeTokenizer(named: "wild") { _, _ in
            [Token("a", range: 0..<1000), Token("b", range: 500..<600), Token("", range: 0..<0)]
        }
        try database.executeStatements(
            "CREATE VIRTUAL TABLE t USING fts4(a, tokenize=wild); INSERT INTO t VALUES ('xyz')"
        )
        #expect(try database.string(forQuery: "SELECT snippet(t, '[', ']') FROM t WHERE t MATCH 'a'") != nil)
    }

    @Test(arguments: ["", "with space", "a'b", "semi;colon", "ünï"])
    func nameThatCannotBeOneIsRefused(name: String) {
        #expect(throws: DatabaseError.self) { try database.makeTokenizer(named: name) { _, _ in [] } }
    }

    @Test func unknownTokenizerIsError() {
        #expect(throws: DatabaseError.self) {
            try database.executeStatements("CREATE VIRTUAL TABLE t USING fts4(a, tokenize=nothing)")
        }
    }

    @Test func tokenizerAddressesAreNotExposed() throws {
        guard Engine.current.has(.fts4) else { return #expect(!Engine.current.has(.fts4)) }
        try database.makeTokenizer(named: "plain") { text, _ in TokenizerTests.words(text) }
        for sql in ["SELECT fts3_tokenizer('simple')", "SELECT FTS3_Tokenizer('evil', x'4141414141414141')"] {
            #expect { _ = try database.executeQuery(SQL(unsafe: sql)).next() } throws: {
                ($0 as? DatabaseError)?.code.primary == .notAuthorized
            }
        }
        try database.executeStatements("CREATE VIRTUAL TABLE t USING fts4(a, tokenize=plain)")
    }
}
