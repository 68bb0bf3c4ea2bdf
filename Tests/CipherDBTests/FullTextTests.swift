import TestSupport
import Testing

@testable import CipherDB

/// Full-text indexes, and patterns of text that people type.
@Suite(.enabled(if: Engine.current.has(.fts5), "this engine has no FTS5")) struct FullTextTests {
    let database: Database
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        database = Database(path: directory.file("a.db"))
        try database.open(key: .random())
        try database.createTable(
            "my notes",
            columns: [
                ColumnDefinition("id", .integer, .primaryKey), ColumnDefinition("title", .text),
                ColumnDefinition("te\"xt", .text),
            ]
        )
        try add(1, "Letters", "buy stamps for the parcel")
        try database.createFullTextIndex(
            "found it",
            on: "my notes",
            columns: ["title", "te\"xt"],
            tokenizer: "porter unicode61"
        )
        try add(2, "Garden", "plant the buying trees, don't stamp on them")
    }

    private func add(_ id: Int, _ title: String, _ text: String) throws {
        try database.insert(into: "my notes", ["id": id, "title": title, "te\"xt": text])
    }

    private func ids(_ pattern: FTS5Pattern?) throws -> [Int] {
        let pattern = try #require(pattern)
        return try database.fetchAll(
            Int.self,
            "SELECT rowid FROM \(identifier: "found it") WHERE \(identifier: "found it") MATCH \(pattern) ORDER BY rowid"
        )
    }

    /// It runs before the index has the row.
    @Test func laterTriggerMaySetOtherColumns() throws {
        try database.executeStatements("ALTER TABLE \(identifier: "my notes") ADD COLUMN made")
        try database.executeStatements(
            """
            CREATE TRIGGER stamp AFTER INSERT ON \(identifier: "my notes")
            BEGIN UPDATE \(identifier: "my notes") SET made = 'now' WHERE id = new.id; END
            """
        )
        try add(3, "Mail", "stamps again")
        #expect(try ids(FTS5Pattern(matchingAllTokensIn: "stamps again")) == [3])
        for sql: SQL in [
            "UPDATE \(identifier: "my notes") SET id = 4 WHERE id = 3",
            "UPDATE \(identifier: "my notes") SET rowid = 5 WHERE id = 4",
            "UPDATE \(identifier: "my notes") SET _rowid_ = 6 WHERE id = 5",
            "UPDATE \(identifier: "my notes") SET title = 'Post' WHERE id = 6",
        ] { try database.executeUpdate(sql) }
        #expect(try ids(FTS5Pattern(matchingAllTokensIn: "post stamps")) == [6])
        #expect(try database.integrityCheck() == [])
    }

    @Test(.enabled(if: Engine.current.has(.renameColumn), "this engine cannot rename columns"))
    func contentOfIndexIsNotRenamed() throws {
        let isRefused = { (error: any Error) in
            "\(error)".contains("found it") && "\(error)".contains("dropFullTextIndex")
        }
        #expect { try database.renameTable("My Notes", to: "m") } throws: { isRefused($0) }
        #expect { try database.renameColumn("title", of: "my notes", to: "t") } throws: { isRefused($0) }
        try database.dropFullTextIndex("found it")
        try database.renameColumn("title", of: "my notes", to: "t")
        try database.renameTable("my notes", to: "m")
    }

    @Test func nilPatternSaysSo() throws {
        let pattern = FTS5Pattern(matchingAllTokensIn: " ")
        #expect {
            try database.fetchAll(
                Int.self,
                "SELECT rowid FROM \(identifier: "found it") WHERE \(identifier: "found it") MATCH \(pattern)"
            )
        } throws: {
            "\($0)".contains("do not search where it is nil")
        }
    }

    @Test func patternsMatchTheirWords() throws {
        #expect(try ids(FTS5Pattern(matchingAllTokensIn: "stamp buy")) == [1, 2])
        #expect(try ids(FTS5Pattern(matchingAllTokensIn: "stamp parcel")) == [1])
        #expect(try ids(FTS5Pattern(matchingAnyTokenIn: "parcel tree")) == [1, 2])
        #expect(try ids(FTS5Pattern(matchingPhrase: "buy stamps")) == [1])
        #expect(try ids(FTS5Pattern(matchingPhrase: "stamps buy")) == [])
        #expect(try ids(FTS5Pattern(matchingAllPrefixesIn: "par sta")) == [1])
        #expect(try ids(FTS5Pattern(matchingPrefixPhrase: "buy sta")) == [1])
        let stamp = try #require(FTS5Pattern(matchingPhrase: "stamp"))
        let tree = try #require(FTS5Pattern(matchingPhrase: "tree"))
        let both = stamp && tree
        let either = stamp || tree
        #expect(try ids(both) == [2] && ids(either) == [1, 2] && ids(stamp.excluding(tree)) == [1])
    }

    /// The rows of an index with this tokenizer, counted from 1, that the pattern finds.
    private func rows(_ texts: [String], _ tokenizer: String?, _ pattern: FTS5Pattern?) throws -> [Int] {
        let pattern = try #require(pattern)
        try database.executeStatements("DROP TABLE IF EXISTS texts; CREATE TABLE texts (id INTEGER PRIMARY KEY, text)")
        for text in texts { try database.insert(into: "texts", ["text": text]) }
        try database.createFullTextIndex("of_texts", on: "texts", columns: ["text"], tokenizer: tokenizer)
        defer { try? database.dropFullTextIndex("of_texts") }
        return try database.fetchAll(
            Int.self,
            "SELECT rowid FROM of_texts WHERE of_texts MATCH \(pattern) ORDER BY rowid"
        )
    }

    private static func patterns(_ text: String) -> [FTS5Pattern?] {
        [
            FTS5Pattern(matchingAllTokensIn: text), FTS5Pattern(matchingAnyTokenIn: text),
            FTS5Pattern(matchingPhrase: text), FTS5Pattern(matchingAllPrefixesIn: text),
            FTS5Pattern(matchingPrefixPhrase: text),
        ]
    }

    @Test(arguments: [
        ("ABC-123", "unicode61 tokenchars '-_.@'"), ("ann@example.org", "unicode61 tokenchars '-_.@'"),
        ("ABC-123", nil), ("ann@example.org", nil), ("ann@example.org", "porter"), ("ABC-123", "trigram"),
        ("C-12", "trigram"), ("@exam", "trigram"), ("say \"hi\"", nil), ("say \"hi\"", "trigram"), ("東京都", nil),
        ("京都府", "trigram"), ("ABC-123 - & !", nil), ("Ann@Example.org", "trigram"), ("don't", "ascii"),
    ])
    func tokenizerOfTheIndexSplits(text: String, tokenizer: String?) throws {
        let texts = [
            "order ABC-123 to ann@example.org", "one two three", "ABC to 123", "ann example org", "",
            "to say \"hi\" in 東京都 and 大阪 and 京都府, don't",
        ]
        for (index, pattern) in Self.patterns(text).enumerated() {
            let found = try rows(texts, tokenizer, pattern)
            let place = text.contains("ABC") || text.lowercased().contains("exam") || text.contains("C-") ? 1 : 6
            #expect(found.contains(place) && !found.contains(2), "\(index)")
            // A word that is divided is a phrase.
            #expect(!found.contains(3), "\(index)")
            #expect(!text.contains("@") || tokenizer == nil || tokenizer == "porter" || found == [1], "\(index)")
        }
    }

    @Test func wordWithoutTokenIsLeftOut() throws {
        let texts = ["rock and roll", "rock", "& roll"]
        #expect(try rows(texts, nil, FTS5Pattern(matchingAllTokensIn: "rock & roll")) == [1])
        #expect(try rows(texts, nil, FTS5Pattern(matchingAllPrefixesIn: "- ro & an -")) == [1])
        #expect(try rows(texts, nil, FTS5Pattern(matchingAnyTokenIn: "& rock -")) == [1, 2])
        #expect(try rows(texts, nil, FTS5Pattern(matchingPhrase: "...and, roll!")) == [1])
        #expect(try rows(texts, nil, FTS5Pattern(matchingPrefixPhrase: "and ro")) == [1])
        // Of these the tokenizer makes nothing, and nothing is found.
        for pattern in Self.patterns("& --") { #expect(try rows(texts, nil, pattern) == []) }
        let rock = try #require(FTS5Pattern(matchingAllTokensIn: "rock roll"))
        let none = try #require(FTS5Pattern(matchingAnyTokenIn: "& roll"))
        #expect(try rows(texts, nil, rock.excluding(none)) == [] && rows(texts, nil, none.excluding(rock)) == [3])
        #expect(try rows(texts, nil, rock || none) == [1, 3] && rows(texts, nil, rock && none) == [1])
    }

    @Test func emptyTextMakesNoPattern() {
        for text in ["", " ", "\t\n", "\0", " \0 \u{3000}\u{A0}"] {
            #expect(Self.patterns(text).allSatisfy { $0 == nil })
        }
        #expect(Self.patterns("a\0b").allSatisfy { $0?.description.contains("\0") == false })
    }

    /// To Swift it is a character of its own, to FTS5 a quote and an accent.
    @Test func quoteWithAccentIsQuoted() throws {
        for pattern in Self.patterns("rock\"\u{301} OR roll") {
            #expect(pattern?.description.contains("rock\"\"\u{301}") == true)
            _ = try rows(["rock"], nil, pattern)
        }
    }

    @Test func manyWordsAreNoLimit() throws {
        let text = (0..<5000).map { "w\($0)" }.joined(separator: " ")
        for pattern in Self.patterns(text) { _ = try ids(pattern) }
    }

    @Test func indexFollowsItsTable() throws {
        try database.update("my notes", set: ["title": "Wood"], where: Column("id") == 2)
        #expect(try ids(FTS5Pattern(matchingPhrase: "garden")) == [] && ids(FTS5Pattern(matchingPhrase: "wood")) == [2])
        try database.delete(from: "my notes", where: Column("id") == 1)
        #expect(try ids(FTS5Pattern(matchingPhrase: "stamp")) == [2])
        try database.executeUpdate(
            "INSERT INTO \(identifier: "found it")(\(identifier: "found it")) VALUES ('integrity-check')"
        )
        try database.dropFullTextIndex("found it")
        try add(3, "After", "it works without the index")
        #expect(try database.tableExists("found it") == false)
    }

    @Test func failedIndexLeavesNothing() throws {
        #expect(throws: DatabaseError.self) {
            try database.createFullTextIndex(
                "other",
                on: "my notes",
                columns: ["title"],
                tokenizer: "none of this name"
            )
        }
        #expect(throws: DatabaseError.self) {
            try database.createFullTextIndex("other", on: "my notes", columns: ["no"])
        }
        #expect(try database.int(forQuery: "SELECT count(*) FROM sqlite_master WHERE name LIKE 'other%'") == 0)
    }

    @Test func transactionGoesOnAfterMisspeltColumn() throws {
        let error = try database.inTransaction { database, _ in
            let error = #expect(throws: DatabaseError.self) {
                try database.createFullTextIndex("other", on: "my notes", columns: ["no"])
            }
            try add(3, "Third", "after it")
            return error
        }
        #expect(error?.message.contains("no such column: no") == true)
        #expect(try database.count(in: "my notes") == 3)
    }

    @Test func noTextMakesMalformedPattern() throws {
        var random = SplitMix(5)
        let pieces = [
            "\"", "'", "*", "(", ")", "^", ":", "-", "+", "{", "}", "AND", "OR", "NOT", "NEAR(", "NEAR", "a", "é",
            "e\u{301}", "\0", " ", "\n", "1",
            "日本", "🔑", "\u{FFFD}", "title:", "--", ";", "\\", "٣", "\u{E000}", "\u{301}", "ﬁ", "\u{200B}",
        ]
        for _ in 0..<3000 {
            let text = (0..<Int.random(in: 0...6, using: &random)).map { _ in pieces.randomElement(using: &random)! }
                .joined()
            let patterns = [
                FTS5Pattern(matchingAllTokensIn: text), FTS5Pattern(matchingAnyTokenIn: text),
                FTS5Pattern(matchingPhrase: text),
                FTS5Pattern(matchingAllPrefixesIn: text), FTS5Pattern(matchingPrefixPhrase: text),
            ]
            for pattern in patterns.compactMap({ $0 }) {
                _ = try ids(pattern)
                let both = pattern && pattern
                _ = try ids(both.excluding(pattern || both))
            }
        }
    }
}
