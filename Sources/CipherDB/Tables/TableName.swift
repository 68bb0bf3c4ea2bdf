/// The name of a table, and optionally of its database. It may have any characters: it is quoted where it is used. Names that
/// differ in the case of letters only are equal, as they are in SQL.
public struct TableName: Sendable, Hashable, ExpressibleByStringInterpolation {
    /// The database: `main`, `temp` or the name that one was attached by; nil for whichever has the table, as in SQL.
    public let schema: String?
    /// The table, without the database.
    public let name: String

    /// A table, in a database.
    public init(_ name: String, in schema: String? = nil) {
        self.name = name
        self.schema = schema
    }

    /// A table in whichever database has it: `"notes"`, or `"notes_\(year)"`.
    public init(stringLiteral name: String) {
        self.init(name)
    }

    /// Whether both name the same table. A name without a database equals the one in `main`, which it means unless `temp` has such a
    /// table.
    public static func == (left: TableName, right: TableName) -> Bool {
        left.name.isSameName(as: right.name) && left.schemaOrMain == right.schemaOrMain
    }

    /// Of equal names the same.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name.lowercased())
    }

    private var schemaOrMain: String { schema?.lowercased() ?? "main" }

    /// As it stands before the name of one of its columns: a misspelt column is an error then, and no text.
    func column(_ name: String) -> String { quotedIdentifier(self.name) + "." + quotedIdentifier(name) }

    /// As it stands in SQL.
    var quoted: String {
        (schema.map { quotedIdentifier($0) + "." } ?? "") + quotedIdentifier(name)
    }
}

extension String {
    /// Whether they are the same name in SQL.
    /// Whether they are the same but for the case of ASCII letters, as SQLite compares names.
    func isSameName(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return zip(utf8, other.utf8).allSatisfy { $0 == $1 || ($0 ^ $1 == 0x20 && (0x61...0x7a).contains($0 | 0x20)) }
    }
}

extension TableName: CustomStringConvertible {
    /// Such as `main.notes`.
    public var description: String { (schema.map { $0 + "." } ?? "") + name }
}
