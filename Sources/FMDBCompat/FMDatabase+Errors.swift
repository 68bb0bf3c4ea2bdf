internal import CipherDB
public import Foundation

extension FMDatabase {
    /// What went wrong in the last call, or `not an error`.
    public func lastErrorMessage() -> String { failure?.message ?? "not an error" }

    /// SQLite's code of what went wrong in the last call; 0 for nothing.
    public func lastErrorCode() -> Int32 { failure?.code.primary.rawValue ?? 0 }

    /// SQLite's extended code of what went wrong in the last call; 0 for nothing.
    public func lastExtendedErrorCode() -> Int32 { failure?.code.rawValue ?? 0 }

    /// Whether the last call failed.
    public func hadError() -> Bool { failure != nil }

    /// What went wrong in the last call, in FMDB's domain.
    public func lastError() -> NSError { FMDatabase.error(failure) }

    /// Runs `body` and keeps what it throws. True where it threw nothing.
    func attempt(_ body: () throws -> Void) -> Bool {
        answer { try body() } != nil
    }

    /// What `body` returns; nil, and the error kept, where it throws.
    func answer<Result>(_ body: () throws -> Result) -> Result? {
        do {
            return try rethrowing(body)
        } catch {
            return nil
        }
    }

    /// What `body` returns. What it throws is kept, and thrown as FMDB's kind of error.
    func rethrowing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            failure = nil
            return try body()
        } catch {
            note(error)
            throw lastError()
        }
    }

    /// Keeps an error as that of the last call.
    func note(_ error: any Error) {
        let kept = FMDatabase.databaseError(error)
        failure = kept
        // Most likely PRAGMA key: what comes next would be written in plaintext.
        if kept.code.primary == .notAuthorized, databasePath != nil, database.verifiedKey == nil {
            requiresKey = true
            closeUnlessKeyed()
        }
        if logsErrors { FMDatabase.log("error \(kept.code.rawValue): \(FMDatabase.withoutQuotations(kept.message))") }
        if crashOnErrors { fatalError("FMDB: error \(kept.code.rawValue), and crashOnErrors is set") }
    }

    /// The message without what it quotes, which may be a value in the SQL.
    private static func withoutQuotations(_ message: String) -> String {
        guard let first = message.firstIndex(where: { $0 == "\"" || $0 == "'" }),
            let last = message.lastIndex(where: { $0 == "\"" || $0 == "'" })
        else { return message }
        return message[..<first] + "…" + message[message.index(after: last)...]
    }

    static func error(_ failure: DatabaseError?) -> NSError {
        NSError(
            domain: "FMDatabase",
            code: Int(failure?.code.primary.rawValue ?? 0),
            userInfo: [NSLocalizedDescriptionKey: failure?.message ?? "not an error"]
        )
    }

    private static func databaseError(_ error: any Error) -> DatabaseError {
        switch error {
        case let error as DatabaseError: error
        // SQLite has one code for all that can be wrong with a key.
        case let error as KeyError: DatabaseError(code: .notADatabase, message: "\(error)")
        case let error as MalformedKey: DatabaseError(code: .misuse, message: "\(error)")
        default: DatabaseError(code: .error, message: "\(error)")
        }
    }
}
