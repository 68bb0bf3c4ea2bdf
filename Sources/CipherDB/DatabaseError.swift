/// A failure of SQLite, or of a call that asked for something that cannot be.
///
/// It never carries bound values or keys; SQL that sets a key is left out.
public struct DatabaseError: Error, Sendable, Equatable {
    /// SQLite's extended result code; ``ResultCode/primary`` gives the primary one.
    public let code: ResultCode
    /// What went wrong, in SQLite's words or in ours.
    public let message: String
    /// The SQL of the statement, without its values.
    public let sql: String?

    init(_ code: ResultCode, _ message: String, sql: String? = nil) {
        self.code = code
        self.message = message
        self.sql = sql.map(DatabaseError.redacted)
    }

    /// Statements that set or give a key are not repeated anywhere.
    private static func redacted(_ sql: String) -> String {
        let words = sql.lowercased()
        let givesKey = words.contains("pragma") || words.contains("attach") || words.contains("?key=")
        return givesKey && words.contains("key") ? "(not shown: the statement may hold a key)" : sql
    }
}

extension DatabaseError: CustomStringConvertible {
    /// Such as `UNIQUE constraint failed: t.a (SQLite code 2067), in: INSERT INTO t VALUES (?)`.
    public var description: String {
        "\(message) (SQLite code \(code.rawValue))" + (sql.map { ", in: \($0)" } ?? "")
    }
}
