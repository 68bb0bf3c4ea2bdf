internal import CipherSystem

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
