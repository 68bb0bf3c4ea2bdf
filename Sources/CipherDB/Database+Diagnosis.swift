internal import CipherPages

extension Database {
    /// What an error of the engine really is: codes 11 and 26 do not say which pages are damaged, or that the key was
    /// changed by another connection.
    func explained(_ error: any Error) -> any Error {
        guard let failure = error as? DatabaseError,
            failure.code.primary == .corrupt || failure.code.primary == .notADatabase,
            case .keyed(_, let unlocked) = state
        else { return error }
        guard unlocked.format.pageAuthentication != nil else {
            return failure.code.primary == .notADatabase ? KeyError.wrongKey : failure
        }
        // A failure of the scan itself leaves the engine's own error to be told.
        guard let scan = try? scanOnce(unlocked) else { return error }
        // Nothing is the matter with this file: the statement met another, which it attached.
        if scan.isEmpty { return failure }
        return scan == [0] ? KeyError.wrongKey : KeyError.damaged(pages: scan)
    }

    /// The damaged pages; `[0]` where no page is authentic, which is a wrong key.
    private func scanOnce(_ unlocked: Unlocked) throws -> [Int] {
        if let knownDamage { return knownDamage }
        guard let connection else { return [] }
        let damaged = try damagedPages(connection, unlocked)
        knownDamage = damaged
        return damaged
    }

    /// The pages that are damaged, or missing at the end of a file that was cut off; `[0]` where no page is authentic.
    func damagedPages(_ connection: Connection, _ unlocked: Unlocked) throws -> [Int] {
        let result = try pageScan(connection, unlocked, countedOnly: true).run()
        // A page at the end that was cut off is damaged, and not among the whole ones.
        if result.damaged.filter({ $0 <= result.pages }).count >= result.pages, result.pages > 0 { return [0] }
        return result.damaged
    }

    /// What an error of the engine at the first read under a key that fits really is.
    func explained(_ error: DatabaseError, _ connection: Connection, _ unlocked: Unlocked) -> any Error {
        guard unlocked.format.pageAuthentication != nil, let pages = try? damagedPages(connection, unlocked),
            !pages.isEmpty, pages != [0]
        else { return error }
        return KeyError.damaged(pages: pages)
    }
}
