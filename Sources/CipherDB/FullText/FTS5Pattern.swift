/// What `MATCH` of an FTS5 index looks for, made of text that people type: it is never malformed, and never means more than its words.
///
/// ```swift
/// guard let pattern = FTS5Pattern(matchingAllTokensIn: typed) else { return [] }
/// let notes = try database.fetchAll(
///     Note.self,
///     "SELECT notes.* FROM notes JOIN found ON found.rowid = notes.id WHERE found MATCH \(pattern) ORDER BY rank"
/// )
/// ```
///
/// Words are what stands between spaces and punctuation; the index's tokenizer may divide and fold them further. The language is that of
/// sqlite.org/fts5.html#full_text_query_syntax.
public struct FTS5Pattern: Bindable, Hashable, CustomStringConvertible {
    /// The pattern in FTS5's language.
    public let description: String

    private init(_ description: String) {
        self.description = description
    }

    /// Nil where there is no term.
    private init?(_ terms: [String], joinedBy operation: String) {
        guard !terms.isEmpty else { return nil }
        description = terms.joined(separator: operation)
    }

    /// Rows that have each word of the text, in any order; nil where it has no word.
    public init?(matchingAllTokensIn text: String) {
        self.init(FTS5Pattern.words(of: text).map(FTS5Pattern.term), joinedBy: " AND ")
    }

    /// Rows that have one of the words of the text; nil where it has no word.
    public init?(matchingAnyTokenIn text: String) {
        self.init(FTS5Pattern.words(of: text).map(FTS5Pattern.term), joinedBy: " OR ")
    }

    /// Rows that have, for each word of the text, one that begins with it; nil where it has no word.
    public init?(matchingAllPrefixesIn text: String) {
        self.init(FTS5Pattern.words(of: text).map { FTS5Pattern.term($0) + " *" }, joinedBy: " AND ")
    }

    /// Rows that have the words of the text next to each other and in this order; nil where it has no word.
    public init?(matchingPhrase text: String) {
        self.init(FTS5Pattern.words(of: text).map(FTS5Pattern.term), joinedBy: " + ")
    }

    /// As a phrase, the last of whose words may go on; nil where the text has no word.
    public init?(matchingPrefixPhrase text: String) {
        self.init(matchingPhrase: text)
        self = FTS5Pattern(description + " *")
    }

    /// Rows that both match.
    public static func && (left: FTS5Pattern, right: FTS5Pattern) -> FTS5Pattern {
        FTS5Pattern("(\(left)) AND (\(right))")
    }

    /// Rows that one of them matches, or both.
    public static func || (left: FTS5Pattern, right: FTS5Pattern) -> FTS5Pattern {
        FTS5Pattern("(\(left)) OR (\(right))")
    }

    /// Rows that this matches and the other does not.
    public func excluding(_ other: FTS5Pattern) -> FTS5Pattern { FTS5Pattern("(\(self)) NOT (\(other))") }

    /// The pattern in FTS5's language.
    public var databaseValue: DatabaseValue { .text(description) }

    /// A string of FTS5's, in which nothing but a quote has a meaning; the words have none.
    private static func term(_ word: String) -> String { "\"\(word)\"" }

    private static func words(of text: String) -> [String] {
        text.unicodeScalars.split { !isPartOfWord($0) }.map { String(String.UnicodeScalarView($0)) }
    }

    /// What FTS5's own tokenizers make tokens of: letters, digits and what combines with them, and characters of private use.
    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .letterNumber,
            .otherNumber, .nonspacingMark, .spacingMark, .enclosingMark, .privateUse:
            true
        default: false
        }
    }
}
