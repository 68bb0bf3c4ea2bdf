internal import CipherDB
internal import CipherKeys
internal import CipherSystem
public import Foundation

/// Where a tokenizer is in a text. FMDB's holds Core Foundation's types; the members' names are the same.
public struct FMTokenizerCursor {
    /// The text.
    public let inputString: String
    /// Where the token stands in the text, in UTF-16.
    public var currentRange = NSRange(location: 0, length: 0)
    /// The token, as the index keeps it.
    public var tokenString = ""
    /// What the tokenizer wants to remember.
    public var userObject: Any?
    /// How many tokens came before.
    public var tokenIndex: Int32 = 0

    init(_ text: String) {
        inputString = text
    }
}

/// Cuts texts into the words of a full-text index.
public protocol FMTokenizerDelegate: AnyObject, Sendable {
    /// A text begins.
    func openTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>)
    /// Puts the next token and its range into the cursor; true when there is none.
    func nextToken(for cursor: UnsafeMutablePointer<FMTokenizerCursor>) -> Bool
    /// A text ended.
    func closeTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>)
}

/// Words in small letters.
public final class FMSimpleTokenizer: FMTokenizerDelegate {
    private let locale: Locale

    /// A tokenizer that makes letters small as `locale` does; nil for the user's.
    public init(locale: Locale?) {
        self.locale = locale ?? Locale.current
    }

    /// Does nothing.
    public func openTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) {}

    /// The next run of letters, digits and marks.
    public func nextToken(for cursor: UnsafeMutablePointer<FMTokenizerCursor>) -> Bool {
        let text = cursor.pointee.inputString
        let from = NSMaxRange(cursor.pointee.currentRange)
        let position = text.utf16.index(text.startIndex, offsetBy: from)
        guard let first = text[position...].firstIndex(where: FMSimpleTokenizer.isOfWord) else { return true }
        let word = text[first...].prefix(while: FMSimpleTokenizer.isOfWord)
        cursor.pointee.currentRange = NSRange(word.startIndex..<word.endIndex, in: text)
        cursor.pointee.tokenString = word.lowercased(with: locale)
        return false
    }

    /// Does nothing.
    public func closeTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) {}

    private static func isOfWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }
}

/// Leaves words out that say nothing, unless what is searched for ends with `*`.
public final class FMStopWordTokenizer: FMTokenizerDelegate {
    /// The words that are left out, as the other tokenizer gives them.
    public let words: Set<String>
    private let base: any FMTokenizerDelegate

    /// A tokenizer that leaves `words` out of what another gives.
    public init(words: Set<String>, baseTokenizer: any FMTokenizerDelegate) {
        self.words = words
        base = baseTokenizer
    }

    /// A tokenizer whose words stand in a file of UTF-8, one on a line.
    ///
    /// - Throws: what reading the file throws.
    public convenience init(fileURL: URL, baseTokenizer: any FMTokenizerDelegate) throws {
        let text = try String(contentsOf: fileURL, encoding: .utf8)
        self.init(words: Set(text.split(separator: "\n").map(String.init)), baseTokenizer: baseTokenizer)
    }

    /// Has the other tokenizer begin.
    public func openTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) {
        base.openTokenizerCursor(cursor)
    }

    /// The other's next token that is not left out.
    public func nextToken(for cursor: UnsafeMutablePointer<FMTokenizerCursor>) -> Bool {
        let keepsAll = cursor.pointee.inputString.hasSuffix("*")
        repeat {
            if base.nextToken(for: cursor) { return true }
        } while !keepsAll && words.contains(cursor.pointee.tokenString)
        return false
    }

    /// Has the other tokenizer end.
    public func closeTokenizerCursor(_ cursor: UnsafeMutablePointer<FMTokenizerCursor>) {
        base.closeTokenizerCursor(cursor)
    }
}

/// Commands for full-text tables: `optimize`.
public let kFTSCommandOptimize = "optimize"
/// Commands for full-text tables: `rebuild`.
public let kFTSCommandRebuild = "rebuild"
/// Commands for full-text tables: `integrity-check`.
public let kFTSCommandIntegrityCheck = "integrity-check"
/// Commands for full-text tables, a format of two numbers.
public let kFTSCommandMerge = "merge=%u,%u"
/// Commands for full-text tables, a format of a number.
public let kFTSCommandAutoMerge = "automerge=%u"

private let registered = Lock<[String: any FMTokenizerDelegate]>([:])

extension FMDatabase {
    /// Registers the tokenizer of tables that name none, for all databases. It is kept.
    public class func registerTokenizer(_ tokenizer: any FMTokenizerDelegate) {
        registerTokenizer(tokenizer, withKey: "")
    }

    /// Registers a tokenizer for all databases: `tokenize=fmdb key`. It is kept.
    public class func registerTokenizer(_ tokenizer: any FMTokenizerDelegate, withKey key: String) {
        registered.withLock { $0[key] = tokenizer }
    }

    /// Makes the registered tokenizers known to this database, under the name `fmdb`.
    @discardableResult public func installTokenizerModule() -> Bool { installTokenizerModule(withName: "fmdb") }

    /// Makes the registered tokenizers known to this database, under a name.
    @discardableResult public func installTokenizerModule(withName name: String) -> Bool {
        attempt {
            try database.makeTokenizer(named: name) { text, arguments in
                let tokenizer = registered.withLock { $0[arguments.first ?? ""] }
                return tokenizer.map { FMDatabase.tokens(of: text, $0) } ?? []
            }
        }
    }

    private static func tokens(of text: String, _ tokenizer: any FMTokenizerDelegate) -> [Token] {
        var cursor = FMTokenizerCursor(text)
        var tokens: [Token] = []
        tokenizer.openTokenizerCursor(&cursor)
        while !tokenizer.nextToken(for: &cursor) {
            guard let range = Range(cursor.currentRange, in: text) else { break }
            let start = text.utf8.distance(from: text.startIndex, to: range.lowerBound)
            let end = text.utf8.distance(from: text.startIndex, to: range.upperBound)
            tokens.append(Token(cursor.tokenString, range: start..<end))
            cursor.tokenIndex += 1
        }
        tokenizer.closeTokenizerCursor(&cursor)
        return tokens
    }

    /// Gives a full-text table a command.
    @discardableResult public func issueCommand(_ command: String, forTable tableName: String) -> Bool {
        attempt {
            try database.executeUpdate(
                "INSERT INTO \(identifier: tableName) (\(identifier: tableName)) VALUES (\(command))"
            )
        }
    }
}

/// What the function `offsets` of FTS3 and FTS4 gives for a row.
public struct FMTextOffsets {
    private let numbers: [Int]

    /// From the function's text.
    public init(dbOffsets text: String) {
        numbers = text.split(separator: " ").compactMap { Int($0) }
    }

    /// Calls `block` for each match: the column, the term of the query, and the place in bytes of UTF-8.
    public func enumerate(_ block: (_ columnNumber: Int, _ termNumber: Int, _ matchRange: NSRange) -> Void) {
        for start in stride(from: 0, to: numbers.count - 3, by: 4) {
            block(numbers[start], numbers[start + 1], NSRange(location: numbers[start + 2], length: numbers[start + 3]))
        }
    }
}

extension FMResultSet {
    /// What the function `offsets` gave in a column; no matches for NULL.
    public func offsets(forColumnIndex columnIdx: Int32) -> FMTextOffsets {
        FMTextOffsets(dbOffsets: string(forColumnIndex: columnIdx) ?? "")
    }
}
