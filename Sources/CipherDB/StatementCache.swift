/// Compiled statements by their SQL; bounded, and the one unused longest goes first.
struct StatementCache {
    private var statements: [String: Statement] = [:]
    /// The one that was asked for last: a program often asks for one again and again, and then nothing is hashed.
    private var latest: Statement?
    private var clock = 0
    /// Raised when all are given up: those that somebody has are not taken back then.
    private var generation = 0
    private(set) var statistics = StatementCacheStatistics()
    /// The most statements; none are kept with 0.
    var capacity: Int {
        didSet { if capacity < statements.count { removeAll() } }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Lends the statement; nil where there is none, or somebody has it.
    mutating func take(_ sql: String) -> Statement? {
        let found = latest.flatMap { $0.sql.hasSameBytes(as: sql) ? $0 : nil } ?? statements[sql]
        guard let found, !found.isLent, found.sql.hasSameBytes(as: sql) else {
            statistics.misses += 1
            return nil
        }
        found.isLent = true
        latest = found
        statistics.hits += 1
        return found
    }

    /// Lends a statement that was compiled for it, and is not kept yet.
    func lend(_ statement: Statement) {
        statement.generation = generation
    }

    /// Takes a statement back, or in. Where two were in use for one SQL, the second is finalised.
    mutating func give(_ statement: Statement) {
        statement.isLent = false
        clock += 1
        statement.lastUse = clock
        guard !statement.isKept else { return }
        guard statement.generation == generation, capacity > 0, statements[statement.sql] == nil,
            !statement.prepared.mayHoldKey
        else {
            statement.prepared.finalize()
            return
        }
        if statements.count >= capacity, let oldest = statements.values.min(by: { $0.lastUse < $1.lastUse }) {
            remove(oldest)
            statements[oldest.sql] = nil
            statistics.evictions += 1
        }
        statement.isKept = true
        statements[statement.sql] = statement
        latest = statement
        statistics.count = statements.count
    }

    mutating func removeAll() {
        for statement in statements.values { remove(statement) }
        statements.removeAll()
        generation += 1
        latest = nil
        statistics.count = 0
    }

    /// One that somebody has is finalised when it comes back.
    private mutating func remove(_ statement: Statement) {
        statement.isKept = false
        if latest === statement { latest = nil }
        if !statement.isLent { statement.prepared.finalize() }
    }
}

/// How the cache of compiled statements fares. Each number but `count` is of the time since the database was made.
public struct StatementCacheStatistics: Sendable, Hashable {
    /// Statements that were there.
    public internal(set) var hits = 0
    /// Statements that had to be compiled.
    public internal(set) var misses = 0
    /// Statements that went to make room.
    public internal(set) var evictions = 0
    /// Statements that are kept now, in use or not.
    public internal(set) var count = 0
}
