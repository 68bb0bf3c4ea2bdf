internal import CSQLCipher

/// Looking for damaged pages, in each database that the statement reads.
extension PreparedStatement {
    func guardOfPages() -> CorruptionGuard {
        isGuarded = true
        if let corruptionGuard { return corruptionGuard }
        let new = CorruptionGuard(connection, sql: sql, accessing: access, isReadOnly: isReadOnly)
        corruptionGuard = new
        return new
    }

    func checkPages() throws(DatabaseError) {
        guard let uncountedGuard, uncountedGuard._withUnsafeGuaranteedRef({ $0.mayHaveFailed }) else { return }
        do throws(DatabaseError) {
            try corruptionGuard?.check()
        } catch {
            reported?.failed(error.code)
            // An error of the reset is not reported beside this one.
            state = .ended
            reset()
            throw error
        }
    }

    /// SQLite compiled the statement again during the step, or a function or trigger ran others.
    func followAccess(_ next: AfterStep) throws(DatabaseError) {
        let found = connection.authorizer.takeAccess()
        // The schema that it copied into is gone.
        guard !found.isVacuum else {
            connection.tracker?.replaced()
            return
        }
        let before = access.schemas.count
        access.formUnion(found)
        // Also of a query whose function writes.
        connection.tracker?.willRun(access)
        guard connection.isWatched else { return }
        guard access.schemas.count > before else {
            corruptionGuard?.access = access
            return
        }
        // By a function that runs statements of its own.
        let onRow = if case .onRow = state, case .nothing = next { isReadOnly } else { false }
        do throws(DatabaseError) {
            try guardOfPages().readsMore(access, onRow: onRow)
        } catch {
            reset()
            throw error
        }
    }

    /// Whether SQLite, before it runs anything, compiles the statement again, and it then reads a database that is not watched for it.
    func isCompiledToReadMore(_ found: TableAccess) -> Bool {
        // Within a VACUUM, a function or a virtual table others are compiled.
        guard let handle, sqlite3_stmt_busy(handle) == 0, !found.isVacuum, !access.readsAllSchemas else { return false }
        return found.readsAllSchemas || found.schemas.contains { !access.schemas.contains($0) }
    }

    /// Whether the step was refused because of ``isCompiledToReadMore(_:)``: it is made again, with what it reads being watched.
    func followRefusal(_ handle: OpaquePointer) throws(DatabaseError) -> Bool {
        guard connection.authorizer.hasAccess, connection.authorizer.takeRefusedUnwatched() else { return false }
        _ = connection.working { sqlite3_reset(handle) }
        state = .idle
        access.formUnion(connection.authorizer.takeAccess())
        try guardOfPages().readsMore(access, onRow: false)
        return true
    }
}
