/// What was not checked, because only the program has the functions, collations, modules or tokenizers for it.
enum UncheckedLines {
    static func of(_ unchecked: [String]) -> [(String, String)] { unchecked.map { ("not checked", $0) } }

    /// For JSON, which leaves an empty list out.
    static func object(_ unchecked: [String]) -> [String]? { unchecked.isEmpty ? nil : unchecked }
}
