import CipherDB
import Rekeying

/// A call, in a child, of what its parent made.
struct Use: Sendable {
    /// What the child sees.
    enum Answer: String, Sendable {
        case secret, database, threads, returned
    }

    enum Call {
        case waiting(() throws -> Void)
        case inTask(@Sendable () async throws -> Void)
    }

    let name: String
    let expected: Answer
    /// Makes what is used, before the fork.
    let prepare: @Sendable (Scene) throws -> Call

    init(_ name: String, _ expected: Answer, _ prepare: @escaping @Sendable (Scene) throws -> () throws -> Void) {
        self.name = name
        self.expected = expected
        self.prepare = { .waiting(try prepare($0)) }
    }

    /// Of the asynchronous API.
    init(
        async name: String,
        _ expected: Answer,
        _ prepare: @escaping @Sendable (Scene) throws -> @Sendable () async throws -> Void
    ) {
        self.name = name
        self.expected = expected
        self.prepare = { .inTask(try prepare($0)) }
    }

    /// The line that the program prints where all is right.
    var line: String { "\(name): \(expected)" }

    static func answer(to error: any Error) -> String {
        switch error {
        case UsedAfterFork.secret: Answer.secret.rawValue
        case UsedAfterFork.database: Answer.database.rawValue
        case UsedAfterFork.threads: Answer.threads.rawValue
        default: "\(type(of: error)): \(error)"
        }
    }

    static let all =
        ofSecrets + ofPages + ofKeyrings + ofOpenings + ofConnections + ofQueues + ofPools + ofFiles + ofTasks
}
