/// Which generations a prune keeps: those that any of the rules names, and the newest. The rules are applied to all generations, and again to those
/// that have a MAC, so that generations without one take the place of none that the key proves.
public struct RetentionPolicy: Sendable, Equatable {
    /// So many of the newest.
    public var newest: Int?
    /// Those that are not older than this.
    public var age: Duration?
    /// The newest of each day, by UTC, for so many days that have one.
    public var days: Int?

    /// A policy that keeps the newest generation alone, until rules are set.
    public init(newest: Int? = nil, age: Duration? = nil, days: Int? = nil) {
        self.newest = newest
        self.age = age
        self.days = days
    }

    /// The numbers of the generations that are kept.
    func kept(_ generations: [(number: UInt64, time: UInt64, isAuthenticated: Bool)], now: UInt64) -> Set<UInt64> {
        let all = generations.map { ($0.number, $0.time) }
        let authenticated = generations.filter(\.isAuthenticated).map { ($0.number, $0.time) }
        return named(all, now: now).union(named(authenticated, now: now))
    }

    /// What the rules name.
    private func named(_ generations: [(number: UInt64, time: UInt64)], now: UInt64) -> Set<UInt64> {
        let ordered = generations.sorted { $0.number > $1.number }
        var kept = Set(ordered.prefix(max(1, newest ?? 1)).map(\.number))
        if let age {
            let seconds = UInt64(max(0, age.components.seconds))
            kept.formUnion(ordered.filter { $0.time >= now - min(now, seconds) }.map(\.number))
        }
        if let days {
            var seen: Set<UInt64> = []
            for generation in ordered where seen.count < days && seen.insert(generation.time / 86_400).inserted {
                kept.insert(generation.number)
            }
        }
        return kept
    }
}
