/// Compiled statements by their SQL; bounded, and the one unused longest goes first.
struct StatementCache {
    /// What the cache notes of a statement.
    struct Entry {
        fileprivate enum Membership {
            /// Compiled for the cache, since it was emptied that often.
            case candidate(clearCount: Int)
            case member
            /// Never in the cache, or evicted.
            case outside
        }

        fileprivate var membership = Membership.outside
        fileprivate var isCheckedOut = false
        /// By the cache's own clock.
        fileprivate var lastUse = 0

        fileprivate var isMember: Bool { if case .member = membership { true } else { false } }
    }

    private var statements: [String: Statement] = [:]
    /// The one that was asked for last: a program often asks for one again and again, and then nothing is hashed.
    private var latest: Statement?
    private var clock = 0
    /// A statement that was checked out before the cache was emptied does not get into it.
    private var clearCount = 0
    private(set) var statistics = StatementCacheStatistics()
    /// The most statements; none are kept with 0.
    var capacity: Int {
        didSet { if capacity < statements.count { removeAll() } }
    }

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Returns nil if there is no such statement, or it is checked out.
    mutating func checkOut(_ sql: String) -> Statement? {
        guard let found = statement(of: sql), !found.cacheEntry.isCheckedOut else {
            statistics.misses += 1
            return nil
        }
        found.cacheEntry.isCheckedOut = true
        latest = found
        statistics.hits += 1
        return found
    }

    private func statement(of sql: String) -> Statement? {
        if let latest, latest.sql.hasSameBytes(as: sql) { return latest }
        guard let found = statements[sql], found.sql.hasSameBytes(as: sql) else { return nil }
        return found
    }

    /// Notes a new statement, which the cache keeps when it is checked in.
    func add(_ statement: Statement) {
        statement.cacheEntry.membership = .candidate(clearCount: clearCount)
    }

    /// Where two were in use for one SQL, the second is finalized.
    mutating func checkIn(_ statement: Statement) {
        clock += 1
        statement.cacheEntry.isCheckedOut = false
        statement.cacheEntry.lastUse = clock
        guard !statement.cacheEntry.isMember else { return }
        guard case .candidate(clearCount) = statement.cacheEntry.membership, capacity > 0,
            statements[statement.sql] == nil,
            !statement.prepared.mayHoldKey
        else {
            statement.prepared.finalize()
            return
        }
        if statements.count >= capacity,
            let oldest = statements.values.min(by: { $0.cacheEntry.lastUse < $1.cacheEntry.lastUse })
        {
            remove(oldest)
            statements[oldest.sql] = nil
            statistics.evictions += 1
        }
        statement.cacheEntry.membership = .member
        statements[statement.sql] = statement
        latest = statement
        statistics.count = statements.count
    }

    mutating func removeAll() {
        for statement in statements.values { remove(statement) }
        statements.removeAll()
        clearCount += 1
        latest = nil
        statistics.count = 0
    }

    /// One that is checked out is finalized when it is checked in.
    private mutating func remove(_ statement: Statement) {
        statement.cacheEntry.membership = .outside
        if latest === statement { latest = nil }
        if !statement.cacheEntry.isCheckedOut { statement.prepared.finalize() }
    }
}

/// Counts of the cache of compiled statements. Each number but `count` is of the time since the database was made.
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
