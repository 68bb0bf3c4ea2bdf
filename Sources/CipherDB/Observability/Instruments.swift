internal import CipherKeys
internal import CipherSystem

#if Logging
    internal import Logging
#endif
#if Tracing
    internal import Tracing
#endif
#if Logging || Metrics
    internal import Dispatch
#endif

/// Where a database reports what it does: to each package whose trait is enabled. Without traits it is empty and does nothing.
///
/// Reports have paths and SQL in them, never a bound value or a key.
struct Instruments: Sendable {
    /// What a block, a statement or a wait is for.
    enum Access: String {
        case read, write
    }

    #if Logging
        private let logger: Logger?
        private let path: String
    #endif
    #if Metrics
        private let metrics: DatabaseMetrics
    #endif
    #if Tracing
        /// The file's name.
        private let database: String
    #endif

    init(path: String?, _ configuration: Configuration) {
        #if Logging || Metrics || Tracing
            let path = Self.shown(path)
        #endif
        #if Logging
            var logger = configuration.logger
            logger?[metadataKey: "database"] = "\(path)"
            self.logger = logger
            self.path = path
        #endif
        #if Metrics || Tracing
            let name = path.split(separator: "/").last.map(String.init) ?? path
        #endif
        #if Metrics
            metrics = DatabaseMetrics.ofDatabase(name)
        #endif
        #if Tracing
            database = name
        #endif
    }

    #if Logging || Metrics || Tracing
        /// The path without what follows `?` or `#` in a URI, which could be a key; by bytes, as SQLite reads it.
        private static func shown(_ path: String?) -> String {
            guard let path else { return ":memory:" }
            let isURI = path.utf8.prefix(5).elementsEqual("file:".utf8) { $0 | 0x20 == $1 | 0x20 }
            guard isURI else { return path }
            return String(
                decoding: path.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") },
                as: UTF8.self
            )
        }
    #endif

    // MARK: Statements

    /// The first step of an execution comes.
    @inline(__always) func began(_ statement: PreparedStatement) -> StatementExecution? {
        #if Tracing
            return StatementExecution(span: span(of: statement))
        #elseif Logging || Metrics
            return StatementExecution()
        #else
            return nil
        #endif
    }

    /// The execution is over, its result set closed.
    @inline(__always) func ended(_ execution: StatementExecution, of statement: PreparedStatement) {
        #if Logging || Metrics
            let duration = execution.stopwatch.nanoseconds
        #endif
        #if Logging
            logger?.trace("statement", metadata: ["sql": "\(statement.shownSQL)", "nanoseconds": "\(duration)"])
        #endif
        #if Metrics
            metrics.statementEnded(nanoseconds: duration, isReadOnly: statement.isReadOnly)
        #endif
        #if Tracing
            execution.span.end()
        #endif
    }

    /// A compiled statement was looked for in the cache.
    @inline(__always) func lookedUp(found: Bool) {
        #if Metrics
            metrics.lookedUp(found: found)
        #endif
    }

    // MARK: Blocks

    /// Runs `body`, the whole of a call with a block: it waits for a connection, and uses it.
    @inline(__always) func call<Result>(_ access: Access, _ body: () throws -> Result) rethrows -> Result {
        #if Tracing
            return try withSpan(access.rawValue, ofKind: .client) { span in
                describe(span)
                return try body()
            }
        #else
            return try body()
        #endif
    }

    /// Asynchronous version.
    @inline(__always) func call<Result>(
        _ access: Access,
        isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        #if Tracing
            return try await withSpan(access.rawValue, ofKind: .client) { span in
                describe(span)
                return try await body()
            }
        #else
            return try await body()
        #endif
    }

    /// A block has the connection that it waited for.
    @inline(__always) func waited(_ stopwatch: Stopwatch, for access: Access) {
        #if Metrics
            metrics.waited(nanoseconds: stopwatch.nanoseconds, for: access)
        #endif
    }

    #if Tracing
        private func span(of statement: PreparedStatement) -> any Span {
            let sql = statement.shownSQL
            // A name that groups spans.
            let verb = sql.prefix { $0.isLetter }.uppercased()
            let span = startSpan(verb.isEmpty ? "statement" : verb, ofKind: .client)
            describe(span)
            span.attributes["db.query.text"] = sql
            return span
        }

        /// In the words of OpenTelemetry's conventions for databases.
        private func describe(_ span: any Span) {
            span.updateAttributes { attributes in
                attributes["db.system.name"] = "sqlite"
                attributes["db.namespace"] = database
            }
        }
    #endif

    // MARK: The life of a connection

    func opened(format: CipherFormat?) {
        #if Logging
            logger?.debug("opened", metadata: ["format": "\(format.map { "\($0)" } ?? "plaintext")"])
        #endif
    }

    func closed() {
        #if Logging
            logger?.debug("closed")
        #endif
    }

    func keyChanged() {
        #if Logging
            logger?.info("the key was changed")
        #endif
    }

    func migrated(_ step: String) {
        #if Logging
            logger?.info("migrated", metadata: ["step": "\(step)"])
        #endif
    }

    /// A call failed with a code of ``StorageFailure``.
    ///
    /// - Parameter cause: With the path, and without SQL.
    func failed(_ code: ResultCode, _ cause: String) {
        #if Metrics
            metrics.failed(code)
        #endif
        #if Logging
            guard let logger, let count = FailureLimit.shared.count(path, code) else { return }
            logger.error(
                "a read or write failed",
                metadata: ["code": "\(code)", "cause": "\(cause)", "failures": "\(count)"]
            )
        #endif
    }

    func metDamage() {
        #if Logging
            logger?.error("a damaged page was read; find out more with rekey verify")
        #endif
    }
}

/// One execution of a statement that is reported: from its first step to its end, the program's work between rows included.
struct StatementExecution {
    let stopwatch = Stopwatch()
    #if Tracing
        let span: any Span
    #endif

    /// The statement failed. Only the code is reported: SQLite's message may quote a value.
    func failed(_ code: ResultCode) {
        #if Tracing
            span.setStatus(SpanStatus(code: .error))
            span.attributes["db.response.status_code"] = "\(code.rawValue)"
        #endif
    }
}

/// How long something took. Without the traits that report it, no clock is read.
struct Stopwatch {
    #if Logging || Metrics
        private let begin = DispatchTime.now().uptimeNanoseconds

        /// Since it was made.
        var nanoseconds: Int64 { Int64(clamping: DispatchTime.now().uptimeNanoseconds - begin) }
    #endif
}

/// Which failures are logged: of each kind and database one in a minute, with how many there were since the last.
final class FailureLimit: Sendable {
    private struct Kind: Hashable {
        let path: String
        let code: ResultCode
    }

    private struct Entry {
        var logged: ContinuousClock.Instant
        var unlogged = 0
    }

    /// That of the process.
    static let shared = FailureLimit()

    private static let pause = Duration.seconds(60)
    /// A process may open thousands of databases.
    private static let mostKinds = 1000
    private let entries = Lock<[Kind: Entry]>([:])

    /// How many failures the line to be logged now stands for; nil where none is due.
    func count(_ path: String, _ code: ResultCode, at now: ContinuousClock.Instant = .now) -> Int? {
        let kind = Kind(path: path, code: code.primary)
        return entries.withLock { entries in
            if let entry = entries[kind] {
                guard now - entry.logged >= FailureLimit.pause else {
                    entries[kind]?.unlogged += 1
                    return nil
                }
                entries[kind] = Entry(logged: now)
                return entry.unlogged + 1
            }
            if entries.count >= FailureLimit.mostKinds {
                entries = entries.filter { now - $0.value.logged < FailureLimit.pause }
            }
            guard entries.count < FailureLimit.mostKinds else { return nil }
            entries[kind] = Entry(logged: now)
            return 1
        }
    }
}
