public import CipherKeys

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

    private static let mayBeStored =
        "the disk failed while the commit was written, so its changes may be there, or come back when the file is opened again; look before "
        + "you run it again"

    /// The same, of a commit of which the disk may have all.
    var ofCommit: DatabaseError { DatabaseError(code, "\(message); \(DatabaseError.mayBeStored)", sql: sql) }

    /// Of each block that waited for a commit, where another block ended the transaction. A full disk is everybody's.
    ///
    /// - Parameter mayBeStored: Whether that block committed, and failed.
    static func sharedTransactionEnded(_ cause: (any Error)?, mayBeStored: Bool) -> DatabaseError {
        if mayBeStored {
            return DatabaseError((cause as? DatabaseError)?.code ?? .inputOutput, DatabaseError.mayBeStored)
        }
        let failure = (cause as? DatabaseError).flatMap { StorageFailure.concerns($0.code) ? $0 : nil }
        return DatabaseError(
            failure?.code ?? .abortedByRollback,
            "the transaction that this block shared with others was rolled back as a whole, by an error in another block; nothing of this one "
                + "was stored. Run it again, or see Configuration.sharesCommits"
                + (failure.map { ": \($0.message)" } ?? "")
        )
    }

    /// Of a block that would wait for one that never ends.
    static let processIsEnding = DatabaseError(.busy, "the process is ending, and another block has the turn")

    /// Of each use of a queue or pool after its database was closed.
    static let closed = DatabaseError(.misuse, "the database was closed; open a new queue or pool")

    /// Of each block between ``DatabaseWriter/suspend()`` and ``DatabaseWriter/resume()``.
    static let suspended = DatabaseError(
        .aborted,
        "the database is suspended; call resume() when the app is active again"
    )

    /// What stands for SQL that may hold a key.
    static let hiddenSQL = "(a statement that may hold a key)"
}

extension DatabaseError: DescribedError {
    /// Such as `UNIQUE constraint failed: t.a (SQLite code 2067), in: INSERT INTO t VALUES (?)`.
    public var description: String {
        "\(message) (SQLite code \(code.rawValue))"
            + (sql.map { ", in: \($0)" } ?? "")
    }
}

// Codes to match errors by: `catch DatabaseError.constraintUnique`, `case .busy:` in a `switch`.
extension ResultCode {
    /// Whether an error of any type is a ``DatabaseError`` with this code, or of its kind: `constraint` matches each of its extended codes.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        (error as? DatabaseError).map { pattern ~= $0.code } ?? false
    }
}

extension DatabaseError {
    /// Whether the error has this code, or one of its kind.
    public static func ~= (pattern: ResultCode, error: DatabaseError) -> Bool { pattern ~= error.code }

    /// The codes by their names, as patterns: `catch DatabaseError.busy`.
    public static subscript(dynamicMember code: KeyPath<ResultCode.Type, ResultCode>) -> ResultCode {
        ResultCode.self[keyPath: code]
    }
}

extension DatabaseError {
    /// Whether a statement sets or gives a key, so that it is repeated nowhere.
    ///
    /// ATTACH and VACUUM INTO name files, and SQLCipher takes a key from a file's name. By bytes, because each statement that is
    /// compiled is asked about: SQLite's own words have ASCII letters only.
    static func mayHoldKey(_ sql: String) -> Bool {
        var sql = sql
        return sql.withUTF8 { sql in
            var hasVacuum = false
            var hasInto = false
            var hasPragma = false
            var hasKey = false
            for (index, byte) in sql.enumerated() {
                switch byte | 0x20 {
                case UInt8(ascii: "a") where has("attach", sql, at: index): return true
                case UInt8(ascii: "v"): hasVacuum = hasVacuum || has("vacuum", sql, at: index)
                case UInt8(ascii: "i"): hasInto = hasInto || has("into", sql, at: index)
                case UInt8(ascii: "p"): hasPragma = hasPragma || has("pragma", sql, at: index)
                case UInt8(ascii: "k"):
                    // The pragmas of foreign keys have none.
                    hasKey =
                        hasKey
                        || (has("key", sql, at: index) && !(index >= 8 && has("foreign_", sql, at: index - 8)))
                default: break
                }
            }
            return hasVacuum && hasInto || hasPragma && hasKey
        }
    }

    /// Whether `word`, in lower case, stands at `index` in letters of either case.
    private static func has(_ word: StaticString, _ sql: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
        guard sql.count - index >= word.utf8CodeUnitCount else { return false }
        for offset in 0..<word.utf8CodeUnitCount {
            let byte = sql[index + offset]
            let lower = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
            guard lower == word.utf8Start[offset] else { return false }
        }
        return true
    }
}
