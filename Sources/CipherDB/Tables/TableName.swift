/// The name of a table, in the main database unless it says in which one. It may have any characters: it is quoted where it is used.
public struct TableName: Sendable, Hashable, ExpressibleByStringLiteral {
    /// The database: `main`, `temp` or the name that one was attached by; nil for whichever has the table, as in SQL.
    public let schema: String?
    /// The table, without the database.
    public let name: String

    /// A table, in a database.
    public init(_ name: String, in schema: String? = nil) {
        self.name = name
        self.schema = schema
    }

    /// A table in whichever database has it.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// As it stands in SQL.
    var quoted: String {
        (schema.map { quotedIdentifier($0) + "." } ?? "") + quotedIdentifier(name)
    }
}
