internal import CCipherSystem

/// The process that made a thing which a forked child must not use: a secret, or an open database.
package struct OwnerProcess: Sendable {
    private let number: UInt64

    /// The process that calls.
    package init() {
        number = csystem_process()
    }

    /// Whether the calling process is the owner, and no child of it.
    @inline(__always) package var isCurrent: Bool { number == csystem_process() }

    /// Throws in a child of the owner.
    @inline(__always) package func check(_ thing: UsedAfterFork) throws(UsedAfterFork) {
        guard isCurrent else { throw thing }
    }
}

extension Platform {
    /// Runs a closure that the engine calls. A child that it forked ends when it returns from it, with status 70 (EX_SOFTWARE of
    /// sysexits.h): whatever the engine did next, it would do to the parent's file.
    package static func calledByEngine<Result>(_ body: () throws -> Result) rethrows -> Result {
        let owner = OwnerProcess()
        defer {
            if !owner.isCurrent {
                csystem_end_child("a closure that SQLite called has forked; its child must end there, and not return\n")
            }
        }
        return try body()
    }

    /// Whether the process is ending, and threads that begin to use an engine are held.
    package static var isEnding: Bool { csystem_process_is_ending() != 0 }
}

/// Something that was made before `fork()` or `daemon()`, and used in the child. Nothing was read with it, and nothing written.
public enum UsedAfterFork: Error, Equatable, Sendable, CustomStringConvertible {
    /// A secret, a key or an unlocked keyring, whose bytes the child does not have.
    case secret
    /// An open database, or what belongs to it. Its descriptors, locks and caches are the parent's.
    case database
    /// An asynchronous call, where the parent made one before, or had several threads. Those that run such calls are the parent's.
    case threads

    /// A sentence with what to do.
    public var description: String {
        switch self {
        case .secret: "the secret was made before fork() by another process; read or make it again in this one"
        case .database:
            "the database was opened before fork() by another process, which may have the file open; start a program that opens it"
        case .threads: "the threads of asynchronous calls were not forked; use the synchronous call, or start a program"
        }
    }
}
