/// Compiled statements that are not in use, by their SQL; bounded, and the one unused longest goes first.
struct StatementCache {
    private var statements: [String: (statement: Statement, lastUse: Int)] = [:]
    private var clock = 0
    private(set) var statistics = StatementCacheStatistics()
    /// The most statements; none are kept with 0.
    var capacity: Int {
        didSet { if capacity < statements.count { removeAll() } }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Takes the statement out, so that nobody else gets it while it is in use.
    mutating func take(_ sql: String) -> Statement? {
        let found = statements.removeValue(forKey: sql)?.statement
        if found == nil { statistics.misses += 1 } else { statistics.hits += 1 }
        return found
    }

    /// Gives a statement back. Where two were in use for one SQL, the second to come back is finalised.
    mutating func give(_ statement: Statement) {
        guard capacity > 0, statements[statement.sql] == nil, !DatabaseError.mayHoldKey(statement.sql) else {
            statement.prepared.finalize()
            return
        }
        if statements.count >= capacity, let oldest = statements.min(by: { $0.value.lastUse < $1.value.lastUse }) {
            oldest.value.statement.prepared.finalize()
            statements[oldest.key] = nil
            statistics.evictions += 1
        }
        clock += 1
        statements[statement.sql] = (statement, clock)
        statistics.count = statements.count
    }

    mutating func removeAll() {
        for entry in statements.values { entry.statement.prepared.finalize() }
        statements.removeAll()
        statistics.count = 0
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
    /// Statements that lie there now.
    public internal(set) var count = 0
}
