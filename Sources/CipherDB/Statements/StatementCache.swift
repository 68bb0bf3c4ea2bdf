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
    /// Members that were asked for, each at the place that ``place(of:)`` gives its SQL: they are found without hashing all of it.
    private var recent: [Statement?] = Array(repeating: nil, count: 32)
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
    mutating func checkOut(_ sql: SQLText) -> Statement? {
        guard let found = sql.withUTF8({ statement(of: $0, sql) }), !found.cacheEntry.isCheckedOut else {
            removeFinalized(sql)
            statistics.misses += 1
            return nil
        }
        found.cacheEntry.isCheckedOut = true
        statistics.hits += 1
        return found
    }

    /// Where a result set was let go of on a thread that must not give its statement back.
    private mutating func removeFinalized(_ sql: SQLText) {
        guard let found = statements[sql.string], found.prepared.isFinalized else { return }
        remove(found)
        statements[found.sql] = nil
    }

    private mutating func statement(of bytes: UnsafeBufferPointer<UInt8>, _ sql: SQLText) -> Statement? {
        let place = StatementCache.place(of: bytes)
        if let found = recent[place], found.sql.hasBytes(bytes) { return found }
        guard let found = statements[sql.string], found.sql.hasBytes(bytes) else { return nil }
        recent[place] = found
        return found
    }

    /// By the length and a few of the bytes.
    private static func place(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
        guard let last = bytes.last else { return 0 }
        return (bytes.count &+ 3 &* Int(last) &+ 5 &* Int(bytes[bytes.count / 2]) &+ 7 &* Int(bytes[bytes.count / 4]))
            % 32
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
        statistics.count = statements.count
    }

    mutating func removeAll() {
        for statement in statements.values { remove(statement) }
        statements.removeAll()
        clearCount += 1
        statistics.count = 0
    }

    /// One that is checked out is finalized when it is checked in.
    private mutating func remove(_ statement: Statement) {
        statement.cacheEntry.membership = .outside
        for place in recent.indices where recent[place] === statement { recent[place] = nil }
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
