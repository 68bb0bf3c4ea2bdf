extension Database {
    /// What an error of the engine really is: codes 11 and 26 do not say which pages are damaged, or that the key was
    /// changed by another connection.
    func explained(_ error: any Error) -> any Error {
        guard let failure = error as? DatabaseError,
            failure.code.primary == .corrupt || failure.code.primary == .notADatabase,
            case .keyed(let connection, let verifiedKey) = state
        else { return error }
        guard verifiedKey.format.pageAuthentication != nil else {
            return failure.code.primary == .notADatabase
                ? KeyError(.wrongKey, path: nameOfFile(connection)) : failure
        }
        // A failure of the scan itself leaves the engine's own error to be told.
        guard let scan = try? scanOnce(verifiedKey) else { return error }
        // Nothing is the matter with this file: the statement met another, which it attached.
        if scan.isEmpty { return failure }
        return damage(scan, connection)
    }

    /// What it means that these pages are damaged.
    func damage(_ pages: [Int], _ connection: Connection) -> KeyError {
        pages == [0] ? KeyError(.wrongKey, path: nameOfFile(connection)) : .damage(pages, of: nameOfFile(connection))
    }

    private func nameOfFile(_ connection: Connection) -> String {
        path.flatMap { flags.contains(.uri) ? nil : $0 } ?? connection.filename
    }

    /// The damaged pages; `[0]` where no page is authentic, which is a wrong key.
    private func scanOnce(_ verifiedKey: VerifiedKey) throws -> [Int] {
        if let knownDamage { return knownDamage }
        guard let connection else { return [] }
        let damaged = try StoredPages(connection).damagedPages(verifiedKey)
        knownDamage = damaged
        return damaged
    }
}
