#if Metrics
    internal import Metrics

    /// What swift-metrics gets of one database: times in nanoseconds, and counts. `Documentation/ServerSide.md` lists them.
    struct DatabaseMetrics: Sendable {
        private let reads: Timer
        private let writes: Timer
        private let readerWaits: Timer
        private let writerWaits: Timer
        private let hits: Counter
        private let misses: Counter

        /// - Parameter database: The file's name, by which the databases of a process are told apart.
        init(database: String) {
            let database = ("database", database)
            reads = Timer(label: "cipherdb.statement.duration", dimensions: [database, ("access", "read")])
            writes = Timer(label: "cipherdb.statement.duration", dimensions: [database, ("access", "write")])
            readerWaits = Timer(label: "cipherdb.connection.wait", dimensions: [database, ("access", "read")])
            writerWaits = Timer(label: "cipherdb.connection.wait", dimensions: [database, ("access", "write")])
            hits = Counter(label: "cipherdb.statement_cache.hits", dimensions: [database])
            misses = Counter(label: "cipherdb.statement_cache.misses", dimensions: [database])
        }

        func statementEnded(nanoseconds: Int64, isReadOnly: Bool) {
            (isReadOnly ? reads : writes).recordNanoseconds(nanoseconds)
        }

        func waited(nanoseconds: Int64, for access: Instruments.Access) {
            switch access {
            case .read: readerWaits.recordNanoseconds(nanoseconds)
            case .write: writerWaits.recordNanoseconds(nanoseconds)
            }
        }

        func lookedUp(found: Bool) {
            (found ? hits : misses).increment()
        }
    }
#endif
