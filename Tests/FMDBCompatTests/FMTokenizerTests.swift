import FMDBCompat
import Foundation
import TestSupport
import Testing

@Suite struct FMTokenizerTests {
    /// Takes the s of a plural off.
    final class Singular: FMTokenizerDelegate {
        let base = FMSimpleTokenizer(locale: nil)
        func openTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) { base.openTokenizerCursor(cursor) }
        func nextToken(for cursor: UnsafeMutablePointer<FMTokenizerCursor>) -> Bool {
            if base.nextToken(for: cursor) { return true }
            if cursor.pointee.tokenString.hasSuffix("s") { cursor.pointee.tokenString.removeLast() }
            return false
        }
        func closeTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) {
            base.closeTokenizerCursor(cursor)
        }
    }

    let db: FMDatabase

    init() {
        db = FMDatabase(path: nil)
        db.logsErrors = false
        db.open()
    }

    private func offsets(_ table: String, _ query: String) throws -> [[Int]] {
        let rows = try db.executeQuery("SELECT offsets(\(table)) FROM \(table) WHERE \(table) MATCH ?", values: [query])
        var found: [[Int]] = []
        while rows.next() {
            rows.offsets(forColumnIndex: 0).enumerate { found.append([$0, $1, $2.location, $2.length]) }
        }
        return found
    }

    @Test(arguments: ["fts3", "fts4"])
    func matchesAreFoundWithOffsets(module: String) throws {
        #expect(db.executeStatements("CREATE VIRTUAL TABLE mail USING \(module)(subject, body)"))
        #expect(
            db.executeUpdate(
                "INSERT INTO mail VALUES ('hello world', 'This message is a hello world message.')",
                withArgumentsIn: []
            )
        )
        #expect(try offsets("mail", "world") == [[0, 0, 6, 5], [1, 0, 24, 5]])
        #expect(try offsets("mail", "nothing").isEmpty)
        #expect(db.issueCommand(kFTSCommandOptimize, forTable: "mail"))
        #expect(!db.issueCommand("no such command", forTable: "mail"))
    }

    @Test(arguments: ["fmdb", "renamed"])
    func installedTokenizerReportsByteOffsets(name: String) throws {
        FMDatabase.registerTokenizer(FMSimpleTokenizer(locale: nil), withKey: "places")
        #expect(db.installTokenizerModule(withName: name))
        #expect(db.executeStatements("CREATE VIRTUAL TABLE t USING fts4(a, b, tokenize=\(name) places)"))
        #expect(
            db.executeUpdate("INSERT INTO t VALUES (?, ?)", withArgumentsIn: ["hello wörld", "the World, über alles"])
        )
        #expect(try offsets("t", "wörld") == [[0, 0, 6, 6]])
        #expect(try offsets("t", "über") == [[1, 0, 11, 5]])
    }

    @Test func tokenizersAreChosenByTheirKeys() throws {
        FMDatabase.registerTokenizer(FMSimpleTokenizer(locale: nil), withKey: "testTok")
        FMDatabase.registerTokenizer(Singular(), withKey: "singular")
        FMDatabase.registerTokenizer(
            FMStopWordTokenizer(words: ["the", "of"], baseTokenizer: FMSimpleTokenizer(locale: nil)),
            withKey: "stop"
        )
        #expect(db.installTokenizerModule())
        for key in ["testTok", "singular", "stop"] {
            #expect(db.executeStatements("CREATE VIRTUAL TABLE \(key) USING fts4(a, tokenize=fmdb \(key))"))
            for text in ["I like the band Queensrÿche", "Bands of the world"] {
                #expect(db.executeUpdate("INSERT INTO \(key) VALUES (?)", withArgumentsIn: [text]))
            }
        }
        func count(_ table: String, _ query: String) -> Int32? {
            db.intForQuery("SELECT count(*) FROM \(table) WHERE a MATCH ?", query)
        }
        #expect(count("testTok", "Queensrÿche") == 1 && count("testTok", "band") == 1)
        #expect(count("singular", "band") == 2 && count("singular", "bands") == 2)
        #expect(count("stop", "\"bands world\"") == 1 && count("testTok", "\"bands world\"") == 0)
    }

    @Test func tokenizerWithoutKeyIsDefault() throws {
        FMDatabase.registerTokenizer(FMSimpleTokenizer(locale: Locale(identifier: "en_US")))
        #expect(db.installTokenizerModule(withName: "standard"))
        #expect(db.executeStatements("CREATE VIRTUAL TABLE t USING fts3(a, tokenize=standard)"))
        #expect(db.executeUpdate("INSERT INTO t VALUES ('I like Queensrÿche')", withArgumentsIn: []))
        #expect(db.intForQuery("SELECT count(*) FROM t WHERE a MATCH ?", "QUEENSRŸCHE") == 1)
    }

    @Test func stopWordsAreReadFromFile() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("the\nof\n".utf8, to: "words")
        let tokenizer = try FMStopWordTokenizer(
            fileURL: URL(fileURLWithPath: path),
            baseTokenizer: FMSimpleTokenizer(locale: nil)
        )
        #expect(tokenizer.words == ["the", "of"])
        #expect(throws: (any Error).self) {
            try FMStopWordTokenizer(
                fileURL: URL(fileURLWithPath: directory.file("none")),
                baseTokenizer: FMSimpleTokenizer(locale: nil)
            )
        }
    }
}
