/// An error of SQLite, or of a call that cannot be carried out.
///
/// It never carries bound values or keys; SQL that sets a key is left out.
@dynamicMemberLookup
public struct DatabaseError: Error, Sendable, Equatable {
    /// SQLite's extended result code; ``ResultCode/primary`` gives the primary one.
    public let code: ResultCode
    /// What went wrong, in SQLite's words or in ours.
    public let message: String
    /// The SQL of the statement, without its values; of a long one the beginning.
    public let sql: String?

    /// An error of a function written in Swift, for the caller of the statement.
    public init(code: ResultCode, message: String) {
        self.init(code, message)
    }

    init(_ code: ResultCode, _ message: String, sql: String? = nil) {
        self.code = code
        let hides = sql.map(DatabaseError.mayHoldKey) ?? false
        // The engine's messages quote parts of the SQL.
        self.message = hides ? "the statement failed; its text is not shown, because it may hold a key" : message
        self.sql = hides ? nil : sql.map(DatabaseError.bounded)
    }

    /// The beginning of a text that may be as long as a statement.
    static func bounded(_ text: String) -> String {
        text.utf8.count > 500 ? String(text.unicodeScalars.prefix(500)) + "…" : text
    }

    /// Says what to write where a value stands for a name, or a list has no parentheses.
    func explainingParameter() -> DatabaseError {
        guard message == #"near "?": syntax error"# else { return self }
        // The SQL may be hidden, as it may hold a key.
        let isList = sql?.contains(#/(?i)\bin\s*\?/#) == true
        return DatabaseError(
            code,
            message
                + (isList
                    ? #"; a list stands in parentheses: IN (\(list: values))"#
                    : #"; a parameter cannot be a name; use \(identifier: name)"#),
            sql: sql
        )
    }

    /// Of each statement in a block whose transaction ended before the block.
    static let transactionEnded = DatabaseError(
        .abortedByRollback,
        "the transaction of this block has ended, by an error, a rollback or a commit, so no statement can follow; to undo a "
            + "block, throw, or set its argument `rollback`"
    )

    /// Of each use of a queue or pool after its database was closed.
    static let processIsEnding = DatabaseError(.busy, "the process is ending, and another block has the turn")
    static let closed = DatabaseError(.misuse, "the database was closed; open a new queue or pool")

    /// What stands for SQL that may hold a key.
    static let hiddenSQL = "(a statement that may hold a key)"
}

extension DatabaseError: CustomStringConvertible {
    /// Such as `UNIQUE constraint failed: t.a (SQLite code 2067), in: INSERT INTO t VALUES (?)`.
    public var description: String {
        "\(message) (SQLite code \(code.rawValue))"
            + (sql.map { ", in: \($0)" } ?? "")
    }
}
