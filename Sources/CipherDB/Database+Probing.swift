internal import CipherKeys
internal import CipherPages

// Trying a key on the file before the engine gets it.
extension Database {
    /// Tries `credential` in each of `formats`, on a connection that has not read anything yet.
    ///
    /// Where page 1 is not authentic and a crash has left a transaction half-written, that is rolled back first: what
    /// stands in the file until then may be neither the old nor the new.
    func probe(
        _ credential: Credential,
        formats: [CipherFormat],
        _ connection: Connection
    ) throws -> KeyProbe.Outcome {
        let outcome = try probeOnce(credential, formats, connection)
        if case .opens = outcome { return outcome }
        guard let pageSize = try hotJournalPageSize(connection) else { return outcome }
        try rollBack(connection.filename, pageSize: pageSize)
        return try probeOnce(credential, formats, connection)
    }

    /// The write-ahead log beside the database, where there is one. It carries no locks, so it may be opened freely.
    func writeAheadLog(of connection: Connection) -> FileBytes? {
        try? FileBytes(path: connection.filename + "-wal")
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
            let probe = try file.locked(waiting: configuration.busyMilliseconds) {
                try KeyProbe(database: file, log: self.writeAheadLog(of: connection), largestPage: largestPage)
            }
            let outcome =
                switch credential {
                case .unlocked(let known): try probe.run(known.key, format: known.format)
                case .key(let key): try probe.run(key, formats: formats)
                }
            if case .opens = outcome { return outcome }
            attempts -= 1
            if try attempts == 0 || !probe.isOutdated() { return outcome }
        }
    }

    /// The page size in the header of a rollback journal that was not ended; nil where there is none.
    private func hotJournalPageSize(_ connection: Connection) throws -> Int? {
        guard let journal = try? FileBytes(path: connection.filename + "-journal") else { return nil }
        let header = try journal.read(28, at: 0)
        // > The first 8 bytes of a valid journal: d9 d5 05 f9 20 a1 63 d7; at offset 24 the page size.
        guard header.count == 28, header.starts(with: [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]) else {
            return nil
        }
        return header[24..<28].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Lets the engine roll back what the journal holds, which it does before it looks at any page: no key is needed for
    /// that, but the right page size. A journal that another connection is writing is left to it.
    private func rollBack(_ path: String, pageSize: Int) throws {
        guard flags.contains(.readWrite) else {
            throw DatabaseError(
                .readOnly,
                "a transaction that was cut off must be rolled back: open the database for writing once"
            )
        }
        // A journal with another size in its header is none that this engine wrote.
        guard let format = try? Engine.current.formats.first?.with(pageSize: pageSize) else { return }
        let connection = try connect(path, flags: .readWrite)
        defer { connection.close() }
        let salt = [UInt8](repeating: 0, count: CipherFormat.saltSize)
        try handOver(
            Unlocked(key: DatabaseKey.random().derive(salt: salt, format: format), format: format),
            to: connection
        )
        do {
            try testSelect(connection)
        } catch let error as DatabaseError where error.code.primary == .notADatabase {
            // The random key is wrong, of course.
        }
    }
}
