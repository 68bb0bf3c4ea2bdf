/// A pattern for `MATCH` of an FTS5 index, made from text that users type. It is never malformed, and never means more than its words.
///
/// ```swift
/// guard let pattern = FTS5Pattern(matchingAllTokensIn: typed) else { return [] }
/// let notes = try database.fetchAll(
///     Note.self,
///     "SELECT notes.* FROM notes JOIN found ON found.rowid = notes.id WHERE found MATCH \(pattern) ORDER BY rank"
/// )
/// ```
///
/// Words are what stands between spaces. The index's tokenizer divides each further: what it divides must stand next to each other, so
/// `ABC-123` is a phrase of two tokens, or one token with `tokenchars '-'`. A word of which it makes no token, such as `&`, is left out;
/// where none is left, nothing is found. The language is that of sqlite.org/fts5.html#full_text_query_syntax.
public struct FTS5Pattern: ColumnEncodable, Hashable, CustomStringConvertible {
    /// The pattern in FTS5's language.
    public let description: String
    /// The operator between its parts; nil for one part.
    private let operation: String?

    private init(_ description: String, _ operation: String? = nil) {
        self.description = description
        self.operation = operation
    }

    /// Nil where there is no word.
    private init?(wordsOf text: String, _ suffix: String = "", joinedBy operation: String?) {
        let words = FTS5Pattern.parts(of: text) { $0.properties.isWhitespace || $0 == "\0" }
        guard !words.isEmpty else { return nil }
        // Side by side all must be there, but for those without a token, and they bind more tightly than any operator.
        self.init(words.map { $0 + suffix }.joined(separator: operation ?? " "), words.count > 1 ? operation : nil)
    }

    /// Rows that have each word of the text, in any order; nil where it has no word.
    public init?(matchingAllTokensIn text: String) {
        self.init(wordsOf: text, joinedBy: nil)
    }

    /// Rows that have one of the words of the text; nil where it has no word.
    public init?(matchingAnyTokenIn text: String) {
        self.init(wordsOf: text, joinedBy: " OR ")
    }

    /// Rows that have, for each word of the text, one that begins with it; nil where it has no word.
    public init?(matchingAllPrefixesIn text: String) {
        self.init(wordsOf: text, " *", joinedBy: nil)
    }

    /// Rows that have the words of the text next to each other and in this order; nil where it has no word.
    public init?(matchingPhrase text: String) {
        guard text.unicodeScalars.contains(where: { !$0.properties.isWhitespace && $0 != "\0" }) else { return nil }
        // The language cannot say NUL, which tokenizers take for a space.
        self.init(FTS5Pattern.parts(of: text) { $0 == "\0" }.joined(separator: " + "))
    }

    /// As a phrase, the last of whose words may go on; nil where the text has no word.
    public init?(matchingPrefixPhrase text: String) {
        guard let phrase = FTS5Pattern(matchingPhrase: text) else { return nil }
        self.init(phrase.description + " *")
    }

    /// Rows that both match. FTS5 takes some dozens of patterns of different operators in each other, and any number of the same.
    public static func && (left: FTS5Pattern, right: FTS5Pattern) -> FTS5Pattern {
        FTS5Pattern(left.part(of: " AND ") + " AND " + right.part(of: " AND "), " AND ")
    }

    /// Rows that one of them matches, or both.
    public static func || (left: FTS5Pattern, right: FTS5Pattern) -> FTS5Pattern {
        FTS5Pattern(left.part(of: " OR ") + " OR " + right.part(of: " OR "), " OR ")
    }

    /// Rows that this matches and the other does not.
    public func excluding(_ other: FTS5Pattern) -> FTS5Pattern {
        // NOT takes from what is left of it.
        FTS5Pattern(part(of: " NOT ") + " NOT " + other.part(of: nil), " NOT ")
    }

    /// As a part of a pattern with an operator: without brackets where it has the same, because the engine's parser bounds their depth.
    private func part(of operation: String?) -> String {
        self.operation == nil || self.operation == operation ? description : "(\(description))"
    }

    /// The pattern in FTS5's language.
    public var databaseValue: DatabaseValue { .text(description) }

    /// The words between separators, each as a string of FTS5's: only a quote has a meaning in it, as in an identifier of SQL.
    private static func parts(of text: String, separatedBy isSeparator: (Unicode.Scalar) -> Bool) -> [String] {
        text.unicodeScalars.split(whereSeparator: isSeparator).map {
            quotedIdentifier(String(String.UnicodeScalarView($0)))
        }
    }
}
