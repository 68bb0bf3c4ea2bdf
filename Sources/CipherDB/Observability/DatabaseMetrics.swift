#if Metrics
    internal import CipherSystem
    internal import Metrics

    /// What swift-metrics gets of the databases of one name: times in nanoseconds, and counts. The article on servers lists them.
    ///
    /// All connections of a name share one, and the handlers are destroyed with the last connection.
    final class DatabaseMetrics: Sendable {
        private struct Weak {
            weak var metrics: DatabaseMetrics?
        }

        private static let all = Lock<[String: Weak]>([:])

        private let reads: Timer
        private let writes: Timer
        private let readerWaits: Timer
        private let writerWaits: Timer
        private let hits: Counter
        private let misses: Counter
        /// By the primary code.
        private let failures: [ResultCode: Counter]

        /// - Parameter database: The file's name, by which the databases of a process are told apart.
        static func ofDatabase(_ database: String) -> DatabaseMetrics {
            all.withLock { all in
                if let present = all[database]?.metrics { return present }
                let new = DatabaseMetrics(database: database)
                all = all.filter { $0.value.metrics != nil }
                all[database] = Weak(metrics: new)
                return new
            }
        }

        private init(database: String) {
            let database = ("database", database)
            reads = Timer(label: "cipherdb.statement.duration", dimensions: [database, ("access", "read")])
            writes = Timer(label: "cipherdb.statement.duration", dimensions: [database, ("access", "write")])
            readerWaits = Timer(label: "cipherdb.connection.wait", dimensions: [database, ("access", "read")])
            writerWaits = Timer(label: "cipherdb.connection.wait", dimensions: [database, ("access", "write")])
            hits = Counter(label: "cipherdb.statement_cache.hits", dimensions: [database])
            misses = Counter(label: "cipherdb.statement_cache.misses", dimensions: [database])
            failures = Dictionary(
                uniqueKeysWithValues: StorageFailure.codes.map {
                    ($0, Counter(label: "cipherdb.failures", dimensions: [database, ("code", $0.name)]))
                }
            )
        }

        deinit {
            for timer in [reads, writes, readerWaits, writerWaits] { timer.destroy() }
            for counter in [hits, misses] + failures.values { counter.destroy() }
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

        func failed(_ code: ResultCode) {
            failures[code.primary]?.increment()
        }

        func lookedUp(found: Bool) {
            (found ? hits : misses).increment()
        }
    }
#endif
