internal import CipherDB
internal import CipherSystem
internal import Foundation

extension FMDatabase {
    static func text(_ value: DatabaseValue) -> Any {
        switch value {
        case .null: NSNull()
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .blob(let value): String(utf8: value) ?? NSNull()
        }
    }

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
        let stay: Turn.Stay
        do {
            stay = try turn.enter()
        } catch {
            throw FMDatabase.error(logged(error))
        }
        defer { turn.leave(stay) }
        do {
            if lastCall.failure != nil { lastCall.failure = nil }
            return try body()
        } catch {
            throw noted(error)
        }
    }

    /// The error that FMDB has for it, which is kept.
    func noted(_ error: any Error) -> any Error {
        note(error)
        return lastError()
    }

    /// Runs `body` as one call; `refused`, and nothing happens, where the calling thread must not use the database.
    func inTurn<Result>(or refused: Result, _ body: () -> Result) -> Result {
        guard let stay = turn.enterIfFree() else { return refused }
        defer { turn.leave(stay) }
        return body()
    }

    /// Begins a block of the queue or pool that has it, for `turn.end()`; false in a child of the process that made it.
    func beginBlock() -> Bool {
        do {
            try turn.begin()
            return true
        } catch {
            logged(error)
            return false
        }
    }

    /// Of a call that was refused: the last call's own error is another thread's.
    @discardableResult private func logged(_ refusal: any Error) -> DatabaseError {
        if logsErrors { FMDatabase.log(refusal: refusal) }
        return FMDatabase.databaseError(refusal)
    }

    /// Logs why a call was refused.
    static func log(refusal: any Error) {
        let refusal = databaseError(refusal)
        log("error \(refusal.code.rawValue): \(refusal.message)")
    }

    /// What went wrong in the last call; on a thread that must not use the database, that.
    var lastFailure: DatabaseError? {
        do {
            let stay = try turn.enter()
            defer { turn.leave(stay) }
            return lastCall.failure
        } catch {
            return FMDatabase.databaseError(error)
        }
    }

    /// Keeps an error as that of the last call.
    func note(_ error: any Error) {
        let kept = FMDatabase.databaseError(error)
        lastCall.failure = kept
        // What comes next would be written in plaintext.
        if kept.refusesKeyPragma, isOfFile, database.verifiedKey == nil {
            requiresKey = true
            closeUnlessKeyed()
        }
        if logsErrors { FMDatabase.log("error \(kept.code.rawValue): \(FMDatabase.withoutQuotations(kept.message))") }
        if crashOnErrors { fatalError("FMDB: error \(kept.code.rawValue), and crashOnErrors is set") }
    }

    /// The message without what it quotes, which may be a value in the SQL.
    static func withoutQuotations(_ message: String) -> String {
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

    /// The message, with advice for users of FMDB in place of that for users of `Database`.
    private static func message(of error: KeyError) -> String {
        let path = error.path.isEmpty ? "" : "\(error.path): "
        return switch error.code {
        case .keyMissing: path + "no key was given for an encrypted database; call setKey(_:) after open()"
        case .notEncrypted: path + "the file is a plaintext SQLite database; encrypt it, or open it without setKey(_:)"
        default: "\(error)"
        }
    }

    static func databaseError(_ error: any Error) -> DatabaseError {
        switch error {
        case let error as DatabaseError: error
        // SQLite has one code for all that can be wrong with a key.
        case let error as KeyError: DatabaseError(code: .notADatabase, message: message(of: error))
        case is MalformedKey, is UsedAfterFork: DatabaseError(code: .misuse, message: "\(error)")
        default: DatabaseError(code: .error, message: "\(error)")
        }
    }
}
