internal import CSQLCipher
internal import CipherSystem
internal import SQLiteFormat

/// Why a statement failed, in words that quote no value.
extension PreparedStatement {
    /// Ends the execution, and returns the error to throw: that of a function written in Swift before that of the engine.
    func didFail(_ code: Int32) -> any Error {
        if code == SQLITE_INTERRUPT, connection.sharing == .rolledBack {
            reset()
            return DatabaseError(.interrupted, "interrupted", sql: sql)
        }
        let error = cause(of: connection.error(code, sql: sql))
        corruptionGuard?.didFail()
        reset()
        let isOfCommit = connection.tracker?.takeMayBeStored() == true && !connection.isInTransaction
        if let thrown = connection.takeCallbackError() { return thrown }
        return withoutValues(isOfCommit && mayBeStored(error) ? error.ofCommit : error)
    }

    /// Whether the changes may be there all the same: a disk that fails may have the commit, and a journal that stays is ended by a write.
    private func mayBeStored(_ error: DatabaseError) -> Bool {
        guard error.code.primary != .inputOutput else { return true }
        let journal = try? FileBytes(path: SideFile.rollbackJournal.path(of: connection.filename))
        return journal.map { (try? StoredPages.isHot($0)) != false } ?? false
    }

    /// What an error of the engine comes of, where its code does not say it.
    private func cause(of error: DatabaseError) -> DatabaseError {
        reported?.failed(error.code)
        let isOverLimit = connection.progress.takeOverLimit()
        let code = isOverLimit ? .outOfMemory : error.code
        if corruptionGuard?.isDamage(code) == true || connection.hasMetDamage(code) {
            return connection.damagedPage(sql)
        }
        if [.corrupt, .notADatabase].contains(code.primary), code != .corruptVirtualTable {
            connection.instruments?.metDamage()
        }
        guard isOverLimit else { return error }
        return DatabaseError(
            .outOfMemory,
            "the process took more memory while the statement ran than Configuration.statementMemoryLimit allows; "
                + "sort or change fewer rows at a time, or raise the limit",
            sql: sql
        )
    }

    /// The error without a message that may quote a value.
    private func withoutValues(_ error: DatabaseError) -> DatabaseError {
        if error.code == .constraintTrigger, !connection.hasTrigger(raising: error.message) {
            return DatabaseError(
                error.code,
                "a trigger refused it; its message is not shown, as it may quote a value",
                sql: sql
            )
        }
        // Messages of these may quote a value: json_extract and MATCH do. The name of a tokenizer stands in the schema.
        guard error.code.primary == .error, parameterCount > 0 || access.readsRows,
            !error.message.hasPrefix("no such tokenizer: ")
        else { return error }
        // Where the schema was changed meanwhile, the SQL itself fails.
        do throws(DatabaseError) {
            try connection.prepare(sql)?.statement.finalize()
        } catch {
            return error
        }
        return DatabaseError(
            error.code,
            "the statement failed on one of its values; SQLite's message is not shown, as it may quote it"
                + (sql.lowercased().contains("match")
                    ? "; use FTS5Pattern for a full-text pattern, and do not search where it is nil" : ""),
            sql: sql
        )
    }

    /// Throws where somebody has it.
    @inline(__always) func checkIsFree() throws(DatabaseError) {
        if case .taken(let taker, _) = state { throw misuse(whileTakenBy: taker) }
    }

    private func misuse(whileTakenBy taker: Taker) -> DatabaseError {
        switch taker {
        case .engine: DatabaseError(.misuse, "a function tried to run the statement that called it", sql: sql)
        case .program:
            DatabaseError(.misuse, "the closure that reads the bytes of a row tried to run its statement", sql: sql)
        }
    }
}
