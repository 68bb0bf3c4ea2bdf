internal import CipherKeys
internal import CipherPages

// Trying a key on the file before the engine gets it.
extension Database {
    /// Tries `credential` in each of `formats`, on a connection that has not read anything yet, and makes the rollback that
    /// this needs.
    func probe(
        _ credential: Credential,
        formats: [CipherFormat],
        _ connection: Connection
    ) throws -> KeyProbe.Outcome {
        let (outcome, neededRollback) = try probeWithoutRollback(credential, formats, connection)
        guard let neededRollback else { return outcome }
        try rollBack(connection.filename, neededRollback)
        return try probeOnce(credential, formats, connection)
    }

    /// Tries `credential` without changing anything.
    ///
    /// Where page 1 is not authentic and a crash has left a transaction half-written, the page 1 of its journal is tried:
    /// what stands in the file may be neither the old nor the new. Only for a key that fits there is a rollback needed.
    func probeWithoutRollback(
        _ credential: Credential,
        _ formats: [CipherFormat],
        _ connection: Connection
    ) throws -> (outcome: KeyProbe.Outcome, neededRollback: Unlocked?) {
        let outcome = try probeOnce(credential, formats, connection)
        if case .opens = outcome { return (outcome, nil) }
        guard let file = rollbackJournal(of: connection), let journal = try RollbackJournal(file),
            let firstPage = try journal.firstPage()
        else { return (outcome, nil) }
        let ofJournal = try run(KeyProbe(firstPage: firstPage), credential, formats)
        guard case .opens(let key, let format) = ofJournal else { return (outcome, nil) }
        return (ofJournal, Unlocked(key: key, format: format))
    }

    /// The write-ahead log beside the database, where there is one.
    func writeAheadLog(of connection: Connection) -> FileBytes? {
        sideFile("-wal", of: connection)
    }

    /// The rollback journal beside the database, where there is one.
    func rollbackJournal(of connection: Connection) -> FileBytes? {
        sideFile("-journal", of: connection)
    }

    /// A journal or log, where there is one. They carry no locks, so they may be opened freely; but not a link to the
    /// database itself, because closing that would drop this process's locks on it.
    private func sideFile(_ suffix: String, of connection: Connection) -> FileBytes? {
        let path = connection.filename + suffix
        guard let side = try? Platform.status(of: path), let main = try? Platform.status(of: connection.filename),
            side.kind == .regular, side.identity != main.identity
        else { return nil }
        return try? FileBytes(path: path)
    }

    /// Throws where something else stands in the place of a journal, WAL or shared memory. The engine would wait for the writer of
    /// a pipe for ever, and overwrite the target of a link.
    func checkSideFiles(_ connection: Connection) throws { try checkSideFiles(of: connection.filename) }

    /// As above, of the database at `path`, links resolved.
    func checkSideFiles(of path: String) throws {
        for suffix in ["-journal", "-wal", "-shm"] {
            guard let side = try? Platform.statusOfLink(path + suffix) else { continue }
            guard side.kind == .regular else {
                throw DatabaseError(
                    .cannotOpen,
                    "\(path)\(suffix): a link, directory or pipe, and no file of SQLite's; remove it"
                )
            }
            guard side.linkCount == 1 || !flags.contains(.readWrite) else {
                throw DatabaseError(
                    .cannotOpen,
                    "\(path)\(suffix): has hard links, and writing to it would change another file; replace it by a copy"
                )
            }
        }
    }

    private func run(
        _ probe: KeyProbe,
        _ credential: Credential,
        _ formats: [CipherFormat]
    ) throws -> KeyProbe.Outcome {
        switch credential {
        case .unlocked(let known), .new(let known): try probe.run(known.key, format: known.format)
        case .key(let key): try probe.run(key, formats: formats)
        }
    }

    private func probeOnce(
        _ credential: Credential,
        _ formats: [CipherFormat],
        _ connection: Connection
    ) throws -> KeyProbe.Outcome {
        let file = try EngineFile(connection)
        let largestPage = if case .unlocked(let known) = credential { known.format.pageSize } else { 65536 }
        // A page that was read while it was written is read again; a writer that never rests must not keep a wrong key here.
        var attempts = 5
        while true {
            let look = {
                try KeyProbe(database: file, log: self.writeAheadLog(of: connection), largestPage: largestPage)
            }
            let probe = try isImmutable ? look() : file.locked(waiting: busyMilliseconds, look)
            let outcome = try run(probe, credential, formats)
            if case .opens = outcome { return outcome }
            attempts -= 1
            if try attempts == 0 || !probe.isOutdated() { return outcome }
        }
    }

    /// Lets the engine roll back what the journal holds, which it does before it looks at any page. A journal that another
    /// connection is writing is left to it.
    func rollBack(_ path: String, _ unlocked: Unlocked) throws {
        guard flags.contains(.readWrite) else {
            throw DatabaseError(
                .readOnly,
                "a transaction that was cut off must be rolled back: open the database for writing once"
            )
        }
        guard Engine.current.formats.contains(where: { $0.version == unlocked.format.version }) else { return }
        let connection = try connect(path, flags: .readWrite)
        defer { connection.close() }
        try handOver(unlocked, to: connection)
        do {
            try testSelect(connection)
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            // The journal was not of this file. The probe that follows says what is left.
        }
    }
}
